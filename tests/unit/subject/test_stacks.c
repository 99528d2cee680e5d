/*
 * Which bytes of the stacks of live threads are dead.
 */
#include "heapwalk/heaps/glibc/pthread.h"
#include "tests/support/heaps/real_threads.h"
#include "tests/support/suite.h"

TEST(below_sp_of_a_thread)
{
	struct player player;
	struct mu_range stack;

	start(&player, NULL);
	stack = stack_of(&player);
	add_thread(player.tid, player.sp, player.tp);
	walked_find();
	ck_assert(dead(stack.begin));
	ck_assert(dead(player.sp - MU_RED_ZONE - 1));
	ck_assert(!dead(player.sp - MU_RED_ZONE)); /* the red zone is live */
	ck_assert(!dead(player.sp));
	ck_assert(!dead(player.tp));
	ck_assert(!dead(stack.end - 1));
	ck_assert(!dead(stack.end));
	ck_assert(live(player.sp - MU_RED_ZONE));
	ck_assert(live(player.tp));
	ck_assert(!live(player.sp - MU_RED_ZONE - 1));
	join(&player);
}

TEST(below_sp_of_the_main_thread)
{
	volatile char here[16] = { 0 };
	uintptr_t sp = mu_arch_sp();

	add_thread(getpid(), sp, mu_arch_tp());
	walked_find();
	ck_assert(dead(sp - MU_RED_ZONE - 1));
	ck_assert(!dead(sp - MU_RED_ZONE));
	ck_assert(!dead((uintptr_t)here));
	ck_assert(!dead((uintptr_t)environ));
	ck_assert(live((uintptr_t)here));
}

/* On an alternate stack the frames of the normal one still count. */
TEST(alternate_stack)
{
	static char alternate[16384];
	struct player player;
	struct mu_range stack;

	start(&player, NULL);
	stack = stack_of(&player);
	add_thread(player.tid, (uintptr_t)alternate + 8000, player.tp);
	add_thread(getpid(), (uintptr_t)alternate + 4000, mu_arch_tp());
	walked_find();
	ck_assert(!dead(stack.begin));
	ck_assert(!dead(player.sp - 5000));
	ck_assert(!dead(mu_arch_sp() - 5000));
	ck_assert(!dead((uintptr_t)alternate));
	ck_assert(!dead((uintptr_t)alternate + 3000));
	ck_assert(live(player.sp - 5000));
	join(&player);
}

/* If the thread runs on it, the frames do not tell how much of it is in use. */
TEST(alternate_stack_and_a_guest)
{
	static char alternate[16384];
	struct player player;

	start(&player, NULL);
	add_thread(player.tid, (uintptr_t)alternate + 8000, player.tp);
	add_thread(player.tid + 1, player.sp, 0);
	walked_find();
	ck_assert(!dead(player.sp - 5000));
	join(&player);
}

TEST(unknown_stack_pointer)
{
	struct player player;

	start(&player, NULL);
	add_thread(player.tid, 0, player.tp);
	walked_find();
	ck_assert(!dead(player.sp - 5000));
	join(&player);
}

/* A thread that runs as a coroutine on the stack of another. */
TEST(two_on_one_stack)
{
	struct player player;
	struct mu_range stack;
	uintptr_t lower;

	start(&player, NULL);
	stack = stack_of(&player);
	lower = player.sp - 20000;
	add_thread(player.tid, player.sp, player.tp);
	add_thread(player.tid + 1, lower, 0);
	walked_find();
	ck_assert(dead(stack.begin));
	ck_assert(dead(lower - MU_RED_ZONE - 1));
	ck_assert(!dead(lower - MU_RED_ZONE));
	ck_assert(!dead(player.sp - MU_RED_ZONE - 1));
	join(&player);
}

#ifdef MU_PTHREAD_SELF
/* A damaged struct pthread does not hide the stack of another thread. */
TEST(block_too_large)
{
	struct player one, two, *low, *high;
	uintptr_t block[2], *field;
	size_t excess;

	start(&one, NULL);
	start(&two, NULL);
	low = one.tp < two.tp ? &one : &two;
	high = low == &one ? &two : &one;
	field = (uintptr_t *)(high->tp + MU_PTHREAD_STACKBLOCK);
	memcpy(block, field, sizeof(block));
	excess = block[0] - stack_of(low).begin;
	field[0] -= excess;
	field[1] += excess;
	add_thread(high->tid, high->sp, high->tp);
	add_thread(low->tid, 0, low->tp);
	walked_find();
	memcpy(field, block, sizeof(block));
	ck_assert(!dead(low->tp));
	ck_assert(!dead(low->sp));
	ck_assert(!dead(high->sp));
	join(&one);
	join(&two);
}

#endif

TEST(no_memory)
{
	struct player player;
	enum mu_status status;
	size_t n;

	start(&player, NULL);
	add_thread(player.tid, player.sp, player.tp);
	walked_find();
	for (n = 1;; n++) {
		image.arena.fail_at = n;
		status = mu_stacks_find(
		    &walked_stacks, &walked_snap, &walked_skip, &image.arena);
		if (status == MU_OK)
			break;
		ck_assert_int_eq(status, MU_ERR_NO_MEMORY);
	}
	ck_assert_uint_ge(n, 4);
	join(&player);
}

SUITE(.setup = walked_setup, .teardown = image_teardown);
