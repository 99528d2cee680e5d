/*
 * Write the statistics of the allocator underneath to stderr.
 *
 * Runs in: the original, the watcher or at exit.
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_ALLOCATOR_STATS_H
#define LIB_MALLOC_DEBUG_DUMPS_ALLOCATOR_STATS_H

/* Make the allocator write its statistics to stderr (malloc_stats(3)). */
void allocator_stats_log(void);

/* Does nothing unless an option requests it. */
void stats_at_exit(void);

#endif
