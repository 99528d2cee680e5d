/*
 * Range sets against a bitmap of the same addresses.
 */
#include "heapwalk/subject/ranges.h"
#include "tests/support/heaps/image.h"
#include "tests/support/suite.h"

#define SPACE 4096 /* addresses of the model */
#define BASE 0x7f0000000000ul
#define ROUNDS 100

static struct mu_arena arena;
static struct mu_ranges set;
static unsigned char model[SPACE];

static void
setup(void)
{
	mu_arena_open(&arena, (size_t)1 << 28);
	mu_ranges_open(&set, &arena);
	memset(model, 0, sizeof(model));
}

static void
teardown(void)
{
	mu_arena_close(&arena);
}

static struct mu_range
at(size_t begin, size_t end)
{
	return (struct mu_range) { BASE + begin, BASE + end };
}

static void
add(size_t begin, size_t end)
{
	ck_assert(mu_ranges_add(&set, at(begin, end)));
	if (end > begin)
		memset(model + begin, 1, end - begin);
}

static struct mu_range
random_range(size_t longest)
{
	size_t begin = (size_t)rand() % SPACE;
	size_t end = begin + (size_t)rand() % longest;

	return (struct mu_range) { begin, end > SPACE ? SPACE : end };
}

/* Every address once, in order, in pieces that could not be longer. */
static void
compare_cuts(size_t begin, size_t end)
{
	struct mu_range rest = at(begin, end), piece;
	size_t i, position = begin;
	bool inside, last = false;

	while (mu_ranges_cut(&set, &rest, &piece, &inside)) {
		ck_assert_uint_eq(piece.begin, BASE + position);
		ck_assert_uint_gt(piece.end, piece.begin);
		ck_assert(position == begin || inside != last);
		for (i = position; i < piece.end - BASE; i++)
			ck_assert_int_eq(model[i], inside);
		position = piece.end - BASE;
		last = inside;
	}
	ck_assert_uint_eq(position, end > begin ? end : begin);
}

static void
compare_gaps(size_t begin, size_t end)
{
	unsigned char left[SPACE] = { 0 };
	struct mu_range rest = at(begin, end), piece;
	size_t i;

	while (mu_ranges_gap(&set, &rest, &piece))
		memset(left + (piece.begin - BASE), 1, mu_range_size(piece));
	for (i = 0; i < SPACE; i++)
		ck_assert_int_eq(left[i], i >= begin && i < end && !model[i]);
}

static void
compare_all(void)
{
	size_t i;

	ck_assert(ranges_in_order(&set));
	for (i = 0; i < SPACE; i++)
		ck_assert_int_eq(mu_ranges_has(&set, BASE + i), model[i]);
}

TEST(random_sets)
{
	struct mu_range range;
	int round, i, count;

	for (round = 0; round < ROUNDS; round++) {
		set.count = 0;
		memset(model, 0, sizeof(model));
		count = rand() % 60;
		for (i = 0; i < count; i++) {
			range = random_range(round % 2 == 0 ? 20 : 400);
			add(range.begin, range.end);
		}
		mu_ranges_seal(&set);
		compare_all();
		range = random_range(SPACE);
		compare_cuts(range.begin, range.end);
		compare_gaps(range.begin, range.end);
		compare_cuts(0, SPACE);
	}
}

TEST(empty_set)
{
	struct mu_range rest = at(5, 9), piece;
	bool inside;

	mu_ranges_seal(&set);
	compare_all();
	ck_assert(mu_ranges_cut(&set, &rest, &piece, &inside));
	ck_assert(!inside);
	ck_assert_uint_eq(piece.begin, BASE + 5);
	ck_assert_uint_eq(piece.end, BASE + 9);
	ck_assert(!mu_ranges_cut(&set, &rest, &piece, &inside));
}

TEST(empty_and_upside_down_ranges_are_dropped)
{
	add(7, 7);
	add(9, 3);
	ck_assert_uint_eq(set.count, 0);
}

TEST(touching_ranges_join)
{
	add(10, 20);
	add(0, 10);
	add(20, 21);
	mu_ranges_seal(&set);
	ck_assert_uint_eq(set.count, 1);
	compare_all();
}

TEST(more_after_the_seal)
{
	add(10, 20);
	mu_ranges_seal(&set);
	add(0, 5);
	add(12, 30);
	mu_ranges_seal(&set);
	ck_assert_uint_eq(set.count, 2);
	compare_all();
}

TEST(whole_address_space)
{
	struct mu_range all = { 0, UINTPTR_MAX }, rest = all, piece;

	ck_assert(mu_ranges_add(&set, at(0, 1)));
	mu_ranges_seal(&set);
	ck_assert(mu_ranges_gap(&set, &rest, &piece));
	ck_assert_uint_eq(piece.begin, 0);
	ck_assert_uint_eq(piece.end, BASE);
	ck_assert(mu_ranges_gap(&set, &rest, &piece));
	ck_assert_uint_eq(piece.begin, BASE + 1);
	ck_assert_uint_eq(piece.end, UINTPTR_MAX);
	ck_assert(!mu_ranges_gap(&set, &rest, &piece));
}

/* A refused piece of memory leaves the set as it was. */
TEST(no_memory)
{
	struct mu_range many[200];
	size_t i;

	for (i = 0; i < 200; i++)
		many[i] = at(2 * i, 2 * i + 1);
	add(500, 501);
	arena.fail_at = 1;
	ck_assert(!mu_ranges_add_all(&set, many, 200));
	mu_ranges_seal(&set);
	ck_assert_uint_eq(set.count, 1);
	compare_all();
}

SUITE(.setup = setup, .teardown = teardown);
