/*
 * Who else has malloc in hand here, so that the recorder stays out of the way.
 *
 * Runs in: the original, before main().
 */
#ifndef STAND_ASIDE_H
#define STAND_ASIDE_H

/* "AddressSanitizer", "Valgrind", ...; NULL: nobody. */
const char *stand_aside_for(void);

#endif
