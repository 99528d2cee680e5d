/*
 * A reference as text.
 *
 * Runs in: original. Pure; text is added to OUT.
 */
#ifndef LIB_REPORT_REFERENCE_TEXT_H
#define LIB_REPORT_REFERENCE_TEXT_H

#include "memunreachable/memunreachable.h"
#include "mu/text.h"

/* One line, without a newline. */
void mu_report_reference(
    struct mu_text *out, const struct MemunreachableReference *reference);

#endif
