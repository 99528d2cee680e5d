/*
 * Find the dead bytes of stacks: those below the stack pointer of a thread, and
 * the stacks of threads that ended, which glibc keeps for reuse. Old frames are
 * full of stale pointers. The same is true of parts of libc's records
 * (heapwalk/subject/unwind_bufs.h).
 *
 * In doubt a byte counts as alive: a leak may then be missed, but nothing in
 * use is reported.
 */
#ifndef HEAPWALK_SUBJECT_STACKS_H
#define HEAPWALK_SUBJECT_STACKS_H

#include "heapwalk/subject/ranges.h"
#include "heapwalk/subject/snapshot.h"
#include "mu/status.h"

struct mu_stacks {
	struct mu_ranges dead;   /* sealed */
	struct mu_ranges holes;  /* sealed; in records of libc on live ones */
	struct mu_ranges live;   /* sealed; stacks in use */
	struct mu_range calling; /* the one of live that asked for the pass */
	size_t num_ended;        /* number of kept stacks of ended threads */
};

/*
 * The whole stack of THREAD, with its dead part. Returns false, with an empty
 * BLOCK, if glibc did not allocate it.
 */
bool mu_stacks_block(const struct mu_snapshot *snap,
    const struct mu_thread *thread, struct mu_range *block);

/*
 * If a thread's stack pointer is not on its own stack (alternate signal stack,
 * coroutine), its own stack counts as alive as a whole.
 *
 * SKIP, sealed, is the heap, which is not searched for ended threads. All
 * arrays come from ARENA; the only error is MU_ERR_NO_MEMORY.
 */
enum mu_status mu_stacks_find(struct mu_stacks *stacks,
    const struct mu_snapshot *snap, const struct mu_ranges *skip,
    struct mu_arena *arena);

#endif
