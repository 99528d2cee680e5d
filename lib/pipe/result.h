/* What the original has received from a look, besides the counts. */
#ifndef LIB_PIPE_RESULT_H
#define LIB_PIPE_RESULT_H

#include "heapwalk/heaps/usage.h"
#include "lib/pipe/entries.h"

#define MU_PIPE_ARENAS 8

/* The use of the heap; the last arena is the sum of all others. */
struct mu_pipe_usage {
	struct mu_heap_usage all; /* all.arenas is NULL */
	struct mu_arena_usage arenas[MU_PIPE_ARENAS];
	unsigned glibc_major, glibc_minor; /* of the original */
};

struct mu_result {
	struct mu_entries entries; /* packed; memory of mu_library.results */
	size_t num_more;           /* frames after the first 16 of each entry */
	bool transient; /* the partial answer may be complete next time */
	struct mu_pipe_usage usage; /* of the heap */
	struct mu_groups_info groups;
};

#endif
