/*
 * The references to a block: each rule of what counts, and each kind of place.
 */
#include "mu/arch/register_names.h"
#include "mu/arch/registers.h"
#include "tests/support/graph/referring.h"
#include "tests/support/suite.h"

TEST_LOOP(words_of_a_root, 0, FAKE_KINDS)
{
	char *slots[8] = { NULL }, *a, *b;
	size_t size;

	open_case(_i, 4096);
	b = fake_block(&marking_heap, 40, false);
	a = fake_block(&marking_heap, 40, false);
	size = fake_usable(&marking_heap, 40);
	slots[0] = a - 1;
	slots[1] = a;
	slots[3] = a + size - 1;
	slots[4] = a + size;
	slots[6] = b;
	root_range(slots, slots + 8);
	expect(a, 2);
	ck_assert(found.reachable);
	ck_assert_uint_eq(found.items[0].address, (uintptr_t)&slots[1]);
	ck_assert_uint_eq(found.items[0].value, (uintptr_t)a);
	ck_assert_int_eq(found.items[0].into, 0);
	ck_assert_uint_eq(found.items[1].address, (uintptr_t)&slots[3]);
	ck_assert_int_eq(found.items[1].into, (int64_t)size - 1);
	ck_assert_uint_eq(found.items[1].reachable, 1);
	/* An address inside the block gives the same answer. */
	expect(a + size - 1, 2);
	/* Listed blocks are adjacent; chunks have headers between them. */
	expect(b, _i == FAKE_LISTED ? 2 : 1);
}

TEST_LOOP(blocks_reachable_and_not, 0, FAKE_KINDS)
{
	void *root, **a, **b, **c, **lost;

	open_case(_i, 4096);
	a = marking_node(4);
	b = marking_node(4);
	c = marking_node(4);
	lost = marking_node(4);
	root = a;
	a[1] = c;
	a[2] = c + 1;
	lost[3] = c;
	root_range(&root, &root + 1);
	expect(c, 3);
	ck_assert(found.reachable);
	ck_assert_uint_eq(found.items[0].kind, MU_REFERRER_BLOCK);
	ck_assert_uint_eq(found.items[0].begin, (uintptr_t)a);
	ck_assert_uint_eq(
	    found.items[0].size, fake_usable(&marking_heap, 4 * W));
	ck_assert_uint_eq(found.items[0].address, (uintptr_t)&a[1]);
	ck_assert_uint_eq(found.items[0].reachable, 1);
	ck_assert_int_eq(found.items[1].into, W);
	ck_assert_uint_eq(found.items[2].begin, (uintptr_t)lost);
	ck_assert_uint_eq(found.items[2].reachable, 0);
	expect(b, 0);
	ck_assert(!found.reachable);
	expect(lost, 0);
}

/* A list head that points to itself is lost nevertheless. */
TEST_LOOP(itself_does_not_count, 0, FAKE_KINDS)
{
	void **a, **b;

	open_case(_i, 4096);
	a = marking_node(2);
	b = marking_node(2);
	a[0] = a;
	a[1] = b;
	b[0] = a;
	b[1] = b;
	expect(a, 1);
	ck_assert(!found.reachable);
	ck_assert_uint_eq(found.items[0].begin, (uintptr_t)b);
	ck_assert_uint_eq(found.items[0].reachable, 0);
}

TEST_LOOP(no_live_block, 0, FAKE_KINDS)
{
	char *a, *b;

	open_case(_i, 4096);
	a = fake_block(&marking_heap, 24, false);
	b = fake_block(&marking_heap, 24, false);
	fake_block(&marking_heap, 24, false);
	if (_i == FAKE_SPAN)
		mu_span_clear(&marking_heap.blocks.spans[0], (uintptr_t)b);
	mark();
	ck_assert_int_eq(look_for(NULL, FAKE_NO_DEADLINE), MU_ERR_ARGUMENT);
	ck_assert_int_eq(
	    look_for(&marking_heap, FAKE_NO_DEADLINE), MU_ERR_ARGUMENT);
	ck_assert_int_eq(
	    look_for((void *)UINTPTR_MAX, FAKE_NO_DEADLINE), MU_ERR_ARGUMENT);
	ck_assert_int_eq(look_for(a - 8, FAKE_NO_DEADLINE), MU_ERR_ARGUMENT);
	ck_assert_uint_eq(found.total, 0);
	ck_assert_str_ne(referring_why.text, "");
	if (_i == FAKE_SPAN)
		ck_assert_int_eq(
		    look_for(b, FAKE_NO_DEADLINE), MU_ERR_ARGUMENT);
	ck_assert_int_eq(look_for(a, FAKE_NO_DEADLINE), MU_OK);
}

/*
 * A left-over link of a free list is no reference, except in a root: the pair
 * of links that a large chunk has twice. test_links.c has more shapes.
 */
TEST(left_over_link)
{
	static const struct mu_range bins[] = { { 0x7000, 0x7800 } };
	void **reused, **x, **f, *root[4];
	int i;

	open_case(FAKE_SPAN, 4096);
	marking_heap.glibc.bins = bins;
	marking_heap.glibc.num_bins = 1;
	reused = marking_node(11);
	x = marking_node(3);
	f = marking_node(5);
	marking_node(1);
	root[0] = root[2] = f - 2;
	root[1] = root[3] = (void *)0x7010;
	memcpy(reused, root, sizeof(root));
	root_value(reused);
	expect(x, 0);
	ck_assert(!found.reachable);
	for (i = 1; i < 4; i++)
		reused[i] = NULL;
	expect(x, 1);
	reused[0] = NULL;
	root_range(root, root + 4);
	expect(x, 2);
}

TEST(by_the_header_of_its_chunk)
{
	void *stack[4] = { NULL }, **a;
	struct mu_range frames;

	open_case(FAKE_SPAN, 4096);
	marking_node(1);
	a = marking_node(4);
	marking_node(1);
	stack[2] = a - 2;
	root_range(stack, stack + 4);
	marking_roots.ranges[0].kind = MU_ROOT_CALLER;
	expect(a, 0);
	ck_assert(!found.reachable);
	fake_heap_close(&marking_heap);

	open_case(FAKE_SPAN, 4096);
	marking_node(1);
	a = marking_node(4);
	marking_node(1);
	stack[2] = a - 2;
	root_range(stack, stack + 4);
	marking_roots.ranges[0].kind = MU_ROOT_STACK;
	frames = (struct mu_range) { (uintptr_t)stack, (uintptr_t)(stack + 4) };
	marking_roots.frames.items = &frames;
	marking_roots.frames.count = 1;
	marking_roots.headers = (uintptr_t *)stack;
	marking_roots.num_headers = 4;
	expect(a, 1);
	ck_assert(found.reachable);
	ck_assert_int_eq(found.items[0].into, -2 * (int)W);
	ck_assert_uint_eq(found.items[0].value, (uintptr_t)(a - 2));
}

/* A kept block is a root, and no link in it is one of malloc's. */
TEST(kept_block)
{
	void **kept, **a;

	open_case(FAKE_LISTED, 4096);
	kept = fake_block(&marking_heap, 4 * W, true);
	a = marking_node(2);
	kept[1] = a;
	expect(a, 1);
	ck_assert(found.reachable);
	ck_assert_uint_eq(found.items[0].kind, MU_REFERRER_BLOCK);
	ck_assert_uint_eq(found.items[0].reachable, 1);
}

TEST_LOOP(our_frames_are_left_out, 0, FAKE_KINDS)
{
	void *stack[4], **a;

	open_case(_i, 4096);
	a = marking_node(2);
	stack[0] = stack[1] = stack[2] = stack[3] = a;
	root_range(stack, stack + 4);
	ours = (struct mu_range) { (uintptr_t)(stack + 1),
		(uintptr_t)(stack + 3) };
	expect(a, 2);
	ck_assert_uint_eq(found.items[0].address, (uintptr_t)&stack[0]);
	ck_assert_uint_eq(found.items[1].address, (uintptr_t)&stack[3]);
}

/* Words without an address: their threads and names. */
TEST_LOOP(registers_kernel_and_named_values, 0, FAKE_KINDS)
{
	struct mu_thread threads[3] = {
		{ .tid = 11, .first_value = 0, .num_values = 2 },
		{ .tid = 12, .first_value = 2, .num_values = 3 },
		{ .tid = 13, .first_value = 5, .num_values = 0 },
	};
	uint16_t places[5] = { 5, 6, MU_REGNO_VECTOR + 20, MU_PRSTATUS_SP,
		MU_REGNO_SAVED };
	uintptr_t words[5] = { 1, 2, 3, 4, 5 }, kernel[2] = { 7, 0 }, named[1];
	void **a;

	open_case(_i, 4096);
	a = marking_node(4);
	words[1] = (uintptr_t)a;
	words[2] = (uintptr_t)a + 5;
	words[3] = threads[1].sp = (uintptr_t)a + 16;
	threads[2].sp = (uintptr_t)a + 24;
	kernel[1] = (uintptr_t)a + 1;
	named[0] = (uintptr_t)a + 2;
	referring_snap.threads = threads;
	referring_snap.num_threads = 3;
	referring_snap.values = words;
	referring_snap.regnos = places;
	referring_snap.num_values = 5;
	referring_snap.kernel_values = kernel;
	referring_snap.num_kernel_values = 2;
	referring_snap.root_values = named;
	referring_snap.num_root_values = 1;
	root_value(a);
	expect(a, 6);
	ck_assert_uint_eq(found.items[0].kind, MU_REFERRER_REGISTER);
	ck_assert_uint_eq(found.items[0].thread, 0);
	ck_assert_uint_eq(found.items[0].regno, 6);
	ck_assert_uint_eq(found.items[0].address, 0);
	ck_assert_uint_eq(found.items[1].thread, 1);
	ck_assert_uint_eq(found.items[1].regno, MU_REGNO_VECTOR + 20);
	ck_assert_int_eq(found.items[1].into, 5);
	/*
	 * The stack pointer counts once, whether it is among the registers or
	 * not.
	 */
	ck_assert_uint_eq(found.items[2].thread, 1);
	ck_assert_uint_eq(found.items[2].regno, MU_PRSTATUS_SP);
	ck_assert_uint_eq(found.items[3].thread, 2);
	ck_assert_uint_eq(found.items[3].regno, MU_PRSTATUS_SP);
	ck_assert_uint_eq(found.items[4].kind, MU_REFERRER_KERNEL);
	ck_assert_uint_eq(found.items[5].kind, MU_REFERRER_VALUE);
	ck_assert_uint_eq(found.items[5].thread, MU_NO_INDEX);
	/* Places that options exclude from the roots are not listed either. */
	referring_snap.reach.no_registers = true;
	expect(a, 4);
	referring_snap.reach.no_stacks = true;
	expect(a, 2);
}

SUITE(.teardown = marking_teardown);
