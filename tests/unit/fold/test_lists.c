/* Lists of what components lead to: they take none of the last memory. */
#include "heapwalk/fold/lists.h"
#include "tests/support/suite.h"

#define PIECE ((size_t)256 << 10) /* of an arena */

static void
open_lists(struct mu_lists *lists, size_t left, size_t *refused)
{
	struct mu_arena arena;
	size_t used;

	mu_arena_open(&arena, PIECE);
	ck_assert_ptr_nonnull(mu_arena_alloc(&arena, PIECE - 32, 1));
	used = arena.used;
	arena.limit = used + left;
	mu_lists_open(lists, 1, 1, &arena);
	*refused = arena.refused;
	mu_arena_close(&arena);
}

/* Who has memory for all else is not told that there is too little. */
TEST(no_room)
{
	struct mu_lists lists;
	size_t refused;

	open_lists(&lists, PIECE, &refused);
	ck_assert_ptr_nonnull(lists.first);
	ck_assert_uint_eq(refused, 0);
	open_lists(&lists, 1000, &refused);
	ck_assert_ptr_null(lists.first);
	ck_assert_uint_eq(refused, 0);
	open_lists(&lists, 0, &refused);
	ck_assert_ptr_null(lists.first);
	ck_assert_uint_eq(refused, 0);
}

SUITE();
