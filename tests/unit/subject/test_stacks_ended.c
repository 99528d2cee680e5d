/*
 * Stacks of threads that have ended are dead below struct pthread, and only
 * these.
 */
#include "heapwalk/heaps/glibc/pthread.h"
#include "tests/support/heaps/real_threads.h"
#include "tests/support/suite.h"

#ifdef MU_PTHREAD_SELF
TEST(stack_of_an_ended_thread)
{
	struct player player;
	struct mu_range stack;

	start(&player, NULL);
	stack = stack_of(&player);
	join(&player);
	add_thread(getpid(), mu_arch_sp(), mu_arch_tp());
	walked_find();
	ck_assert_uint_ge(walked_stacks.num_ended, 1);
	ck_assert(dead(stack.begin));
	ck_assert(dead(player.sp));
	ck_assert(dead(player.tp - 1));
	/* The DTV hangs on it. */
	ck_assert(!dead(player.tp));
	ck_assert(!dead(player.tp + 8));
	ck_assert(dead(player.tp + MU_PTHREAD_RESULT));
	ck_assert(dead(player.tp + MU_PTHREAD_ARGUMENT));
	ck_assert(!dead(player.tp + MU_PTHREAD_STACKBLOCK));
	ck_assert(!dead(stack.end - 1));
}

/* It has ended and is not joined yet. */
TEST(stack_of_an_unjoined_thread)
{
	struct player player;

	start(&player, NULL);
	let_go(&player);
	while (tgkill(getpid(), player.tid, 0) == 0)
		usleep(1000);
	add_thread(getpid(), mu_arch_sp(), mu_arch_tp());
	walked_find();
	ck_assert_uint_ge(walked_stacks.num_ended, 1);
	ck_assert(dead(player.sp));
	ck_assert(!dead(player.tp));
	ck_assert(!dead(player.tp + MU_PTHREAD_RESULT));
	ck_assert(!dead(player.tp + MU_PTHREAD_RESULT + 8));
	ck_assert(dead(player.tp + MU_PTHREAD_ARGUMENT));
	pthread_join(player.thread, NULL);
}

TEST(many_ended_threads)
{
	struct player players[8];
	size_t i;

	for (i = 0; i < 8; i++)
		start(&players[i], NULL);
	for (i = 0; i < 8; i += 2)
		join(&players[i]);
	for (i = 1; i < 8; i += 2)
		add_thread(players[i].tid, players[i].sp, players[i].tp);
	walked_find();
	ck_assert_uint_ge(walked_stacks.num_ended, 4);
	for (i = 0; i < 8; i++) {
		ck_assert_int_eq(dead(players[i].sp), i % 2 == 0);
		ck_assert(!dead(players[i].tp));
	}
	for (i = 1; i < 8; i += 2)
		join(&players[i]);
}

/* Its tid is 0 for a moment, or its memory says so: it is in the snapshot. */
TEST(live_thread_that_looks_ended)
{
	struct player player;
	int *tid;

	start(&player, NULL);
	tid = (int *)(player.tp + MU_PTHREAD_TID);
	ck_assert_int_eq(*tid, player.tid);
	*tid = 0;
	/* On an alternate stack: only its thread pointer tells. */
	add_thread(player.tid, 0, player.tp);
	walked_find();
	*tid = player.tid;
	ck_assert(!dead(player.sp));
	join(&player);
}

/* Another thread runs on the stack of an ended one. */
TEST(ended_thread_with_a_runner)
{
	struct player player;

	start(&player, NULL);
	join(&player);
	add_thread(getpid(), player.sp - 5000, mu_arch_tp());
	walked_find();
	ck_assert(!dead(player.sp));
}

/* After the join it is the program's memory again, and can hold anything. */
TEST(stack_that_the_program_brought)
{
	struct player player;
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	start(&player, stack);
	join(&player);
	add_thread(getpid(), mu_arch_sp(), mu_arch_tp());
	walked_find();
	ck_assert(!dead((uintptr_t)stack));
	ck_assert(!dead(player.sp));
}

/* The heap is not searched. */
TEST(skipped_memory)
{
	struct player player;
	struct mu_range stack;

	start(&player, NULL);
	stack = stack_of(&player);
	join(&player);
	mu_ranges_add(&walked_skip, stack);
	mu_ranges_seal(&walked_skip);
	walked_find();
	ck_assert(!dead(player.sp));
}
#endif

SUITE(.setup = walked_setup, .teardown = image_teardown);
