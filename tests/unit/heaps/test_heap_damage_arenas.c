/*
 * Copy a real heap and change one word of the copy: each rule of the walk is
 * broken by itself, in the main arena and in another, and the reason names it.
 *
 * Here what is reached first: main_arena and mp_, the ring, the sums of memory.
 */
#include "tests/support/heaps/heap_busy.h"
#include "tests/support/suite.h"

#define MAIN 0
#define OTHER 1

static const struct mu_glibc_layout *layout;

static void
setup(void)
{
	busy_setup();
	layout = busy.glibc.layout;
}

TEST(undamaged)
{
	const struct busy_part *part;
	size_t i, p;

	expect_same();
	ck_assert_uint_eq(busy.whole.num_kept, 0);
	ck_assert_uint_eq(busy.whole.unproven_bytes, 0);
	for (i = 0; i < BUSY_MMAPPED; i++)
		ck_assert_int_ge(
		    heap_reading_find(&busy.whole, busy.mmapped[i]), 0);
	for (p = 0; p <= BUSY_THREADS; p++) {
		part = &busy.parts[p];
		for (i = 0; i < 3; i++)
			ck_assert_int_ge(
			    heap_reading_find(&busy.whole, part->used[i]), 0);
		for (i = 0; i < BUSY_FAST; i++)
			ck_assert_int_lt(
			    heap_reading_find(&busy.whole, part->fast[i]), 0);
		for (i = 0; i < BUSY_CACHED; i++)
			ck_assert_int_lt(
			    heap_reading_find(&busy.whole, part->cached[i]), 0);
		for (i = 0; i < BUSY_BINNED; i++)
			ck_assert_int_lt(
			    heap_reading_find(&busy.whole, part->binned[i]), 0);
	}
}

/* ---- the anchors: main_arena, mp_, the ring, the release ---- */

/*
 * A place in libc's data where SIZE bytes belong neither to main_arena nor to
 * mp_; or 0.
 */
static uintptr_t
free_data(size_t size)
{
	uintptr_t arena = busy.glibc.main_arena, mp = busy.glibc.mp, at;
	struct mu_range data =
	    mu_snapshot_mapping(&busy.image.self.snap, arena)->range;

	for (at = data.begin; at + size <= data.end; at += 8) {
		if ((at + size <= arena || at >= arena + layout->arena_size) &&
		    (at + size <= mp || at >= mp + layout->par_size))
			return at;
	}
	return 0;
}

TEST(rule1_two_main_arenas)
{
	uintptr_t at = free_data(layout->arena_size), offset, *words;
	size_t i;

	if (at == 0) {
		fprintf(stderr, "SKIPPED: no room for a second main_arena\n");
		return;
	}
	words = busy_word_at(at);
	memset(words, 0, layout->arena_size);
	for (i = 0; i < 2 * MU_GLIBC_BINS; i++) {
		offset = layout->arena_bins + i / 2 * 16 - MU_GLIBC_HEADER;
		words[layout->arena_bins / 8 + i] = at + offset;
	}
	words[layout->arena_top / 8] = *arena_at(MAIN, layout->arena_top);
	words[layout->arena_next / 8] = at;
	expect_refusal("has 2 places like main_arena");
}

TEST(rule1_no_main_arena)
{
	memset(arena_at(MAIN, layout->arena_bins), 0, MU_GLIBC_BINS * 16);
	expect_answer(MU_ERR_FOREIGN_ALLOCATOR, "holds no main_arena of glibc");
}

TEST(rule1_no_mp)
{
	*(int *)par_at(layout->par_n_mmaps) = -1;
	expect_refusal("and 0 like mp_");
}

TEST(rule1_two_mp)
{
	uintptr_t at = free_data(layout->par_size);

	ck_assert_uint_ne(at, 0);
	memcpy(busy_word_at(at), par_at(0), layout->par_size);
	expect_refusal("and 2 like mp_");
}

TEST_LOOP(rule1_ring_leads_astray, MAIN, OTHER + 1)
{
	uintptr_t *next = arena_at(_i, layout->arena_next);

	WHILE(next, 0, expect_refusal("ring of arenas"));
	WHILE(next, busy.parts[0].used[0], expect_refusal("ring of arenas"));
	WHILE(next, *next + 8, expect_refusal("ring of arenas"));
	WHILE(next, heap_of(OTHER), expect_refusal("ring of arenas"));
	expect_same();
}

TEST(rule1_ring_does_not_lead_back)
{
	*arena_at(OTHER, layout->arena_next) = busy.glibc.arenas[OTHER];
	expect_refusal("ring of arenas: does not lead back");
}

/* It leads back, and too early: an arena is passed by. */
TEST_LOOP(rule1_ring_is_short, MAIN, OTHER + 1)
{
	uintptr_t *next = arena_at(_i, layout->arena_next);

	if (_i == MAIN)
		*next = busy.glibc.arenas[2];
	else
		*next = busy.glibc.main_arena;
	expect_refusal("no arena of the ring leads to it");
}

TEST(rule1_heap_of_another)
{
	uintptr_t *owner = busy_word_at(heap_of(OTHER));

	WHILE(owner, busy.glibc.main_arena, expect_refusal("does not name"));
	WHILE(owner, 0, expect_refusal("does not name"));
	expect_same();
}

TEST(rule1_unknown_release)
{
	struct mu_snapshot *snap = &busy.image.self.snap;

	snap->glibc_major = 3;
	expect_answer(MU_ERR_UNKNOWN_GLIBC, "glibc 3.");
	snap->glibc_major = snap->glibc_minor = 0;
	expect_answer(MU_ERR_UNKNOWN_GLIBC, "glibc 0.0 is not known");
}

/* ---- sums ---- */

TEST_LOOP(rule3_system_mem, MAIN, OTHER + 1)
{
	uintptr_t *word = arena_at(_i, layout->arena_system_mem);

	WHILE(word, *word + 4096, expect_refusal("system_mem"));
	WHILE(word, *word - 4096, expect_refusal("arena"));
	WHILE(word, 0, expect_refusal("arena"));
	expect_same();
}

TEST(rule3_heap_size)
{
	uintptr_t *word = busy_word_at(heap_of(OTHER) + 16);

	WHILE(word, *word + 8, expect_refusal("impossible size"));
	WHILE(word, (uintptr_t)1 << 40, expect_refusal("impossible size"));
	WHILE(word, *word + 4096, expect_refusal("system_mem"));
	WHILE(word, *word - 4096, expect_refusal("arena"));
	expect_same();
}

TEST(rule3_heap_chain)
{
	uintptr_t *prev = busy_word_at(heap_of(OTHER) + 8);

	WHILE(prev, heap_of(OTHER), expect_refusal("system_mem"));
	WHILE(prev, heap_of(2), expect_refusal("does not name the arena"));
	WHILE(prev, heap_of(OTHER) + 16, expect_refusal("is not aligned"));
	expect_same();
}

TEST(rule3_sbrk_base)
{
	uintptr_t *base = par_at(layout->par_sbrk_base);

	WHILE(base, *base + 0x1000, expect_refusal("arena"));
	WHILE(base, next_block(*base + 16) - 16, expect_refusal("system_mem"));
	WHILE(base, 0, expect_refusal("no heap at sbrk_base"));
	expect_same();
}

SUITE(.setup = setup);
