/*
 * Detect tools that intercept malloc themselves, so that the recorder stays
 * inactive.
 *
 * Runs in: the original, before main().
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_STAND_ASIDE_H
#define LIB_MALLOC_DEBUG_ENTRY_STAND_ASIDE_H

/* "AddressSanitizer", "Valgrind", ...; NULL: none. */
const char *stand_aside_for(void);

#endif
