/* The verdict on a heap by its figures: lost, in use, held free. */
#include "heapwalk/heaps/usage.h"
#include "tests/support/suite.h"

#define MIB ((size_t)1 << 20)

/* In percent of the whole. */
struct shares {
	size_t reachable, unreachable, scattered, top, overhead, unproven;
};

static enum mu_verdict
judge(size_t percent, struct shares shares)
{
	struct mu_arena_usage arenas[2] = {
		{ .bins = percent * shares.scattered },
		{ .top = percent * shares.top },
	};
	struct mu_heap_usage usage = {
		.arenas = arenas,
		.num_arenas = 2,
		.live_reachable = percent * shares.reachable,
		.live_unreachable = percent * shares.unreachable,
		.free_held = percent * (shares.scattered + shares.top),
		.overhead = percent * shares.overhead,
		.unproven = percent * shares.unproven,
	};

	ck_assert_uint_eq(mu_usage_held(&usage), percent * 100);
	ck_assert_uint_eq(mu_usage_top(&usage), percent * shares.top);
	ck_assert_uint_eq(
	    mu_usage_scattered(&usage), percent * shares.scattered);
	return mu_usage_verdict(&usage);
}

static const struct {
	struct shares shares;
	enum mu_verdict large, small;
} table[] = {
	/* Each alone. */
	{ { .reachable = 100 }, MU_VERDICT_IN_USE, MU_VERDICT_NONE },
	{ { .unreachable = 100 }, MU_VERDICT_LEAK, MU_VERDICT_LEAK },
	{ { .scattered = 100 }, MU_VERDICT_FRAGMENTATION, MU_VERDICT_NONE },
	{ { .top = 100 }, MU_VERDICT_SLACK, MU_VERDICT_NONE },
	{ { .overhead = 100 }, MU_VERDICT_NONE, MU_VERDICT_NONE },
	{ { .unproven = 100 }, MU_VERDICT_NONE, MU_VERDICT_NONE },

	/* A leak comes first, whatever its share. */
	{ { 99, 1, 0, 0, 0, 0 }, MU_VERDICT_LEAK, MU_VERDICT_LEAK },
	{ { 10, 1, 9, 80, 0, 0 }, MU_VERDICT_LEAK, MU_VERDICT_LEAK },
	{ { 0, 1, 99, 0, 0, 0 }, MU_VERDICT_LEAK, MU_VERDICT_LEAK },

	/* In use from half on. */
	{ { 50, 0, 50, 0, 0, 0 }, MU_VERDICT_IN_USE, MU_VERDICT_NONE },
	{ { 49, 0, 51, 0, 0, 0 }, MU_VERDICT_FRAGMENTATION, MU_VERDICT_NONE },

	/* Free memory from a third on, the scattered first. */
	{ { 49, 0, 34, 0, 17, 0 }, MU_VERDICT_FRAGMENTATION, MU_VERDICT_NONE },
	{ { 49, 0, 33, 0, 18, 0 }, MU_VERDICT_NONE, MU_VERDICT_NONE },
	{ { 0, 0, 34, 66, 0, 0 }, MU_VERDICT_FRAGMENTATION, MU_VERDICT_NONE },
	{ { 0, 0, 33, 67, 0, 0 }, MU_VERDICT_SLACK, MU_VERDICT_NONE },
	{ { 49, 0, 17, 34, 0, 0 }, MU_VERDICT_SLACK, MU_VERDICT_NONE },
	{ { 49, 0, 26, 25, 0, 0 }, MU_VERDICT_NONE, MU_VERDICT_NONE },

	/* What is in doubt counts as memory, and for no verdict. */
	{ { 40, 0, 0, 0, 0, 60 }, MU_VERDICT_NONE, MU_VERDICT_NONE },
	{ { 40, 10, 0, 0, 0, 50 }, MU_VERDICT_LEAK, MU_VERDICT_LEAK },
};

TEST_LOOP(verdicts, 0, (int)(sizeof(table) / sizeof(*table)))
{
	ck_assert_int_eq(judge(MIB, table[_i].shares), table[_i].large);
	ck_assert_int_eq(judge(MIB / 128, table[_i].shares), table[_i].small);
}

TEST(nothing_at_all)
{
	struct mu_heap_usage usage = { 0 };

	ck_assert_uint_eq(mu_usage_held(&usage), 0);
	ck_assert_int_eq(mu_usage_verdict(&usage), MU_VERDICT_NONE);
	mu_usage_complete(&usage, 0);
	ck_assert_int_eq(mu_usage_verdict(&usage), MU_VERDICT_NONE);
}

/* A verdict begins at the very byte. */
TEST(borders)
{
	struct mu_heap_usage usage = { .live_reachable = MU_USAGE_LARGE };

	ck_assert_int_eq(mu_usage_verdict(&usage), MU_VERDICT_IN_USE);
	usage.live_reachable--;
	ck_assert_int_eq(mu_usage_verdict(&usage), MU_VERDICT_NONE);
	usage.live_unreachable = 1;
	ck_assert_int_eq(mu_usage_verdict(&usage), MU_VERDICT_LEAK);
	ck_assert_int_eq(
	    mu_usage_verdict_without_leaks(&usage), MU_VERDICT_IN_USE);
}

TEST(complete)
{
	struct mu_heap_usage usage = { .live_reachable = 1000 };

	mu_usage_complete(&usage, 0);
	ck_assert_uint_eq(usage.live_reachable, 1000);
	ck_assert_uint_eq(usage.live_unreachable, 0);
	mu_usage_complete(&usage, 300);
	ck_assert_uint_eq(usage.live_reachable, 700);
	ck_assert_uint_eq(usage.live_unreachable, 300);

	/* Told once more. */
	mu_usage_complete(&usage, 200);
	ck_assert_uint_eq(usage.live_reachable, 800);
	ck_assert_uint_eq(usage.live_unreachable, 200);
	mu_usage_complete(&usage, 1001);
	ck_assert_uint_eq(usage.live_reachable, 0);
	ck_assert_uint_eq(usage.live_unreachable, 1000);
}

TEST(names)
{
	ck_assert_str_eq(mu_verdict_name(MU_VERDICT_NONE), "none");
	ck_assert_str_eq(mu_verdict_name(MU_VERDICT_LEAK), "leak");
	ck_assert_str_eq(mu_verdict_name(MU_VERDICT_IN_USE), "in_use");
	ck_assert_str_eq(
	    mu_verdict_name(MU_VERDICT_FRAGMENTATION), "fragmentation");
	ck_assert_str_eq(mu_verdict_name(MU_VERDICT_SLACK), "slack");
	ck_assert_str_eq(mu_verdict_name(MU_VERDICT_COUNT), "none");
}
