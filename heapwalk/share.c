/*
 * Work that nobody has begun: see heapwalk/share.h.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/share.h"

#include <string.h>

#include "mu/sys.h"

#define WORD sizeof(uintptr_t)

#define PIECE 32768        /* bytes of a long block scanned at a time */
#define LARGE (1u << 20)   /* bytes from which on populated() is asked */
#define MAX_STRETCHES 1024 /* long blocks begun and not finished */

/*
 * Roots have room in any case. They are added when there is nothing else: by
 * each worker those of one ticket, behind what others have added meanwhile.
 */
#define MAX_WITH_ROOTS \
	(MAX_STRETCHES + (MU_WORKERS_MAX + 1) * MU_SHARE_TICKET_ROOTS)

#define LOCK_SPINS 100  /* then the holder may wait for a CPU */
#define NEWS_SPINS 2000 /* then sleep: 20 to 50 us */

static void
enter(struct mu_share *share)
{
	unsigned spins = 0;

	while (__atomic_exchange_n(&share->lock, 1, __ATOMIC_ACQUIRE) != 0) {
		while (__atomic_load_n(&share->lock, __ATOMIC_RELAXED) != 0) {
			if (++spins % LOCK_SPINS == 0)
				mu_sys0(SYS_sched_yield);
			mu_arch_relax();
		}
	}
}

static void
leave(struct mu_share *share)
{
	__atomic_store_n(&share->lock, 0, __ATOMIC_RELEASE);
}

/* Under the lock. */
static void
set_attention(struct mu_share *share)
{
	__atomic_store_n(&share->attention,
	    share->hungry > 0 || share->over || share->sweeps,
	    __ATOMIC_RELAXED);
}

/* Under the lock. */
static void
set_over(struct mu_share *share)
{
	__atomic_store_n(&share->over, true, __ATOMIC_RELAXED);
}

/* Under the lock; whoever sleeps is to be woken behind it. */
static bool
tell(struct mu_share *share)
{
	if (share->hungry == 0)
		return false;
	__atomic_add_fetch(&share->news, 1, __ATOMIC_RELAXED);
	return true;
}

static void
wake(struct mu_share *share, bool told, int count)
{
	if (told)
		mu_sys_futex_wake(&share->news, count, FUTEX_PRIVATE_FLAG);
}

static void
await_news(const struct mu_share *share, int seen)
{
	unsigned spins;

	for (spins = 0; spins < NEWS_SPINS; spins++) {
		if (__atomic_load_n(&share->news, __ATOMIC_RELAXED) != seen)
			return;
		mu_arch_relax();
	}
	mu_sys_futex_await(&share->news, seen);
}

/* How far before AT, where a piece ended, words began that do not end there. */
static size_t
back_from(const struct mu_share *share, const struct mu_stretch *stretch,
    uintptr_t at)
{
	size_t back = WORD -
	    mu_reference_step(share->blocks, mu_words_are_code(stretch->of));

	return back < at - stretch->begin ? back : at - stretch->begin;
}

/* Where STRETCH goes on; false at its end. */
static bool
fill(struct mu_share *share, struct mu_stretch *stretch)
{
	struct mu_range left = { stretch->filled, stretch->end }, part = left;

	if (mu_range_size(left) == 0)
		return false;
	if (mu_range_size(left) >= LARGE && share->memory != NULL) {
		if (!share->memory->ops->populated(share->memory, left, &part))
			return false;
		if (part.begin < left.begin || part.end > left.end ||
		    part.begin >= part.end)
			part = left;
	}
	stretch->at = mu_share_first(share->blocks, part.begin, stretch->of);
	/* A word can lie across two parts that touch. */
	if (part.begin == stretch->filled)
		stretch->at -= back_from(share, stretch, part.begin);
	stretch->filled = part.end;
	return true;
}

/* A piece of the newest stretch; those that are at their end go. */
static bool
take_piece(struct mu_share *share, struct mu_piece *piece)
{
	struct mu_stretch *stretch;
	struct mu_range range;

	while (share->num_stretches > 0) {
		stretch = &share->stretches[share->num_stretches - 1];
		if (stretch->at >= stretch->filled && !fill(share, stretch)) {
			share->num_stretches--;
			continue;
		}
		range = (struct mu_range) { stretch->at, stretch->filled };
		if (range.begin >= range.end)
			continue;
		if (mu_range_size(range) > PIECE)
			range.end = range.begin + PIECE;
		stretch->at = range.end;
		if (range.end < stretch->filled)
			stretch->at -= back_from(share, stretch, range.end);
		*piece = (struct mu_piece) { range,
			stretch->view + (range.begin - stretch->begin),
			stretch->of };
		return true;
	}
	return false;
}

static enum mu_shared
take_any(struct mu_share *share, struct mu_portion *portion)
{
	size_t count;

	if (share->over)
		return MU_SHARED_NOTHING;
	if (share->num_batches > 0) {
		count = share->batch_counts[--share->num_batches];
		memcpy(portion->batch, share->batches[share->num_batches],
		    count * sizeof(*portion->batch));
		portion->batch_count = count;
		return MU_SHARED_BATCH;
	}
	if (take_piece(share, &portion->piece))
		return MU_SHARED_PIECE;
	if (share->next_ticket == share->num_tickets)
		return MU_SHARED_NOTHING;
	portion->ticket = share->next_ticket++;
	return MU_SHARED_TICKET;
}

bool
mu_share_open(struct mu_share *share, unsigned workers, struct mu_arena *arena)
{
	share->stretches =
	    mu_arena_alloc(arena, MAX_WITH_ROOTS, sizeof(*share->stretches));
	share->batches =
	    mu_arena_alloc(arena, workers - 1, sizeof(*share->batches));
	return share->stretches != NULL && share->batches != NULL;
}

void
mu_share_begin(struct mu_share *share, size_t num_tickets)
{
	share->active = 1;
	share->hungry = 0;
	share->over = share->sweeps = false;
	share->attention = 0;
	share->next_ticket = 0;
	share->num_tickets = num_tickets;
}

bool
mu_share_join(struct mu_share *share)
{
	bool over;

	enter(share);
	over = share->over;
	share->active += !over;
	leave(share);
	return !over;
}

enum mu_shared
mu_share_take(struct mu_share *share, struct mu_portion *portion)
{
	bool hungry = false, over, told;
	enum mu_shared got;
	int seen;

	for (;;) {
		enter(share);
		share->hungry -= hungry;
		got = take_any(share, portion);
		if (got == MU_SHARED_NOTHING) {
			share->hungry++;
			if (share->hungry == share->active)
				set_over(share);
		}
		set_attention(share);
		over = share->over;
		told = over && share->active > 1 && tell(share);
		seen = share->news;
		leave(share);
		wake(share, told, INT32_MAX);
		if (got != MU_SHARED_NOTHING || over)
			return got;
		hungry = true;
		await_news(share, seen);
	}
}

bool
mu_share_is_alone(struct mu_share *share)
{
	bool alone;

	enter(share);
	alone = share->hungry + 1 == share->active &&
	    share->num_stretches == 0 && share->num_batches == 0 &&
	    share->next_ticket == share->num_tickets;
	leave(share);
	return alone;
}

bool
mu_share_give(struct mu_share *share, const uintptr_t *batch, size_t count)
{
	bool given, told = false;

	enter(share);
	given = share->hungry > share->num_batches;
	if (given) {
		memcpy(share->batches[share->num_batches], batch,
		    count * sizeof(*batch));
		share->batch_counts[share->num_batches++] = count;
		told = tell(share);
	}
	leave(share);
	wake(share, told, 1);
	return given;
}

bool
mu_share_add(struct mu_share *share, const char *view, struct mu_range range,
    enum mu_words_of of)
{
	bool added, told = false;

	enter(share);
	added = share->num_stretches <
	    (of == MU_WORDS_BLOCK || of == MU_WORDS_BLOCK_CODE
		    ? MAX_STRETCHES
		    : MAX_WITH_ROOTS);
	if (added) {
		share->stretches[share->num_stretches++] = (struct mu_stretch) {
			.view = view,
			.begin = range.begin,
			.at = range.begin,
			.end = range.end,
			.filled = range.begin,
			.of = of,
		};
		told = tell(share);
	}
	leave(share);
	wake(share, told, INT32_MAX);
	return added;
}

void
mu_share_sweep(struct mu_share *share)
{
	enter(share);
	__atomic_store_n(&share->sweeps, true, __ATOMIC_RELAXED);
	set_attention(share);
	leave(share);
}

void
mu_share_stop(struct mu_share *share)
{
	enter(share);
	set_over(share);
	share->num_stretches = share->num_batches = 0;
	share->next_ticket = share->num_tickets;
	set_attention(share);
	__atomic_add_fetch(&share->news, 1, __ATOMIC_RELAXED);
	leave(share);
	wake(share, true, INT32_MAX);
}
