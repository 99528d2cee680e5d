/*
 * The guards of blocks that are still allocated, which no call of the program
 * checks.
 *
 * Runs in: the original, any thread that is inside the recorder and not a bare
 * one.
 */
#ifndef LIB_MALLOC_DEBUG_CHECKS_GUARDS_LIVE_H
#define LIB_MALLOC_DEBUG_CHECKS_GUARDS_LIVE_H

/*
 * Report every damaged guard. Calls of other threads wait during that. Does
 * nothing if no option asks for guards.
 */
void guards_check_live(void);

#endif
