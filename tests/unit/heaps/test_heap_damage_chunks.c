/*
 * Copy a real heap and change one word of the copy: each rule of the walk is
 * broken by itself, in the main arena and in another, and the reason names it.
 *
 * Here the chunks, one after the other.
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

static void
expect_size_refused(uintptr_t block, uintptr_t word, const char *words)
{
	WHILE(busy_size_of(block), word, expect_refusal(words));
}

TEST_LOOP(rule2_impossible_size, MAIN, OTHER + 1)
{
	uintptr_t block = busy.parts[_i].used[0], word = *busy_size_of(block);

	expect_size_refused(block, word & 7, "impossible size");
	expect_size_refused(block, word | MU_IS_MMAPPED, "impossible size");
	expect_size_refused(block, word | 8, "impossible size");
	expect_size_refused(block, 0x10 | (word & 7),
	    _i == MAIN ? "lone fencepost" : "impossible size");
	expect_same();
}

TEST_LOOP(rule2_size_leads_out, MAIN, OTHER + 1)
{
	uintptr_t block = busy.parts[_i].used[0], word = *busy_size_of(block);

	expect_size_refused(
	    block, word | (uintptr_t)1 << 40, "out of the heap");
	expect_size_refused(
	    block, word | (uintptr_t)1 << 63, "out of the heap");
	expect_same();
}

/* The next one is looked for in the middle of a block: 0x5a5a5a... */
TEST_LOOP(rule2_chain_loses_its_way, MAIN, OTHER + 1)
{
	uintptr_t block = busy.parts[_i].used[0], word = *busy_size_of(block);

	expect_size_refused(block, word + 0x10, "disagrees");
	expect_size_refused(block, word - 0x10, "disagrees");
	expect_same();
}

/* The block that ends at top. */
static uintptr_t
last_block(size_t arena)
{
	uintptr_t top = *arena_at(arena, layout->arena_top);
	size_t i;

	for (i = 0; i < busy.whole.count; i++)
		if (busy.whole.blocks[i].end == top + 8)
			return busy.whole.blocks[i].begin;
	ck_abort_msg("no block ends at top");
	return 0;
}

TEST_LOOP(rule2_chain_misses_top, MAIN, OTHER + 1)
{
	uintptr_t block = last_block(_i), *word = busy_size_of(block);

	/* Into the zeros of top; and to where top ends. */
	WHILE(word, *word + 0x20, expect_refusal("disagrees"));
	WHILE(word, *word + (*busy_size_of(next_block(block)) & ~(uintptr_t)7),
	    expect_refusal("out of the heap"));
	expect_same();
}

TEST_LOOP(rule2_prev_inuse, MAIN, OTHER + 1)
{
	struct busy_part *part = &busy.parts[_i];
	uintptr_t behind_used = next_block(part->used[0]);
	uintptr_t behind_free = next_block(part->binned[0]);
	uintptr_t *word = busy_size_of(behind_used);

	/* The one before it says in use, and is full of other words. */
	WHILE(word, *word & ~(uintptr_t)MU_PREV_INUSE,
	    expect_refusal("free, but prev_size after it disagrees"));
	word = busy_size_of(behind_free);
	WHILE(word, *word | MU_PREV_INUSE,
	    expect_refusal(_i == MAIN ? "in use, yet on a free list"
				      : "NON_MAIN_ARENA disagrees"));
	expect_same();
}

TEST_LOOP(rule2_prev_size, MAIN, OTHER + 1)
{
	uintptr_t behind = next_block(busy.parts[_i].binned[0]);
	uintptr_t *word = busy_word_at(chunk_of(behind));

	WHILE(word, *word + 0x10,
	    expect_refusal("free, but prev_size after it disagrees"));
	WHILE(
	    word, 0, expect_refusal("free, but prev_size after it disagrees"));
	expect_same();
}

TEST_LOOP(rule2_arena_bit, MAIN, OTHER + 1)
{
	uintptr_t *word = busy_size_of(busy.parts[_i].used[0]);

	WHILE(word, *word ^ MU_NON_MAIN_ARENA,
	    expect_refusal("NON_MAIN_ARENA disagrees with the arena"));
	expect_same();
}

TEST_LOOP(rule2_first_chunk, MAIN, OTHER + 1)
{
	uintptr_t first = _i == MAIN
	    ? *par_at(layout->par_sbrk_base)
	    : (busy.glibc.arenas[OTHER] + layout->arena_size + 15) &
		~(uintptr_t)15;
	uintptr_t *word = busy_word_at(first + 8);

	WHILE(word, *word & ~(uintptr_t)MU_PREV_INUSE,
	    expect_refusal("the first chunk says"));
	expect_same();
}

TEST_LOOP(rule2_top, MAIN, OTHER + 1)
{
	uintptr_t *top = arena_at(_i, layout->arena_top);
	uintptr_t *word = busy_word_at(*top + 8);

	WHILE(word, *word & ~(uintptr_t)MU_PREV_INUSE,
	    expect_refusal("impossible size of top"));
	WHILE(word, 1, expect_refusal("arena"));
	WHILE(word, *word + ((uintptr_t)1 << 40), expect_refusal("arena"));
	/* In the main arena the sum shows it, in others the heap. */
	WHILE(word, *word - 64,
	    expect_refusal(_i == MAIN ? "system_mem is"
				      : "top does not end where its heap"));
	WHILE(top, *top + 16, expect_refusal("arena"));
	WHILE(top, chunk_of(busy.parts[_i].used[0]), expect_refusal("arena"));
	expect_same();
}

SUITE(.setup = setup);
