/*
 * Find out whether shared memory was changed while it was read: by a process
 * that no stop holds, or by write(2) to the file of pages that this process has
 * not touched, which are read after the stop.
 *
 * Runs in: sweeper, the command.
 */
#ifndef HEAPWALK_REFER_MOVED_H
#define HEAPWALK_REFER_MOVED_H

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/subject/snapshot.h"

/* The process itself, as it is now; not owned. */
struct mu_moved_source {
	pid_t tid;              /* one of its threads that lives */
	int memory;             /* its /proc/PID/mem; -1: a doubt */
	struct mu_range except; /* a mapping that is not read */

	/*
	 * Where the file of MAPPING cannot be opened. ASK finds out which of
	 * its pages have data now, for the FIRST in each round over all
	 * mappings also of the others; false if that is not known. NEXT returns
	 * the first part of RANGE in MAPPING that has. ASK NULL: only the
	 * snapshot tells, and not of holes.
	 */
	bool (*ask)(void *ctx, const struct mu_mapping *mapping, bool first);
	bool (*next)(void *ctx, const struct mu_mapping *mapping,
	    struct mu_range range, struct mu_range *part);
	void *ctx;
};

/*
 * MU_PARTIAL if an unmarked block may be in use, as WHY says: the shared memory
 * of the process has its address now; none was found in it, and the process had
 * none left to store. Or that is not known. MU_OK: it has none.
 */
enum mu_status mu_moved_since(struct mu_snapshot *snap,
    const struct mu_blocks *blocks, const struct mu_moved_source *source,
    struct mu_arena *arena, struct mu_why *why);

#endif
