/*
 * A pass of libmemunreachable, when a signal asks for it.
 *
 * Runs in: the original, the watcher.
 */
#ifndef UNREACHABLE_CHECK_H
#define UNREACHABLE_CHECK_H

/*
 * By the library that the program has, or else the one beside the recorder, or
 * else that of the search path, which is loaded for it.
 */
void unreachable_check(void);

#endif
