#include "heapwalk/subject/unwind_bufs.h"

#include "heapwalk/heaps/glibc/pthread.h"

#ifdef MU_PTHREAD_UNWIND_BUF

/* struct { __jmp_buf regs; int mask_was_saved; }, void *[4] */
#define MASK_WAS_SAVED MU_JMP_BUF_BYTES
#define PREVIOUS (MASK_WAS_SAVED + sizeof(uintptr_t))
#define CANCEL_TYPE (PREVIOUS + 2 * sizeof(uintptr_t)) /* and one unused */
#define SIZE (CANCEL_TYPE + 2 * sizeof(uintptr_t))

#define MANY 1024 /* longer lists are circular */

static bool
add_holes_of(struct mu_ranges *holes, uintptr_t buf)
{
	struct mu_range saved = { buf + MASK_WAS_SAVED, buf + PREVIOUS };
	struct mu_range unused = { buf + CANCEL_TYPE, buf + SIZE };

	return mu_ranges_add(holes, saved) && mu_ranges_add(holes, unused);
}

bool
mu_unwind_bufs_add_holes(struct mu_ranges *holes,
    const struct mu_snapshot *snap, const struct mu_thread *thread,
    struct mu_range live)
{
	uintptr_t buf, next, saved;
	size_t i;

	if (thread->tp == 0 ||
	    !mu_snapshot_word(snap, thread->tp + MU_PTHREAD_UNWIND_BUF, &buf))
		return true;
	for (i = 0; i < MANY; i++, buf = next) {
		if (buf % sizeof(buf) != 0 || buf < live.begin ||
		    buf >= live.end || live.end - buf < SIZE ||
		    !mu_snapshot_word(snap, buf + MASK_WAS_SAVED, &saved) ||
		    (uint32_t)saved > 1 ||
		    !mu_snapshot_word(snap, buf + PREVIOUS, &next))
			break;
		if (!add_holes_of(holes, buf))
			return false;
	}
	return true;
}

#else /* the position of struct pthread is not known exactly */

bool
mu_unwind_bufs_add_holes(struct mu_ranges *holes,
    const struct mu_snapshot *snap, const struct mu_thread *thread,
    struct mu_range live)
{
	(void)holes;
	(void)snap;
	(void)thread;
	(void)live;
	return true;
}

#endif
