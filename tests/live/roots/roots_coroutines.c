/*
 * Roots: stacks that the program switches by itself, in mapped memory and in
 * blocks, active or suspended.
 */
#include <ucontext.h>

#include "tests/support/pass/live_stacks.h"
#include "tests/support/suite.h"

static void *global;

/* A coroutine; what it runs on is in a block or mapped. */
static ucontext_t outside, inside;
static uintptr_t coroutine_hidden;
static struct worker *coroutine_worker; /* parks inside; or it swaps out */

static void
leave_coroutine(void)
{
	if (coroutine_worker != NULL)
		worker_park(coroutine_worker);
	else
		ck_assert_int_eq(swapcontext(&inside, &outside), 0);
}

static void
coroutine_holding(void)
{
	void *volatile place = NULL;

	put((void *)&place, coroutine_hidden);
	scrub();
	leave_coroutine();
	drop((void *)&place);
	scrub();
	leave_coroutine();
}

/* swapcontext() saves registers for arguments, too: no address in them. */
static void
enter_coroutine(uintptr_t hidden, size_t size, void (*body)(void))
{
	ck_assert_int_eq(getcontext(&inside), 0);
	put(&inside.uc_stack.ss_sp, hidden);
	inside.uc_stack.ss_size = size;
	inside.uc_link = &outside;
	makecontext(&inside, body, 0);
	scrub_registers();
	ck_assert_int_eq(swapcontext(&outside, &inside), 0);
}

/* Mapped, in a heap block, in an mmapped block. */
static uintptr_t
coroutine_stack(int kind, size_t *size)
{
	*size = kind == 1 ? 98304 : 262144;
	global = kind == 0 ? map_stack() : calloc(1, *size);
	ck_assert_ptr_nonnull(global);
	return mu_hide(global);
}

TEST_LOOP(coroutine_suspended, 0, 3)
{
	size_t size;
	uintptr_t stack = coroutine_stack(_i, &size);

	coroutine_hidden = block_new(72);
	enter_coroutine(stack, size, coroutine_holding);
	EXPECT_LEAKS(0);
	ck_assert_int_eq(swapcontext(&outside, &inside), 0);
	EXPECT_LOST(coroutine_hidden);
	ck_assert_int_eq(swapcontext(&outside, &inside), 0);
	block_free(coroutine_hidden);
	EXPECT_LEAKS(0);
}

/*
 * Two pages that the kernel extends downwards, with 4 MiB of room: it keeps
 * 256 pages clear of what lies below (stack_guard_gap).
 */
static char *
map_growing(void)
{
	size_t room = (size_t)4 << 20, size = 8192;
	char *below = mmap(
		 NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
	     *at = below + room - size;

	ck_assert_ptr_ne(below, MAP_FAILED);
	ck_assert_int_eq(munmap(below, room), 0);
	ck_assert_ptr_eq(mmap(at, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN |
				 MAP_STACK | MAP_FIXED,
			     -1, 0),
	    at);
	return at;
}

static void
coroutine_deep_down(void)
{
	volatile char frame[100000];
	size_t i;

	for (i = sizeof(frame); i > 0; i -= 1000)
		frame[i - 1] = 1;
	coroutine_holding();
	frame[0] = 2;
}

TEST(stack_that_grew)
{
	char *stack = map_growing();

	coroutine_hidden = block_new(72);
	enter_coroutine(mu_hide(stack), 8192, coroutine_deep_down);
	EXPECT_LEAKS(0);
	ck_assert_int_eq(swapcontext(&outside, &inside), 0);
	EXPECT_LOST(coroutine_hidden);
	ck_assert_int_eq(swapcontext(&outside, &inside), 0);
	/* The stack has grown. */
	ck_assert_int_eq(munmap(stack - 65536, 65536 + 8192), 0);
	EXPECT_LOST(coroutine_hidden);
}

static void
on_growing_coroutine(struct worker *worker)
{
	coroutine_worker = worker;
	coroutine_hidden = worker->hidden;
	enter_coroutine(mu_hide(map_growing()), 8192, coroutine_deep_down);
}

TEST(stack_that_grew_of_a_blocked_thread)
{
	expect_worker_root(on_growing_coroutine, NULL);
}

static void
on_coroutine(struct worker *worker)
{
	size_t size = *(size_t *)worker->context;

	coroutine_worker = worker;
	coroutine_hidden = worker->hidden;
	enter_coroutine(mu_hide(global), size, coroutine_holding);
}

TEST_LOOP(coroutine_of_a_blocked_thread, 0, 3)
{
	size_t size;

	coroutine_stack(_i, &size);
	expect_worker_root(on_coroutine, &size);
}

/* The thread's own stack while it runs elsewhere. */
static void
wait_on_coroutine(void)
{
	leave_coroutine();
	leave_coroutine();
}

static void *volatile *outer_place;

static void
wait_then_drop(void)
{
	leave_coroutine();
	drop((void *)outer_place);
	leave_coroutine();
}

static void
beside_coroutine(struct worker *worker)
{
	void *volatile place = NULL;

	outer_place = &place;
	coroutine_worker = worker;
	put((void *)&place, worker->hidden);
	scrub();
	enter_coroutine(
	    mu_hide(global), *(size_t *)worker->context, wait_then_drop);
}

TEST_LOOP(own_stack_beside_a_coroutine, 0, 3)
{
	size_t size;

	coroutine_stack(_i, &size);
	expect_worker_root(beside_coroutine, &size);
}

static void
coroutine_that_asks(void)
{
	void *volatile place = NULL;

	put((void *)&place, coroutine_hidden);
	EXPECT_LEAKS(0);
	drop((void *)&place);
	EXPECT_LOST(coroutine_hidden);
}

TEST_LOOP(coroutine_that_asks_itself, 0, 3)
{
	size_t size;
	uintptr_t stack = coroutine_stack(_i, &size);

	coroutine_hidden = block_new(72);
	EXPECT_LEAKS(1);
	enter_coroutine(stack, size, coroutine_that_asks);
	EXPECT_LEAKS(1);
}

/* Only stack pointers refer to the block that serves as a stack. */
static void
coroutine_on_a_lost_block(void)
{
	memset(&inside, 0, sizeof(inside));
	EXPECT_LEAKS(0);
}

TEST_LOOP(stack_block_by_stack_pointer, 1, 3)
{
	size_t size = _i == 1 ? 98304 : 262144;
	uintptr_t stack = block_new(size);

	EXPECT_LEAKS(1);
	enter_coroutine(stack, size, coroutine_on_a_lost_block);
	EXPECT_LEAKS(1);
}

static void
stay_on_lost_block(struct worker *worker)
{
	size_t size = 98304;

	coroutine_worker = worker;
	enter_coroutine(worker->hidden, size, wait_on_coroutine);
	worker_park(worker);
}

TEST(stack_block_of_a_blocked_thread)
{
	static struct worker worker = { .body = stay_on_lost_block };

	worker.hidden = block_new(98304);
	EXPECT_LEAKS(1);
	worker_start(&worker);
	memset(&inside, 0, sizeof(inside));
	EXPECT_LEAKS(0);
	worker_next(&worker);
	EXPECT_LEAKS(0);
	worker_next(&worker);
	EXPECT_LEAKS(1);
	worker_finish(&worker);
}
