/*
 * Patterns of suppressions, as LeakSanitizer has them.
 *
 * Pure.
 *
 * Runs in: the command; the original, in libmemunreachable-lsan.
 */
#ifndef LIB_SINCE_PATTERN_H
#define LIB_SINCE_PATTERN_H

#include <stdbool.h>

/*
 * True if PATTERN is found in TEXT: * stands for anything, ^ for the begin, $
 * for the end. NULL is no text.
 */
bool mu_suppression_matches(const char *pattern, const char *text);

#endif
