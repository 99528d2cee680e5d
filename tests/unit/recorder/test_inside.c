/* The state "inside the recorder", also after longjmp() out of it. */
#include <setjmp.h>

#include "lib/malloc_debug/state/inside.h"
#include "lib/malloc_debug/state/state.h"
#include "tests/support/suite.h"

static jmp_buf back;

#define FUNCTION static __attribute__((noinline)) bool

FUNCTION
asked_below(int depth)
{
	volatile char room[256];

	memset((void *)room, depth, sizeof(room));
	return depth > 0 ? asked_below(depth - 1) && room[0] == depth
			 : recorder_inside();
}

TEST(test_nests)
{
	ck_assert(!recorder_inside());
	recorder_enter();
	ck_assert(asked_below(3));
	recorder_enter();
	recorder_leave();
	ck_assert(asked_below(0));
	recorder_leave();
	ck_assert(!asked_below(3));
	recorder_leave(); /* once too often */
	ck_assert(!asked_below(0));
	recorder_enter();
	ck_assert(asked_below(0));
	recorder_leave();
}

FUNCTION
enter_and_jump(int depth)
{
	volatile char room[300];

	memset((void *)room, 0, sizeof(room));
	if (depth > 0)
		return enter_and_jump(depth - 1) || room[7] != 0;
	recorder_enter();
	if (room[0] == 0)
		longjmp(back, 1);
	return false;
}

/* From above, from the same place, and from further down. */
TEST(test_left_by_longjmp)
{
	volatile int depth;

	for (depth = 0; depth < 30; depth++) {
		if (setjmp(back) == 0)
			enter_and_jump(3);
		ck_assert_uint_eq(inside.depth, 1);
		ck_assert(!asked_below(depth));
		ck_assert_uint_eq(inside.depth, 0);
	}
}

TEST(test_entered_anew)
{
	if (setjmp(back) == 0)
		enter_and_jump(3);
	/* Above the frame that is gone; a count of 2 would stay. */
	recorder_enter();
	ck_assert_uint_eq(inside.depth, 1);
	ck_assert(asked_below(2));
	recorder_leave();
	ck_assert(!asked_below(2));
}

/* Inside in one function, not in the one that called it. */
FUNCTION
entered_here(void)
{
	recorder_enter();
	return asked_below(1);
}

TEST(test_left_without_leaving)
{
	ck_assert(entered_here());
	ck_assert(!recorder_inside());
	ck_assert_uint_eq(inside.depth, 0);
}
