#include "lib/helpers/image_drop.h"

#include "heapwalk/subject/workers.h"
#include "lib/state/library.h"
#include "lib/state/sweeper_end.h"
#include "mu/signal_action.h"

#define MIB ((size_t)1 << 20)

/* With less it is over before another thread has begun. */
#define WORTH_IT (64 * MIB)
#define WORTH_A_MAPPING (4 * MIB)

/* What a worker takes at a time: half a millisecond. */
#define SLICE (16 * MIB)

struct dropping {
	const struct mu_snapshot *snap;
	const struct mu_pass *pass;
	int lock;
	size_t mapping; /* the next slice begins here, */
	size_t offset;  /* at this byte of it */
};

static bool
touches(struct mu_range range, const void *object, size_t size)
{
	uintptr_t begin = (uintptr_t)object;

	return begin < range.end && begin + size > range.begin;
}

/* Anonymous memory with nothing of ours in it. */
static bool
is_theirs(const struct dropping *dropping, const struct mu_mapping *mapping)
{
	struct mu_range range = mapping->range;

	return !mapping->shared && mapping->writable && mapping->inode == 0 &&
	    mu_range_size(range) >= WORTH_A_MAPPING &&
	    !touches(range, dropping->pass, sizeof(*dropping->pass)) &&
	    !touches(range, dropping, sizeof(*dropping)) &&
	    !touches(range, &mu_library, sizeof(mu_library)) &&
	    !mu_snapshot_is_own(dropping->snap, range);
}

static bool
next_slice(struct dropping *dropping, struct mu_range *slice)
{
	const struct mu_snapshot *snap = dropping->snap;
	const struct mu_mapping *mapping;

	for (; dropping->mapping < snap->num_mappings;
	     dropping->mapping++, dropping->offset = 0) {
		mapping = &snap->mappings[dropping->mapping];
		slice->begin = mapping->range.begin + dropping->offset;
		if (slice->begin >= mapping->range.end ||
		    (dropping->offset == 0 && !is_theirs(dropping, mapping)))
			continue;
		slice->end = mapping->range.end;
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

/* The handler gets no argument of ours. */
static const struct mu_pass *dropped_on_signal;

static void
on_signal(int signo)
{
	struct dropping dropping = {
		.snap = &dropped_on_signal->snap,
		.pass = dropped_on_signal,
	};

	(void)signo;
	drop(&dropping, 0);
	mu_sys_exit(4);
}

void
mu_image_drop_on_signal(const struct mu_pass *pass)
{
	struct mu_signal_action action = {
		.handler = (void *)on_signal,
		.flags = MU_RESTORER_FLAG,
		.restorer = MU_RESTORER,
		.mask = ~0ull,
	};
	mu_sigmask one = mu_signal_bit(MU_SWEEPER_DROP);

	dropped_on_signal = pass;
	if (mu_sys_signal_action(MU_SWEEPER_DROP, &action, NULL) == 0)
		mu_sys4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&one, 0,
		    sizeof(one));
}

void
mu_image_drop(const struct mu_pass *pass)
{
	struct dropping dropping = { .snap = &pass->snap, .pass = pass };
	struct mu_workers *workers = pass->snap.workers;
	size_t i, bytes = 0;

	/* An exit does it unseen by the OOM killer: see
	 * lib/state/sweeper_end.c. */
	if (pass->room.tight)
		drop(&dropping, 0);
	if (mu_workers_count(workers) < 2 || pass->room.tight)
		return;
	for (i = 0; i < pass->snap.num_mappings; i++)
		if (is_theirs(&dropping, &pass->snap.mappings[i]))
			bytes += mu_range_size(pass->snap.mappings[i].range);
	if (bytes >= WORTH_IT)
		mu_workers_run(
		    workers, mu_workers_count(workers), drop, &dropping);
}
