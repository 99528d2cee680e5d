/*
 * The recorder's variable, if it is in the program from its start on; the
 * address of it is NULL if it is not. No other symbol of the recorder may be
 * used here.
 */
#ifndef LIB_REPORT_RECORDER_HERE_H
#define LIB_REPORT_RECORDER_HERE_H

#include "mu/recorded.h"

extern const struct mu_recorded memunreachable_recorded
    __attribute__((weak, visibility("default")));

#endif
