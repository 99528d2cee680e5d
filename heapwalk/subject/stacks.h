/*
 * Which bytes of stacks are dead: what lies below the stack pointer of a
 * thread, and the stacks of threads that ended, which glibc keeps for the
 * next one. Old frames are full of stale pointers. The same is true of parts of
 * libc's records (heapwalk/subject/unwind_bufs.h).
 *
 * In doubt a byte is alive: then a leak may go unseen, and nothing that is in
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
	struct mu_ranges live;   /* sealed; stacks that are in use */
	struct mu_range calling; /* the one of live that asked for the pass */
	size_t num_ended;        /* kept stacks of threads that ended */
};

/*
 * All of the stack that THREAD was given, dead part included. False, and an
 * empty BLOCK: it is none of glibc's.
 */
bool mu_stacks_block(const struct mu_snapshot *snap,
    const struct mu_thread *thread, struct mu_range *block);

/*
 * A thread whose stack pointer is elsewhere than on its own stack (alternate
 * signal stack, coroutine) loses nothing: its own stack is alive as a whole.
 *
 * SKIP, sealed, is not searched for ended threads: the heap. All arrays come
 * from ARENA, and MU_ERR_NO_MEMORY is the only error.
 */
enum mu_status mu_stacks_find(struct mu_stacks *stacks,
    const struct mu_snapshot *snap, const struct mu_ranges *skip,
    struct mu_arena *arena);

#endif
