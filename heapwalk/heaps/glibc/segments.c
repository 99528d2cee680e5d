#include "heapwalk/heaps/glibc/segments.h"

#include "heapwalk/heaps/glibc/members.h"
#include "heapwalk/subject/workers.h"

#define LINE 64  /* cache line, bytes */
#define LANES 24 /* segments side by side: as many as a core waits for */
#define STEPS 64 /* links of one segment per turn */

/* A segment that is being followed. */
struct lane {
	struct mu_glibc_segment *segment;
	struct mu_span *span;   /* span that holds CHUNK; NULL if none */
	uintptr_t prev, chunk;  /* PREV is 0 at the first chunk of a segment */
	struct mu_span *counts; /* span of the last TAKEN chunks */
	size_t left, taken;
	bool noted; /* the note still has to be prefetched */
};

/* Prefetch what will be read of CHUNK, in SPAN. */
static void
prefetch_chunk(const struct mu_glibc_segments *set, const struct mu_span *span,
    uintptr_t chunk)
{
	uintptr_t view = (uintptr_t)span->view + (chunk - span->range.begin);

	__builtin_prefetch(
	    mu_span_starts(span, mu_member_bit(span, chunk) / MU_WORD_BITS));
	if (set->walk->notes.count > 0) {
		mu_glibc_note_expect(&set->walk->notes, chunk);
		return;
	}
	__builtin_prefetch((const void *)(view + MU_CHUNK_FD));
	if ((view + MU_CHUNK_FD) % LINE == 0)
		__builtin_prefetch((const void *)(view + MU_CHUNK_SIZE));
}

/* Continue LANE at CHUNK. */
static void
go_to(const struct mu_glibc_segments *set, struct lane *lane, uintptr_t chunk)
{
	size_t arena = lane->segment->arena;

	lane->chunk = chunk;
	if (lane->span == NULL || !mu_member_is_in(lane->span, arena, chunk)) {
		lane->span = mu_blocks_span(&set->walk->heap->blocks, chunk);
		if (lane->span == NULL ||
		    !mu_member_is_in(lane->span, arena, chunk)) {
			lane->span = NULL;
			return;
		}
	}
	prefetch_chunk(set, lane->span, chunk);
	lane->noted = set->walk->notes.count > 0;
}

/* With notes each link takes two turns, for two reads of memory. */
static inline bool
waits_for_note(const struct mu_glibc_segments *set, struct lane *lane)
{
	if (!lane->noted)
		return false;
	lane->noted = false;
	mu_glibc_note_expect_it(&set->walk->notes, lane->chunk);
	return true;
}

static bool
begin_next(struct mu_glibc_segments *set, struct lane *lane)
{
	size_t i = __atomic_fetch_add(&set->next, 1, __ATOMIC_RELAXED);
	struct mu_glibc_segment *segment = &set->segments[i];

	if (i >= set->count)
		return false;
	lane->segment = segment;
	lane->span = NULL;
	lane->left = segment->count;
	lane->prev = 0;
	if (i < set->num_picked) {
		go_to(set, lane, segment->first);
		return true;
	}
	lane->prev = segment->first;
	go_to(set, lane,
	    mu_glibc_arena_word(set->walk, segment->first, MU_CHUNK_FD));
	return true;
}

/* The segment ends before the current chunk of LANE. */
static void
end_segment(struct lane *lane, bool broken)
{
	lane->segment->last = lane->prev;
	lane->segment->end = lane->chunk;
	lane->segment->broken = broken;
	lane->segment = NULL;
}

/* False if a chunk of SIZE belongs in another bin than the chunks before it. */
static bool
note_size(const struct mu_glibc_segments *set, struct mu_glibc_segment *segment,
    size_t size)
{
	size_t bin = set->fast ? size / 16 - 1 : mu_glibc_bin(size);

	segment->count++;
	if (segment->bin == MU_BIN_NONE)
		segment->bin = bin;
	if (segment->bin != bin)
		segment->bin = MU_BIN_UNSORTED;
	return !set->fast || segment->bin == bin;
}

/* True if all segments together have more links than there are chunks. */
static bool
is_spent(struct mu_glibc_segments *set, const struct mu_glibc_segment *segment)
{
	return segment->count % STEPS == 0 &&
	    __atomic_add_fetch(&set->steps, STEPS, __ATOMIC_RELAXED) >
	    set->max_steps;
}

/* Follow one link. */
static void
step(struct mu_glibc_segments *set, struct lane *lane)
{
	struct mu_glibc_segment *segment = lane->segment;
	struct mu_span *span = lane->span;
	uintptr_t chunk = lane->chunk;
	struct mu_glibc_head head;
	const char *view;
	size_t bit, word;
	uint64_t mask;

	if (span == NULL) {
		end_segment(lane, false);
		return;
	}
	bit = mu_member_bit(span, chunk);
	word = bit / MU_WORD_BITS;
	mask = 1ull << (bit % MU_WORD_BITS);
	if ((*mu_member_picked(set, span, word) & mask) != 0 &&
	    lane->prev != 0) {
		end_segment(lane, false);
		return;
	}
	if ((*mu_member_bits(set, span, word) & mask) == 0) {
		end_segment(lane, true);
		return;
	}
	view = mu_glibc_head(set->walk, span, chunk, &head);
	if ((!set->fast && lane->prev != 0 &&
		mu_glibc_word(view, MU_CHUNK_BK) != lane->prev) ||
	    !note_size(set, segment, mu_member_size(view)) ||
	    is_spent(set, segment)) {
		end_segment(lane, true);
		return;
	}
	lane->prev = chunk;
	go_to(set, lane, mu_member_next(set, view, chunk));
}

/* Subtract the chunks that LANE took from the counts of their span. */
static void
store_counts(struct lane *lane, size_t bin)
{
	if (lane->taken == 0)
		return;
	__atomic_fetch_sub(&lane->counts->count, lane->taken, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&lane->counts->bytes,
	    lane->taken * ((bin + 1) * 16 - 8), __ATOMIC_RELAXED);
	lane->taken = 0;
}

/* Like mu_span_clear(), while other workers change the same words. */
static void
clear_start(struct mu_span *span, size_t bit)
{
	__atomic_fetch_and(mu_span_starts(span, bit / MU_WORD_BITS),
	    ~(1ull << (bit % MU_WORD_BITS)), __ATOMIC_RELAXED);
}

/* Take the next chunk; all links were checked before. */
static void
take_one(struct mu_glibc_segments *set, struct lane *lane)
{
	struct mu_span *span = lane->span;
	struct mu_glibc_head head;

	if (lane->left == 0 || !lane->segment->joined || span == NULL) {
		store_counts(lane, lane->segment->bin);
		lane->segment = NULL;
		return;
	}
	if (lane->counts != span)
		store_counts(lane, lane->segment->bin);
	lane->counts = span;
	lane->taken++;
	lane->left--;
	clear_start(span, mu_member_bit(span, lane->chunk));
	go_to(set, lane,
	    mu_member_next(set,
		mu_glibc_head(set->walk, span, lane->chunk, &head),
		lane->chunk));
}

typedef void step_fn(struct mu_glibc_segments *set, struct lane *lane);

/*
 * Take turns with all lanes of a worker. Inline, since a step only waits for
 * memory.
 */
static inline __attribute__((always_inline)) void
go_all(struct mu_glibc_segments *set, step_fn *one)
{
	struct lane lane[LANES] = { { .segment = NULL } };
	size_t i, busy = LANES;

	while (busy > 0) {
		for (i = 0, busy = 0; i < LANES; i++) {
			if (lane[i].segment == NULL &&
			    !begin_next(set, &lane[i]))
				continue;
			busy++;
			if (!waits_for_note(set, &lane[i]))
				one(set, &lane[i]);
		}
	}
}

static void
follow_some(void *ctx, unsigned worker)
{
	(void)worker;
	go_all(ctx, step);
}

static void
take_some(void *ctx, unsigned worker)
{
	(void)worker;
	go_all(ctx, take_one);
}

static void
run(struct mu_glibc_segments *set, mu_worker_body *body)
{
	set->next = 0;
	mu_workers_run(set->walk->snap->workers, MU_WORKERS_MAX, body, set);
}

void
mu_glibc_segments_follow(struct mu_glibc_segments *set)
{
	run(set, follow_some);
}

void
mu_glibc_segments_take(struct mu_glibc_segments *set)
{
	run(set, take_some);
}
