#include "lib/helpers/image_drop.h"

#include "heapwalk/subject/workers.h"
#include "lib/state/library.h"
#include "lib/state/sweeper_end.h"
#include "mu/arch/cpu.h"
#include "mu/signal_action.h"

#define MIB ((size_t)1 << 20)

/* Less is unmapped before another thread has started. */
#define WORTH_IT (64 * MIB)
#define WORTH_A_MAPPING (4 * MIB)

/* Bytes per unit of work: half a millisecond. */
#define SLICE (16 * MIB)

/* Bytes at the thread pointer that hold glibc's canary and pointer guard. */
#define THREAD_HEAD 64

struct dropping {
	const struct mu_snapshot *snap;
	const struct mu_image *image;
	const struct mu_blocks *heap; /* drop only this; NULL: all memory */
	int lock;
	size_t next;   /* range in which the next slice begins */
	size_t offset; /* offset of that slice */
};

static bool
touches(struct mu_range range, const void *object, size_t size)
{
	uintptr_t begin = (uintptr_t)object;

	return begin < range.end && begin + size > range.begin;
}

/* True if RANGE has nothing that we or the compiler's code still use. */
static bool
is_theirs(const struct dropping *dropping, struct mu_range range)
{
	return mu_range_size(range) >= WORTH_A_MAPPING &&
	    !touches(range, dropping->image, sizeof(*dropping->image)) &&
	    !touches(range, dropping, sizeof(*dropping)) &&
	    !touches(range, &mu_library, sizeof(mu_library)) &&
	    !touches(range, (const void *)mu_arch_tp(), THREAD_HEAD) &&
	    !mu_snapshot_is_own(dropping->snap, range);
}

static bool
mapping_at(const struct dropping *dropping, size_t i, struct mu_range *range)
{
	const struct mu_mapping *mapping = &dropping->snap->mappings[i];

	if (i >= dropping->snap->num_mappings)
		return false;
	*range = mapping->range;
	if (mapping->shared || !mapping->writable || mapping->inode != 0)
		range->end = range->begin;
	return true;
}

/* The whole pages of a span or listed block. */
static bool
heap_at(const struct dropping *dropping, size_t i, struct mu_range *range)
{
	const struct mu_blocks *heap = dropping->heap;
	uintptr_t page = dropping->snap->memory.page_size;

	if (i < heap->num_spans)
		*range = heap->spans[i].range;
	else if (i - heap->num_spans < heap->num_listed)
		*range = heap->listed[i - heap->num_spans].range;
	else
		return false;
	range->begin = (range->begin + page - 1) & -page;
	range->end &= -page;
	if (range->end < range->begin)
		range->end = range->begin;
	return true;
}

/* Range I, empty if it must stay. Returns false after the last. */
static bool
range_at(const struct dropping *dropping, size_t i, struct mu_range *range)
{
	if (!(dropping->heap != NULL ? heap_at(dropping, i, range)
				     : mapping_at(dropping, i, range)))
		return false;
	if (!is_theirs(dropping, *range))
		range->end = range->begin;
	return true;
}

static bool
next_slice(struct dropping *dropping, struct mu_range *slice)
{
	for (; range_at(dropping, dropping->next, slice);
	     dropping->next++, dropping->offset = 0) {
		if (mu_range_size(*slice) <= dropping->offset)
			continue;
		slice->begin += dropping->offset;
		if (mu_range_size(*slice) > SLICE)
			slice->end = slice->begin + SLICE;
		dropping->offset += SLICE;
		return true;
	}
	return false;
}

static void
drop(void *ctx, unsigned worker)
{
	struct dropping *dropping = ctx;
	struct mu_range slice;
	bool more;

	(void)worker;
	do {
		while (__atomic_exchange_n(
			   &dropping->lock, 1, __ATOMIC_ACQUIRE) != 0)
			mu_sys0(SYS_sched_yield);
		more = next_slice(dropping, &slice);
		__atomic_store_n(&dropping->lock, 0, __ATOMIC_RELEASE);
		if (more)
			mu_sys3(SYS_madvise, (long)slice.begin,
			    (long)mu_range_size(slice), MADV_DONTNEED);
	} while (more);
}

/* A signal handler gets no argument. */
static const struct mu_image *dropped_on_signal;

static void
on_signal(int signo)
{
	struct dropping dropping = {
		.snap = &dropped_on_signal->snap,
		.image = dropped_on_signal,
	};

	(void)signo;
	drop(&dropping, 0);
	mu_sys_exit(4);
}

void
mu_image_drop_on_signal(const struct mu_image *image)
{
	struct mu_signal_action action = {
		.handler = (void *)on_signal,
		.flags = MU_RESTORER_FLAG,
		.restorer = MU_RESTORER,
		.mask = ~0ull,
	};
	mu_sigmask one = mu_signal_bit(MU_SWEEPER_DROP);

	dropped_on_signal = image;
	if (mu_sys_signal_action(MU_SWEEPER_DROP, &action, NULL) == 0)
		mu_sys4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&one, 0,
		    sizeof(one));
}

static size_t
count_bytes(const struct dropping *dropping)
{
	struct mu_range range;
	size_t i, bytes = 0;

	for (i = 0; range_at(dropping, i, &range); i++)
		bytes += mu_range_size(range);
	return bytes;
}

void
mu_image_drop(const struct mu_image *image)
{
	struct dropping dropping = { .snap = &image->snap, .image = image };
	struct mu_workers *workers = image->snap.workers;

	/*
	 * At exit the OOM killer no longer counts the memory: see
	 * lib/state/sweeper_end.c.
	 */
	if (image->sweeper.budget.tight)
		drop(&dropping, 0);
	else if (mu_workers_count(workers) > 1 &&
	    count_bytes(&dropping) >= WORTH_IT)
		mu_workers_run(
		    workers, mu_workers_count(workers), drop, &dropping);
}

void
mu_image_drop_heap(const struct mu_image *image, const struct mu_blocks *blocks)
{
	struct dropping dropping = {
		.snap = &image->snap,
		.image = image,
		.heap = blocks,
	};
	struct mu_workers *workers = image->snap.workers;
	struct mu_range range;
	size_t i;

	if (count_bytes(&dropping) >= WORTH_IT)
		mu_workers_run(
		    workers, mu_workers_count(workers), drop, &dropping);
	else
		drop(&dropping, 0);
	for (i = 0; range_at(&dropping, i, &range); i++)
		if (mu_range_size(range) > 0)
			mu_sys3(SYS_mprotect, (long)range.begin,
			    (long)mu_range_size(range), PROT_NONE);
}
