/*
 * Detect tools that intercept malloc themselves, so that the recorder stays
 * inactive.
 *
 * Runs in: the original, before main().
 */
#ifndef STAND_ASIDE_H
#define STAND_ASIDE_H

/* "AddressSanitizer", "Valgrind", ...; NULL: none. */
const char *stand_aside_for(void);

#endif
