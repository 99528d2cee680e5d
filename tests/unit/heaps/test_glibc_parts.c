/*
 * A chain that several workers walk in parts gives the same bits as a walk by
 * one, and is refused at the same chunk: chains of chunks of all sizes, with
 * false chunks inside blocks, empty, and damaged.
 */
#include "tests/support/heaps/made_chain.h"
#include "tests/support/pthread_workers.h"
#include "tests/support/suite.h"

#define PAGE 4096
#define HEAP_BYTES ((size_t)5 << 20)
#define TCACHE_BYTES 0x280
#define ROUNDS 64

/* A seam: two parts meet here (heapwalk/heaps/glibc/parts.c). */
#define PART_BYTES ((size_t)1 << 20)

static size_t heap_top; /* offset of what the chain ends with ... */
static bool is_top;     /* ... which is top, or fenceposts */
static struct mu_glibc_layout layout;

struct result {
	struct mu_arena memory;
	struct mu_why why;
	struct mu_heap heap;
	struct mu_glibc_walk walk;
	struct mu_glibc_chain chain;
	size_t num_free[1];
	enum mu_status status;
};

/*
 * A block across a seam, full of what was a heap before, which may run on into
 * the true chunks.
 */
static void
fill_seams(size_t style, bool other)
{
	size_t seam = PART_BYTES + chain_random_below(2) * PART_BYTES, at, end;
	size_t size = 320 + chain_random_below(5000) * 16;

	at = seam - 16 * (1 + chain_random_below(size / 16));
	end = at + size;
	fill(at + 16 * (1 + chain_random_below(4)),
	    end - 16 * chain_random_below(2), 0, other);
	fill(0, at, style, other);
	fill(end, heap_top, style, other);
	put_header(at, size, 0, true, other);
}

static void
make_heap(uint64_t seed)
{
	bool other = seed % 2 != 0;

	random_seed(seed);
	memset(chain_heap, seed % 3 == 0 ? 0x5a : 0, HEAP_BYTES);
	heap_top = HEAP_BYTES - 64 - 16 * chain_random_below(70000);
	is_top = seed / 16 % 2 == 0;
	if (!is_top)
		heap_top = (other ? HEAP_BYTES : heap_top / PAGE * PAGE) - 32;
	fill(0, heap_top, seed / 2 % 4, other);
	if (seed / 8 % 2 != 0)
		fill_seams(seed / 2 % 4, other);
	if (is_top) {
		*chain_word_at(heap_top + 8) =
		    (HEAP_BYTES - heap_top) | MU_PREV_INUSE;
		return;
	}
	*chain_word_at(heap_top + 8) = 16 | MU_PREV_INUSE;
	*chain_word_at(heap_top + 16) = 16;
	*chain_word_at(heap_top + 24) = (other ? 0 : 16) | MU_PREV_INUSE;
}

/* As the memory of another process is read. */
static bool
copy_pages(struct mu_memory *memory, struct mu_range range, void *buffer)
{
	(void)memory;
	if (mu_range_size(range) == 0)
		return true;
	ck_assert_uint_eq(range.begin % PAGE + range.end % PAGE, 0);
	ck_assert_uint_ge(range.begin, (uintptr_t)chain_heap);
	ck_assert_uint_le(range.end, (uintptr_t)chain_heap + HEAP_BYTES);
	memcpy(buffer, (const char *)range.begin, mu_range_size(range));
	return true;
}

static void
walk_heap(struct result *result, unsigned workers, bool main, bool remote)
{
	static uintptr_t arenas[1] = { 0x1000 };
	static const struct mu_memory_ops ops = { .read = copy_pages };
	struct mu_workers threads = pthread_workers(workers);
	struct mu_snapshot snap = { .memory = { .ops = remote ? &ops : NULL,
					.page_size = PAGE },
		.workers = &threads };

	*result = (struct result) { 0 };
	mu_arena_open(&result->memory, (size_t)1 << 30);
	mu_blocks_open(&result->heap.blocks, &result->memory);
	result->walk = (struct mu_glibc_walk) { .snap = &snap,
		.memory = &result->memory,
		.why = &result->why,
		.heap = &result->heap,
		.glibc = { .arenas = arenas,
		    .num_arenas = 1,
		    .layout = &layout },
		.num_free = result->num_free };
	result->chain = (struct mu_glibc_chain) {
		.limit = { (uintptr_t)chain_heap,
		    (uintptr_t)chain_heap + HEAP_BYTES },
		.view = chain_heap,
		.top = is_top ? (uintptr_t)chain_heap + heap_top : 0,
		.main = main,
	};
	mu_glibc_notes_open(&result->walk.notes, (size_t)1 << 30);
	result->status = mu_glibc_chains_walk(&result->walk, &result->chain, 1);
	mu_glibc_notes_close(&result->walk.notes);
}

static void
expect_same(const struct result *a, const struct result *b)
{
	const struct mu_span *left = &a->heap.blocks.spans[0];
	const struct mu_span *right = &b->heap.blocks.spans[0];

	ck_assert_int_eq(a->status, b->status);
	ck_assert_str_eq(a->why.text, b->why.text);
	if (a->status != MU_OK)
		return;
	ck_assert_uint_eq(a->chain.end, b->chain.end);
	ck_assert_uint_eq(left->count, right->count);
	ck_assert_uint_eq(left->bytes, right->bytes);
	ck_assert_uint_eq(left->free, right->free);
	ck_assert_uint_eq(left->top, right->top);
	ck_assert_uint_eq(a->num_free[0], b->num_free[0]);
	ck_assert_uint_eq(left->num_words, right->num_words);
	ck_assert_mem_eq(
	    left->bits, right->bits, left->num_words * 2 * sizeof(*left->bits));
	ck_assert_mem_eq(left->summary, right->summary,
	    (left->num_words + 63) / 64 * sizeof(*left->summary));
	ck_assert_uint_eq(a->walk.num_candidates, b->walk.num_candidates);
	if (a->walk.num_candidates > 0)
		ck_assert_mem_eq(a->walk.candidates, b->walk.candidates,
		    a->walk.num_candidates * sizeof(uintptr_t));
}

/* At 1, 2 and 4 workers, near and far; what came of it. */
static enum mu_status
compare(bool main)
{
	struct result alone, shared;
	unsigned workers;

	walk_heap(&alone, 1, main, false);
	for (workers = 1; workers <= 4; workers++) {
		walk_heap(&shared, workers, main, workers % 2 != 0);
		expect_same(&alone, &shared);
		mu_arena_close(&shared.memory);
	}
	mu_arena_close(&alone.memory);
	return alone.status;
}

TEST_LOOP(parts_are_the_whole, 0, ROUNDS)
{
	make_heap((uint64_t)_i);
	ck_assert_int_eq(compare(_i % 2 == 0), MU_OK);
}

/*
 * A block across a seam has a header of what was there before, whose chunk ends
 * where a true one does, in the next part.
 */
TEST_LOOP(guess_leads_into_the_next_part, 0, 8)
{
	size_t begin = PART_BYTES - 4096, end = PART_BYTES + 65536;
	size_t stale = PART_BYTES + 1024, to;
	bool other = _i % 2 != 0;

	make_heap((uint64_t)(16 + _i));
	is_top = true;
	memset(chain_heap + begin, 0, end - begin);
	fill(0, begin, 0, other);
	fill(end, heap_top, 0, other);
	*chain_word_at(heap_top + 8) = (HEAP_BYTES - heap_top) | MU_PREV_INUSE;
	put_header(begin, end - begin, 0, true, other);
	for (to = end; to < 2 * PART_BYTES + 30000 ||
	     (*chain_word_at(to + 8) & MU_PREV_INUSE) == 0;)
		to += *chain_word_at(to + 8) & ~(size_t)MU_SIZE_FLAGS;
	put_header(stale, to - stale, 0, true, other);
	ck_assert_int_eq(compare(!other), MU_OK);
}

/* Any header, in the upper half mostly; any word beside a seam. */
TEST_LOOP(damage_is_named_alike, 0, ROUNDS)
{
	size_t i, at, before, refused = 0, flags;

	make_heap((uint64_t)_i);
	for (i = 0; i < 8; i++) {
		flags = i % 2 != 0 ? 7 : 0;
		at = chain_random_below(heap_top / 16) * 16 + 8;
		if (i < 4)
			at = heap_top / 2 + (at / 2 & ~(size_t)15) + 8;
		else if (i < 6)
			at = PART_BYTES * (1 + chain_random_below(4)) +
			    chain_random_below(9) * 16 - 72;
		before = *chain_word_at(at);
		*chain_word_at(at) = i % 3 == 0
		    ? before ^ (16 << chain_random_below(8))
		    : chain_random_below(100) * 16 + flags;
		refused += compare(_i % 2 == 0) != MU_OK;
		*chain_word_at(at) = before;
	}
	(void)refused;
	ck_assert_int_eq(compare(_i % 2 == 0), MU_OK);
}

/* Every word of the pages around a seam. */
TEST_LOOP(damage_at_a_seam, 0, 2)
{
	size_t seam = PART_BYTES * 2, at, before, refused = 0;

	make_heap((uint64_t)_i);
	for (at = seam - 1032; at < seam + 1032; at += 16) {
		before = *chain_word_at(at);
		*chain_word_at(at) = before + 16;
		refused += compare(_i % 2 == 0) != MU_OK;
		*chain_word_at(at) = before;
	}
	ck_assert_uint_gt(refused, 0);
}

static void
begin(void)
{
	layout.tcache_size = TCACHE_BYTES;
	map_heap(HEAP_BYTES);
}

SUITE(.begin = begin);
