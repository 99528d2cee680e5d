/*
 * The private arena: Android's Allocator_test as far as it applies. There is
 * no free of one object, so `multiple` and `many` test that objects are apart;
 * the C++ rows (stl_vector, shared, ...) have no counterpart in C.
 */
#include "mu/arena.h"
#include "tests/support/suite.h"

#define LIMIT ((size_t)1 << 30)

static struct mu_arena arena;

static void
setup(void)
{
	mu_arena_open(&arena, LIMIT);
}

static void
teardown(void)
{
	mu_arena_close(&arena);
	ck_assert_ptr_null(arena.pieces);
	ck_assert_uint_eq(arena.used, 0);
}

TEST(simple)
{
	char *p = mu_arena_alloc(&arena, 1, 100);
	size_t i;

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq((uintptr_t)p % 16, 0);
	for (i = 0; i < 100; i++)
		ck_assert_int_eq(p[i], 0);
	memset(p, 0xff, 100);
}

TEST(multiple)
{
	char *a = mu_arena_alloc(&arena, 1, 100);
	char *b = mu_arena_alloc(&arena, 1, 100);

	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_nonnull(b);
	ck_assert(b >= a + 100 || a >= b + 100);
}

static void
fill_and_check(size_t count, size_t size)
{
	char **objects = calloc(count, sizeof(*objects));
	size_t i;

	for (i = 0; i < count; i++) {
		objects[i] = mu_arena_alloc(&arena, 1, size);
		ck_assert_ptr_nonnull(objects[i]);
		memset(objects[i], (int)(i % 251) + 1, size);
	}
	for (i = 0; i < count; i++) {
		ck_assert_int_eq(objects[i][0], (char)((i % 251) + 1));
		ck_assert_mem_eq(objects[i], objects[i] + 1, size - 1);
	}
	free(objects);
}

TEST(many)
{
	fill_and_check(4096, 128);
}

TEST(large)
{
	fill_and_check(1, 1 << 20);
}

TEST(many_large)
{
	fill_and_check(128, 1 << 20);
}

TEST(grow_keeps_contents)
{
	uint32_t *array = NULL;
	size_t count = 0, max = 0, i;

	while (count < 100000) {
		if (count == max) {
			array = mu_arena_grow(&arena, array, max,
			    max == 0 ? 1 : max * 2, sizeof(*array));
			ck_assert_ptr_nonnull(array);
			max = max == 0 ? 1 : max * 2;
			/* Another object in between, so that it has to move. */
			if (max % 1024 == 0)
				mu_arena_alloc(&arena, 1, 16);
		}
		array[count] = (uint32_t)count;
		count++;
	}
	for (i = 0; i < count; i++)
		ck_assert_uint_eq(array[i], i);
}

TEST(overflow_is_refused)
{
	void *array = mu_arena_alloc(&arena, 4, 16);

	ck_assert_ptr_null(mu_arena_alloc(&arena, SIZE_MAX / 2, 3));
	ck_assert_ptr_null(mu_arena_alloc(&arena, 1, SIZE_MAX));
	ck_assert_ptr_null(mu_arena_alloc(&arena, 1, SIZE_MAX - 15));
	ck_assert_ptr_null(mu_arena_grow(&arena, array, 4, SIZE_MAX / 8, 16));
	ck_assert_ptr_nonnull(mu_arena_alloc(&arena, 1, 1));
}

TEST(limit_is_kept)
{
	struct mu_arena small;
	size_t total = 0;

	mu_arena_open(&small, (size_t)1 << 20);
	while (mu_arena_alloc(&small, 1, 4096) != NULL)
		total += 4096;
	ck_assert_uint_ge(total, (size_t)1 << 19);
	ck_assert_uint_le(total, (size_t)1 << 20);
	ck_assert_uint_le(small.used, (size_t)1 << 20);
	mu_arena_close(&small);
}

/* The size that the limit would have needed is known. */
TEST(refused)
{
	struct mu_arena small;

	mu_arena_open(&small, (size_t)1 << 20);
	ck_assert_ptr_nonnull(mu_arena_alloc(&small, 1, 300000));
	ck_assert_uint_eq(small.refused, 0);
	ck_assert_ptr_null(mu_arena_alloc(&small, 1, (size_t)5 << 20));
	ck_assert_uint_ge(small.refused, ((size_t)5 << 20) + 300000);
	ck_assert_uint_le(small.refused, (size_t)6 << 20);
	/* The largest one counts; requests that fit still succeed. */
	ck_assert_ptr_null(mu_arena_alloc(&small, 1, (size_t)2 << 20));
	ck_assert_uint_ge(small.refused, (size_t)5 << 20);
	ck_assert_ptr_nonnull(mu_arena_alloc(&small, 1, 300000));
	/* A limit that is set late may be below what is there. */
	small.limit = 4096;
	ck_assert_ptr_null(mu_arena_alloc(&small, 1, (size_t)1 << 20));
	mu_arena_close(&small);
	/* The kernel's refusal is not the limit's. */
	mu_arena_open(&small, SIZE_MAX);
	ck_assert_ptr_null(mu_arena_alloc(&small, 1, (size_t)1 << 50));
	ck_assert_uint_eq(small.refused, 0);
	mu_arena_close(&small);
}

/* A limit below the usual size of a piece is used to its end. */
TEST(small_limit)
{
	struct mu_arena small;
	size_t total = 0;

	mu_arena_open(&small, (size_t)192 << 10);
	while (mu_arena_alloc(&small, 1, 4096) != NULL)
		total += 4096;
	ck_assert_uint_ge(total, (size_t)128 << 10);
	ck_assert_uint_le(small.used, (size_t)192 << 10);
	mu_arena_close(&small);
}

/* What is reserved at first is in one piece with what comes before it. */
TEST(reserved)
{
	const struct mu_arena_piece *piece;

	mu_arena_reserve(&arena, 100 << 16);
	piece = arena.pieces;
	ck_assert_ptr_nonnull(piece);
	ck_assert_ptr_nonnull(mu_arena_alloc(&arena, 1, 3 << 16));
	ck_assert_ptr_nonnull(mu_arena_alloc(&arena, 1, 100 << 16));
	ck_assert_ptr_eq(arena.pieces, piece);
	mu_arena_reserve(&arena, 100 << 16);
	ck_assert_ptr_eq(arena.pieces, piece);
	mu_arena_close(&arena);
	mu_arena_reserve(&arena, LIMIT);
	mu_arena_reserve(&arena, SIZE_MAX - 1);
	ck_assert_ptr_null(arena.pieces);
	ck_assert_ptr_nonnull(mu_arena_alloc(&arena, 1, 100));
}

TEST(rewind_gives_back)
{
	char *early = mu_arena_alloc(&arena, 1, 100), *late;
	struct mu_arena_piece *pieces = arena.pieces;
	size_t used = arena.used, i;

	memset(early, 'e', 100);
	for (i = 0; i < 5; i++)
		ck_assert_ptr_nonnull(mu_arena_alloc(&arena, 1, 400000));
	ck_assert_uint_gt(arena.used, used);
	mu_arena_rewind(&arena, pieces);
	ck_assert_uint_eq(arena.used, used);
	ck_assert_ptr_eq(arena.pieces, pieces);
	ck_assert_int_eq(early[99], 'e');
	late = mu_arena_alloc(&arena, 1, 1000);
	for (i = 0; i < 1000; i++)
		ck_assert_int_eq(late[i], 0);
	mu_arena_rewind(&arena, arena.pieces);
	ck_assert_int_eq(early[0], 'e');
}

TEST(trim_gives_back)
{
	char *early = mu_arena_alloc(&arena, 1, 100), *late;
	char *array = mu_arena_alloc(&arena, 1000, 1000);
	size_t used = arena.used, i;

	memset(array, 'a', 1000 * 1000);
	mu_arena_trim(&arena, early, 0, 1);
	mu_arena_trim(&arena, array, SIZE_MAX, 2);
	mu_arena_trim(&arena, array, 1000, 1000);
	ck_assert_uint_eq(arena.used, used);
	mu_arena_trim(&arena, array, 100, 1000);
	ck_assert_uint_lt(arena.used, used - 700 * 1000);
	ck_assert_int_eq(array[100 * 1000 - 1], 'a');
	late = mu_arena_alloc(&arena, 1, 1000);
	for (i = 0; i < 1000; i++)
		ck_assert_int_eq(late[i], 0);
}

TEST(nth_request_fails_once)
{
	size_t n, i;

	for (n = 1; n <= 5; n++) {
		arena.fail_at = n;
		for (i = 1; i <= 6; i++) {
			void *p = mu_arena_alloc(&arena, 1, 16);

			ck_assert_int_eq(p == NULL, i == n);
		}
	}
}

static void
add_size(void *ctx, struct mu_range piece)
{
	*(size_t *)ctx += mu_range_size(piece);
}

struct where {
	uintptr_t address;
	bool found;
};

static void
look_for(void *ctx, struct mu_range piece)
{
	struct where *where = ctx;

	where->found |= mu_range_has(piece, where->address);
}

/* What is not known by address is scanned, and then nothing ever leaks. */
TEST(every_piece_is_known)
{
	size_t total = 0, i;

	for (i = 0; i < 50; i++) {
		struct where where = { (uintptr_t)mu_arena_alloc(
					   &arena, 1, i * 40000 + 1),
			false };

		mu_arena_each(&arena, look_for, &where);
		ck_assert(where.found);
	}
	mu_arena_each(&arena, add_size, &total);
	ck_assert_uint_eq(total, arena.used);
}

TEST(wiped)
{
	static const size_t sizes[] = { 100, 65536, 300000, 1 << 20 };
	char *objects[4];
	size_t i, j;

	for (i = 0; i < 4; i++) {
		objects[i] = mu_arena_alloc(&arena, sizes[i], 1);
		ck_assert_ptr_nonnull(objects[i]);
		memset(objects[i], 'x', sizes[i]);
	}
	mu_arena_wipe(&arena);
	for (i = 0; i < 4; i++)
		for (j = 0; j < sizes[i]; j++)
			ck_assert(objects[i][j] == 0);
	ck_assert_ptr_nonnull(mu_arena_alloc(&arena, 1, 1));
}

TEST(close_unmaps)
{
	struct mu_arena brief;
	unsigned char state;
	char *p;

	mu_arena_open(&brief, LIMIT);
	p = mu_arena_alloc(&brief, 1, (size_t)8 << 20);
	p -= (uintptr_t)p % 4096;
	ck_assert_int_eq(mincore(p, 4096, &state), 0);
	mu_arena_close(&brief);
	ck_assert_int_eq(mincore(p, 4096, &state), -1);
	mu_arena_close(&brief);
}

/* It is not mapped, so nothing more can be. */
TEST(given_memory_is_all)
{
	static _Alignas(16) char memory[256 << 10];
	struct mu_arena given;
	char *p;

	mu_arena_open_in(&given, memory, sizeof(memory));
	mu_arena_touch(&given, SIZE_MAX);
	p = mu_arena_alloc(&given, 1, 100 << 10);
	ck_assert(p > memory && p + (100 << 10) <= memory + sizeof(memory));
	ck_assert_ptr_nonnull(mu_arena_alloc_table(&given, 1, 100 << 10));
	ck_assert_ptr_null(mu_arena_alloc(&given, 1, 100 << 10));
	ck_assert_ptr_null(mu_arena_alloc_table(&given, 1, LIMIT));
	p = mu_arena_grow(&given, NULL, 0, 10, 100);
	ck_assert_ptr_nonnull(p);
	ck_assert_ptr_eq(mu_arena_grow(&given, p, 10, 20, 100), p);
	ck_assert_ptr_null(mu_arena_grow(&given, p, 20, LIMIT, 100));
}

/* Memory that stays mapped: what is released is zero again, and comes back. */
TEST(pieces_of_given_memory)
{
	const size_t size = 8 << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct mu_arena_piece *before;
	struct mu_arena given;
	char *first, *middle, *again;

	ck_assert_ptr_ne(memory, MAP_FAILED);
	mu_arena_open_on(&given, memory, size);
	first = mu_arena_alloc(&given, 1, 1000);
	ck_assert(first > memory && first + 1000 <= memory + size);
	before = given.pieces;
	middle = mu_arena_alloc_table(&given, 1, 3 << 20);
	ck_assert(middle > first && middle + (3 << 20) <= memory + size);
	memset(middle, 1, 3 << 20);
	mu_arena_trim(&given, middle, 1 << 20, 1);
	ck_assert_int_eq(middle[(1 << 20) - 1], 1);
	ck_assert_ptr_null(mu_arena_alloc(&given, 1, size));
	mu_arena_rewind(&given, before);
	again = mu_arena_alloc(&given, 1, 5 << 20);
	ck_assert_ptr_nonnull(again);
	ck_assert(again <= middle && again + (5 << 20) <= memory + size);
	ck_assert_int_eq(again[0] | again[(1 << 20) - 1] | again[3 << 20], 0);
	mu_arena_close(&given);
	/* Not unmapped: the caller does that. */
	ck_assert_int_eq(memory[0] | first[0] | again[100], 0);
	ck_assert_int_eq(munmap(memory, size), 0);
}

SUITE(.setup = setup, .teardown = teardown);
