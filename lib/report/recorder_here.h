/*
 * The recorder's variable, if the recorder is part of the program from the
 * start; otherwise its address is NULL. No other symbol of the recorder may be
 * used here.
 */
#ifndef LIB_REPORT_RECORDER_HERE_H
#define LIB_REPORT_RECORDER_HERE_H

#include "mu/recorded.h"

extern const struct mu_recorded memunreachable_recorded
    __attribute__((weak, visibility("default")));

#endif
