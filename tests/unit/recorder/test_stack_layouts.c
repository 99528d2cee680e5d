/*
 * Layouts: nothing is read beyond the stack, every word is compared, and no
 * layout in the depot is taken for a stack.
 */
#include "lib/malloc_debug/unwind/stack_capture.h"
#include "lib/malloc_debug/unwind/stack_capture_known.h"
#include "lib/malloc_debug/unwind/stack_depot.h"
#include "lib/malloc_debug/unwind/stack_depot_find.h"
#include "lib/malloc_debug/unwind/stack_layouts.h"
#include "tests/support/suite.h"

#define PC 0x401234

static void
setup(void)
{
	ck_assert(stack_depot_init());
	ck_assert(stack_capture_init());
}

/* Return addresses at even places, frame pointers at odd ones; the last place
 * is LAST. */
static struct stack_trace
trace_of(unsigned returns, unsigned pointers, uint16_t last)
{
	struct stack_trace trace = { .pointer = LAYOUT_NO_POINTER };
	unsigned i;

	trace.num_returns = returns;
	trace.num_pointers = pointers;
	for (i = 0; i < returns; i++)
		trace.returns[i] = (uint16_t)(2 * i);
	for (i = 0; i < pointers; i++) {
		trace.pointers[i] = (uint16_t)(2 * i + 1);
		trace.targets[i] = (uint16_t)(2 * i + 3);
	}
	if (pointers > 0)
		trace.pointers[pointers - 1] = last;
	else if (returns > 0)
		trace.returns[returns - 1] = last;
	return trace;
}

static uint64_t
hash_of(const struct mu_stack *layout, const uint64_t *words, uintptr_t fp,
    size_t limit)
{
	return stack_layout_hash(stack_layouts, layout,
	    stack_layout_wanted(stack_layout_config(16, 0), 256), PC,
	    (uintptr_t)words, fp, limit);
}

/* Behind the words is what cannot be read. */
TEST(nothing_beyond_the_limit)
{
	char *area = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *words = (uint64_t *)(void *)(area + 4096) - 200;
	uintptr_t frames[LAYOUT_MOST + 1], sp = (uintptr_t)words;
	const struct mu_stack *layout;
	struct stack_trace trace;
	unsigned kind;

	ck_assert_ptr_ne(area, MAP_FAILED);
	ck_assert_int_eq(mprotect(area + 4096, 4096, PROT_NONE), 0);
	for (kind = 0; kind < 2; kind++) {
		trace = trace_of(5, kind, 200);
		layout = stack_layout_put(&trace);
		ck_assert_ptr_nonnull(layout);
		ck_assert_uint_eq(hash_of(layout, words, 0, 200), 0);
		ck_assert_uint_eq(
		    stack_layout_read(layout, sp, 0, 200, frames, 16), 0);
		trace = trace_of(5, kind, 199);
		if (kind != 0)
			words[199] = sp + 8ul * trace.targets[0];
		layout = stack_layout_put(&trace);
		ck_assert_uint_ne(hash_of(layout, words, 0, 200), 0);
		ck_assert_uint_eq(
		    stack_layout_read(layout, sp, 0, 200, frames, 16), 6);
		ck_assert_uint_eq(
		    stack_layout_read(layout, sp, 0, 200, frames, 5), 0);
	}
	munmap(area, 8192);
}

/* What is known of the thread's own stack is not read on another one. */
TEST(nothing_on_other_stacks)
{
	char *area = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t sp = (uintptr_t)area + 4096 - 100 * 8;
	uint64_t config = stack_layout_config(16, 0), key;
	struct stack_trace trace = trace_of(1, 0, 200);
	const struct mu_stack *layout = stack_layout_put(&trace);
	struct stack_range *home = &stack_thread_memory.home, real;

	ck_assert_ptr_ne(area, MAP_FAILED);
	ck_assert_int_eq(mprotect(area + 4096, 4096, PROT_NONE), 0);
	ck_assert_uint_ge(
	    stack_capture_unit(STACK_START(), 16, 0), MU_STACK_FIRST);
	ck_assert_uint_ne(stack_thread_memory.home.high, 0);
	key = stack_layout_key(
	    stack_layout_wanted(config, frame_memo_now()), PC, sp);
	stack_known_note(
	    stack_layout_set(stack_layouts, key), key, (uintptr_t)layout);
	ck_assert_uint_eq(stack_capture_known(PC, sp, 0, config), 0);
	ck_assert_uint_eq(stack_capture_known_else(PC, sp, 0, config), 0);
	/* Nor beyond its own end. */
	real = *home;
	*home = (struct stack_range) { sp & ~4095ul, (sp & ~4095ul) + 4096 };
	ck_assert_uint_eq(stack_capture_known(PC, sp, 0, config), 0);
	ck_assert_uint_eq(stack_capture_known_else(PC, sp, 0, config), 0);
	*home = real;
	munmap(area, 8192);
}

TEST(every_word_counts)
{
	uint64_t words[2 * LAYOUT_MOST + 8], hash;
	uintptr_t sp = (uintptr_t)words, fp = sp + 80;
	const struct mu_stack *layout;
	struct stack_trace trace;
	unsigned returns, pointers, i, bit;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = 0x7f0000001000 + i * 0x1357;
	for (returns = 0; returns <= LAYOUT_MOST; returns++) {
		pointers = returns * 7 % (LAYOUT_MOST + 1);
		trace = trace_of(returns, pointers, 2 * LAYOUT_MOST + 7);
		trace.pointer = 10;
		layout = stack_layout_put(&trace);
		ck_assert_ptr_nonnull(layout);
		hash = hash_of(layout, words, fp, 1000);
		ck_assert_uint_ne(hash_of(layout, words, fp + 16, 1000), hash);
		for (i = 0; i < returns + pointers; i++) {
			uint16_t at = i < returns ? trace.returns[i]
						  : trace.pointers[i - returns];

			for (bit = 0; bit < 48; bit++) {
				words[at] ^= (uint64_t)1 << bit;
				ck_assert_uint_ne(
				    hash_of(layout, words, fp, 1000), hash);
				words[at] ^= (uint64_t)1 << bit;
			}
		}
	}
}

/* How many frames, which flags, which code. */
TEST(what_is_wanted_counts)
{
	uint64_t seen[3 * 3 * 40], words[1] = { PC };
	struct stack_trace trace = trace_of(1, 0, 0);
	const struct mu_stack *layout = stack_layout_put(&trace);
	size_t max, num = 0, i;
	uint64_t generation, wanted;
	uint16_t flags;

	for (max = 1; max <= 40; max++)
		for (flags = 0; flags < 3; flags++)
			for (generation = 0; generation < 3; generation++) {
				wanted = stack_layout_wanted(
				    stack_layout_config(max, flags),
				    generation << 8);
				seen[num] = stack_layout_hash(stack_layouts,
				    layout, wanted, PC, (uintptr_t)words, 0, 1);
				for (i = 0; i < num; i++)
					ck_assert_uint_ne(seen[i], seen[num]);
				num++;
			}
}

TEST(no_layout_is_a_stack)
{
	struct stack_trace trace = trace_of(20, 9, 99);
	const struct mu_stack *layout = stack_layout_put(&trace);

	ck_assert_ptr_nonnull(layout);
	ck_assert_ptr_eq(stack_layout_put(&trace), layout);
	ck_assert_ptr_null(stack_depot_get(layout->reserved));
	trace.lost = true;
	ck_assert_ptr_null(stack_layout_put(&trace));
}

TEST(stacks_belong_to_their_layout)
{
	uintptr_t frames[] = { PC, PC + 7, PC + 99 };
	uint32_t unit = stack_depot_put_walked(frames, 3, 0, 77);

	ck_assert_uint_ge(unit, MU_STACK_FIRST);
	ck_assert_uint_eq(stack_depot_find(frames, 3, 0, 77), unit);
	ck_assert_uint_eq(stack_depot_find(frames, 3, 0, 78), 0);
	ck_assert_uint_eq(stack_depot_find(frames, 3, MU_STACK_CHILD, 77), 0);
	ck_assert_uint_eq(stack_depot_find(frames, 2, 0, 77), 0);
}

TEST(the_last_of_a_set_are_known)
{
	struct stack_known set[KNOWN_WAYS] = { { 0, 0 } };
	uint64_t i, hash = 0x123456789abcdef0;

	for (i = 1; i <= 9; i++)
		stack_known_note(set, hash + (i << 40), i);
	for (i = 1; i <= 9; i++)
		ck_assert_uint_eq(stack_known_get(set, hash + (i << 40)),
		    i > 9 - KNOWN_WAYS ? i : 0);
	ck_assert_uint_eq(stack_known_get(set, 0), 0);
	/* Half of one entry, half of another. */
	set[0].value = set[1].value;
	for (i = 6; i <= 9; i++)
		ck_assert_uint_eq(
		    stack_known_get(set, hash + (i << 40)), i == 9 ? 0 : i);
}

SUITE(.setup = setup);
