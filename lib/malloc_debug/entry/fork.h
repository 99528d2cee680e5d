/*
 * The first steps in a child of fork(). No lock has to be taken before the
 * fork: words, stacks and records are consistent at any time.
 *
 * Runs in: the original.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_FORK_H
#define LIB_MALLOC_DEBUG_ENTRY_FORK_H

/* Call once, in the constructor. */
void fork_watch(void);

#endif
