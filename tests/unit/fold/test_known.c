/*
 * Blocks that an earlier look had lost: the same address, size, first word and
 * stack, as far as they are known.
 */
#include "heapwalk/fold/known.h"
#include "heapwalk/recorded/recorded.h"
#include "mu/sys.h"
#include "tests/support/graph/marking.h"
#include "tests/support/suite.h"

#define WORD ((uintptr_t)0x1234)

static const uintptr_t frames[2][3] = { { 0x1000, 0x2000, 0x3000 },
	{ 0x1000, 0x2000, 0x3008 } };
static const struct mu_recorded_stack stacks[2] = {
	{ .id = 1, .num_frames = 3, .frames = frames[0] },
	{ .id = 2, .num_frames = 3, .frames = frames[1] },
};
static struct mu_recorder recorder;
static struct mu_recorded_item item;

/* One block, lost, that STACK allocated; 0: there is no recorder. */
static struct mu_range
lose(uint32_t stack)
{
	struct mu_range range;
	void **node;

	marking_open_heap(FAKE_SPAN, 1 << 16);
	node = marking_node(4);
	node[0] = (void *)WORD;
	mark();
	range.begin = (uintptr_t)node;
	range.end = range.begin + fake_usable(&marking_heap, 4 * W);
	item = (struct mu_recorded_item) {
		.begin = range.begin, .at = range.begin, .stack = stack
	};
	recorder = (struct mu_recorder) { .stacks = stacks,
		.num_stacks = 2,
		.items = &item,
		.num_items = 1 };
	marking_heap.blocks.recorder = stack == 0 ? NULL : &recorder;
	return range;
}

static bool
is_known(struct mu_known known)
{
	struct mu_memory memory = { .page_size = 4096 };

	ck_assert_int_eq(mu_known_leave_out(&marking_heap.blocks, &memory,
			     &known, 1, FAKE_NO_DEADLINE),
	    MU_OK);
	return fake_marked(&marking_heap, (void *)known.range.begin);
}

static const struct known_case {
	uint32_t before, now; /* stacks */
	uintptr_t word;
	size_t larger;
	bool same;
} cases[] = {
	{ 0, 0, WORD, 0, true },
	{ 1, 1, WORD, 0, true },
	{ 1, 0, WORD, 0, true },
	{ 0, 2, WORD, 0, true },
	{ 1, 2, WORD, 0, false },
	{ 2, 1, WORD, 0, false },
	{ 1, 1, WORD + 8, 0, false },
	{ 0, 0, WORD + 8, 0, false },
	{ 1, 1, WORD, 16, false },
};

TEST_LOOP(same_block, 0, sizeof(cases) / sizeof(*cases))
{
	const struct known_case *one = &cases[_i];
	struct mu_known known = { .word = one->word, .by = MU_KNOWN_WORD };
	enum mu_known_by by;

	known.range = lose(one->before);
	known.stack = mu_known_stack(marking_heap.blocks.recorder, known.range);
	ck_assert_int_eq(known.stack != 0, one->before != 0);
	known.range.end += one->larger;
	item.stack = one->now;
	marking_heap.blocks.recorder = one->now == 0 ? NULL : &recorder;
	ck_assert_int_eq(is_known(known), one->same);
	/* By its mark; by its range alone, as of a report. */
	for (by = MU_KNOWN_MARK; by <= MU_KNOWN_RANGE; by++) {
		marking_teardown();
		known.range = lose(one->now);
		known.range.end += one->larger;
		known.by = by;
		known.word = mu_known_mark(one->word);
		ck_assert_int_eq(is_known(known),
		    by == MU_KNOWN_MARK ? one->same : one->larger == 0);
	}
}

SUITE(.teardown = marking_teardown);
