/*
 * What a forked child does first. There is no lock to be taken before: words,
 * stacks and records are whole at any time.
 *
 * Runs in: the original.
 */
#ifndef RECORDER_FORK_H
#define RECORDER_FORK_H

/* Once, in the constructor. */
void fork_watch(void);

#endif
