/*
 * A pass of libmemunreachable, when its signal arrives.
 *
 * Runs in: the original, the watcher.
 */
#ifndef LIB_MALLOC_DEBUG_CHECKS_UNREACHABLE_CHECK_H
#define LIB_MALLOC_DEBUG_CHECKS_UNREACHABLE_CHECK_H

/*
 * Uses the library that the program has loaded; otherwise loads the one next to
 * the recorder, or the one in the search path.
 */
void unreachable_check(void);

#endif
