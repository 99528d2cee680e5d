/*
 * Write the statistics of the allocator underneath to stderr.
 *
 * Runs in: the original, the watcher or at exit.
 */
#ifndef ALLOCATOR_STATS_H
#define ALLOCATOR_STATS_H

void allocator_stats_log(void);

/* If an option requests it. */
void stats_at_exit(void);

#endif
