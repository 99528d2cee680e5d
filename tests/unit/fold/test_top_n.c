#include "heapwalk/fold/top_n.h"
#include "tests/support/suite.h"

#define COUNT 1000

static size_t sizes[COUNT];
static struct mu_arena arena;

static size_t
bytes_at(const void *ctx, uint32_t place)
{
	ck_assert_ptr_eq(ctx, sizes);
	ck_assert_uint_lt(place, COUNT);
	return sizes[place];
}

static bool
is_before(uint32_t a, uint32_t b)
{
	return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : a < b;
}

/* Add all elements; the first MAX of them are chosen, in order. */
static void
expect_order(size_t max)
{
	struct mu_top_n top;
	uint32_t i, before;
	size_t k;

	mu_arena_open(&arena, (size_t)1 << 20);
	ck_assert(mu_top_n_open(&top, max, &arena));
	top.bytes = bytes_at;
	top.ctx = sizes;
	for (i = 0; i < COUNT; i++)
		mu_top_n_add(&top, sizes[i], i);
	if (max <= COUNT) {
		for (i = 0, before = 0; i < COUNT; i++)
			before += sizes[i] > mu_top_n_least(&top);
		ck_assert_uint_lt(before, max);
	} else {
		ck_assert_uint_eq(mu_top_n_least(&top), 0);
	}
	mu_top_n_end(&top);
	ck_assert_uint_eq(top.count, max < COUNT ? max : COUNT);
	for (k = 0; k < top.count; k++) {
		for (i = 0, before = 0; i < COUNT; i++)
			before += is_before(i, mu_top_n_place(&top, k));
		ck_assert_uint_eq(before, k);
	}
	mu_arena_close(&arena);
}

static void
expect_all_orders(void)
{
	expect_order(1);
	expect_order(10);
	expect_order(COUNT - 1);
	expect_order(COUNT);
	expect_order(COUNT + 1);
}

TEST(equal_sizes)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		sizes[i] = 24 + i % 3;
	expect_all_orders();
}

/* More bytes than a key has room for, just as many, and fewer. */
TEST(huge_sizes)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		sizes[i] = i % 2 == 0
		    ? i * 7919 % 97
		    : ((size_t)1 << 32) - 100 + i * 7919 % 200;
	expect_all_orders();
	for (i = 0; i < COUNT; i++)
		sizes[i] = ((size_t)1 << 40) + i * 7919 % 997;
	expect_all_orders();
}
