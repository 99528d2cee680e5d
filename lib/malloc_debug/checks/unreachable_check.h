/*
 * A pass of libmemunreachable, when its signal arrives.
 *
 * Runs in: the original, the watcher.
 */
#ifndef LIB_MALLOC_DEBUG_CHECKS_UNREACHABLE_CHECK_H
#define LIB_MALLOC_DEBUG_CHECKS_UNREACHABLE_CHECK_H

/*
 * Uses the library that the program has loaded, or else the one beside the
 * recorder, or else the one in the search path; the last two are loaded for it.
 */
void unreachable_check(void);

#endif
