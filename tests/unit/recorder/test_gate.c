/*
 * malloc_disable(), malloc_enable() and malloc_iterate(), and what must not
 * deadlock. The entry points are simulated: gate_wait() stands for an
 * allocation.
 */
#include <malloc.h>

#include "lib/malloc_debug/shadow/gate.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/state/state.h"
#include "memunreachable/malloc_debug.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/recorder/recorded_blocks.h"
#include "tests/support/suite.h"

static int passed;

static void *
allocate(void *arg)
{
	gate_wait();
	__atomic_fetch_add(&passed, 1, __ATOMIC_ACQ_REL);
	return arg;
}

static int
passed_by_now(void)
{
	usleep(100000);
	return __atomic_load_n(&passed, __ATOMIC_ACQUIRE);
}

TEST(others_wait)
{
	pthread_t threads[3];
	int i;

	malloc_disable();
	ck_assert_int_ne(gate_closed, 0);
	gate_wait(); /* one's own */
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, allocate, NULL);
	ck_assert_int_eq(passed_by_now(), 0);
	malloc_enable();
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(passed, 3);
	ck_assert_int_eq(gate_closed, 0);
}

TEST(nests)
{
	pthread_t thread;

	malloc_disable();
	malloc_disable();
	pthread_create(&thread, NULL, allocate, NULL);
	malloc_enable();
	ck_assert_int_eq(passed_by_now(), 0);
	malloc_enable();
	pthread_join(thread, NULL);
	/* More than there were disables: nothing. */
	malloc_enable();
	ck_assert_int_eq(gate_closed, 0);
	malloc_disable();
	ck_assert_int_ne(gate_closed, 0);
	malloc_enable();
}

TEST(without_options)
{
	recorder_options.tracking = false;
	malloc_disable();
	ck_assert_int_eq(gate_closed, 0);
	malloc_enable();
}

static void *
disable_and_enable(void *arg)
{
	int i;

	for (i = 0; i < 2000; i++) {
		malloc_disable();
		ck_assert_int_eq(
		    __atomic_fetch_add(&passed, 1, __ATOMIC_ACQ_REL), 0);
		__atomic_fetch_sub(&passed, 1, __ATOMIC_ACQ_REL);
		malloc_enable();
		gate_wait();
	}
	return arg;
}

/* Android's malloc_disable_deadlock. */
TEST(one_at_a_time)
{
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, disable_and_enable, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(gate_closed, 0);
}

static void *
disable_and_end(void *arg)
{
	malloc_disable();
	return arg;
}

TEST(thread_that_ended_disabled)
{
	struct captured_stderr captured;
	pthread_t thread;
	time_t before = time(NULL);

	captured_stderr_begin(&captured);
	pthread_create(&thread, NULL, disable_and_end, NULL);
	pthread_join(thread, NULL);
	gate_wait();
	ck_assert_ptr_nonnull(strstr(captured_stderr_end(&captured),
	    " has ended: the thread is gone\n"));
	ck_assert_int_eq(gate_closed, 0);
	ck_assert_int_le(time(NULL) - before, 2);
}

/* The one waits for the other, which waits for memory. */
TEST(deadlock_ends_in_ten_seconds)
{
	struct captured_stderr captured;
	pthread_t thread;
	time_t before = time(NULL);

	captured_stderr_begin(&captured);
	malloc_disable();
	pthread_create(&thread, NULL, allocate, NULL);
	pthread_join(thread, NULL);
	malloc_enable();
	ck_assert_ptr_nonnull(strstr(captured_stderr_end(&captured),
	    " has ended: others have waited for 10 s\n"));
	ck_assert_int_le(time(NULL) - before, 14);
	ck_assert_int_eq(gate_closed, 0);
}

static void *
fork_in_thread(void *arg)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		gate_fork_child();
		gate_wait();
		_exit(gate_closed != 0);
	}
	waitpid(child, &status, 0);
	*(int *)arg = status;
	return NULL;
}

TEST(child_of_another_thread)
{
	pthread_t thread;
	int status = -1;

	malloc_disable();
	pthread_create(&thread, NULL, fork_in_thread, &status);
	pthread_join(thread, NULL);
	malloc_enable();
	ck_assert_int_eq(status, 0);
}

TEST(child_of_the_thread)
{
	pthread_t thread;
	pid_t child;
	int status;

	malloc_disable();
	child = fork();
	if (child == 0) {
		gate_fork_child();
		gate_wait();
		pthread_create(&thread, NULL, allocate, NULL);
		if (passed_by_now() != 0)
			_exit(1);
		malloc_enable();
		pthread_join(thread, NULL);
		_exit(passed != 1 || gate_closed != 0);
	}
	malloc_enable();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

static uintptr_t seen[16];
static size_t seen_sizes[16], seen_count;

static void
see(uintptr_t base, size_t size, void *arg)
{
	ck_assert_ptr_eq(arg, &seen);
	ck_assert_int_ne(gate_closed, 0);
	free(malloc(10));
	ck_assert_uint_lt(seen_count, 16);
	seen[seen_count] = base;
	seen_sizes[seen_count++] = size;
}

/* Real blocks, as they are asked for their usable sizes. */
TEST(iterate)
{
	uintptr_t blocks[4], swap;
	size_t i, j;

	for (i = 0; i < 4; i++) {
		blocks[i] = (uintptr_t)malloc(101);
		ck_assert(live_put((void *)blocks[i], 101,
		    mu_shadow_word(MU_STACK_OFF, MU_BLOCK_MALLOC)));
	}
	for (i = 0; i < 4; i++)
		for (j = i + 1; j < 4; j++)
			if (blocks[j] < blocks[i]) {
				swap = blocks[i];
				blocks[i] = blocks[j];
				blocks[j] = swap;
			}
	ck_assert_int_eq(malloc_iterate(0, SIZE_MAX, see, &seen), 0);
	ck_assert_uint_eq(seen_count, 4);
	for (i = 0; i < 4; i++) {
		ck_assert_uint_eq(seen[i], blocks[i]);
		ck_assert_uint_eq(seen_sizes[i], 104);
	}
	/* The range is honoured; its end is not part of it. */
	seen_count = 0;
	malloc_iterate(blocks[1], blocks[3] - blocks[1], see, &seen);
	ck_assert_uint_eq(seen_count, 2);
	ck_assert_uint_eq(seen[0], blocks[1]);
	seen_count = 0;
	malloc_iterate(blocks[3] + 1, SIZE_MAX, see, &seen);
	malloc_iterate(blocks[3], 0, see, &seen);
	ck_assert_uint_eq(seen_count, 0);
	/* Between disable and enable, as it is meant. */
	malloc_disable();
	malloc_iterate(blocks[0], 1, see, &seen);
	ck_assert_int_ne(gate_closed, 0);
	malloc_enable();
	ck_assert_uint_eq(seen_count, 1);
	ck_assert_int_eq(gate_closed, 0);
	for (i = 0; i < 4; i++) {
		live_take((void *)blocks[i]);
		free((void *)blocks[i]);
	}
}

TEST(not_tracking)
{
	recorder_options.tracking = false;
	errno = 0;
	ck_assert_int_eq(malloc_iterate(0, SIZE_MAX, see, &seen), -1);
	ck_assert_int_eq(errno, ENOTSUP);
	ck_assert_uint_eq(seen_count, 0);
}

static void
begin(void)
{
	made_begin();
	passed = 0;
	seen_count = 0;
}

SUITE(.setup = begin, .teardown = made_end);
