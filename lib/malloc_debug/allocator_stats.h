/*
 * What the allocator underneath says of itself, on stderr.
 *
 * Runs in: the original, the watcher or at exit.
 */
#ifndef ALLOCATOR_STATS_H
#define ALLOCATOR_STATS_H

void allocator_stats_log(void);

/* If the options want it. */
void stats_at_exit(void);

#endif
