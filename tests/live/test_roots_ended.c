/*
 * Where pointers live, and do not live any more: what threads leave behind
 * that ended.
 */
#include "tests/support/live_stacks.h"
#include "tests/support/suite.h"

static void *global;
static __thread void *tls_slot;

static void
in_static_tls(struct worker *worker)
{
	put(&tls_slot, worker->hidden);
	scrub();
	worker_park(worker);
	drop(&tls_slot);
	worker_park(worker);
}

/* What threads leave behind, deeper than they stand now. */
static __attribute__((noinline)) void
leave_frame(uintptr_t hidden)
{
	void *volatile frame[512];
	size_t i;

	for (i = 0; i < 256; i++)
		put((void *)&frame[i], hidden);
}

static int may_end;

static __attribute__((noinline)) void
leave_frames_and_wait(uintptr_t hidden)
{
	void *volatile place = NULL;

	put((void *)&place, hidden);
	leave_frame(hidden);
	while (__atomic_load_n(&may_end, __ATOMIC_SEQ_CST) == 0)
		sched_yield();
}

static void *
end_by_return(void *arg)
{
	leave_frames_and_wait((uintptr_t)arg);
	return NULL;
}

static void *
end_by_exit(void *arg)
{
	leave_frames_and_wait((uintptr_t)arg);
	pthread_exit(NULL);
}

/*
 * glibc keeps the stacks for the next threads. _i: so many other threads,
 * which live on, have their stacks among them.
 */
TEST_LOOP(stack_of_an_ended_thread, 0, 5)
{
	static struct worker workers[4];
	uintptr_t block = block_new(72);
	pthread_t threads[8];
	int i, living = _i;

	for (i = 0; i < 8; i++) {
		pthread_create(&threads[i], NULL,
		    i % 2 == 0 ? end_by_return : end_by_exit, (void *)block);
		if (i >= living)
			continue;
		workers[i].body = in_static_tls;
		workers[i].hidden = block_new(72);
		worker_start(&workers[i]);
	}
	__atomic_store_n(&may_end, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	EXPECT_LEAKS(1);
	for (i = 0; i < living; i++)
		worker_next(&workers[i]);
	EXPECT_LEAKS((size_t)living + 1);
	for (i = 0; i < living; i++)
		worker_finish(&workers[i]);
	EXPECT_LEAKS((size_t)living + 1);
}

static pid_t detached_tid;

static void *
end_detached(void *arg)
{
	__atomic_store_n(&detached_tid, gettid(), __ATOMIC_SEQ_CST);
	return end_by_return(arg);
}

TEST(stack_of_a_detached_thread)
{
	uintptr_t block = block_new(72);
	pthread_t thread;

	pthread_create(&thread, NULL, end_detached, (void *)block);
	pthread_detach(thread);
	while (__atomic_load_n(&detached_tid, __ATOMIC_SEQ_CST) == 0)
		sched_yield();
	may_end = 1;
	while (thread_state(detached_tid) != 0)
		sched_yield();
	EXPECT_LOST(block);
}

/*
 * Its thread has it: its own, and while the thread lives struct pthread. Joined
 * or not, once it has ended nothing has.
 */
static int argument_seen;

static void *
drop_argument(void *arg)
{
	(void)arg;
	__atomic_store_n(&detached_tid, gettid(), __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&argument_seen, __ATOMIC_SEQ_CST) == 0)
		sched_yield();
	return NULL;
}

static __attribute__((noinline)) pthread_t
start_with(uintptr_t hidden)
{
	pthread_t thread;

	ck_assert_int_eq(
	    pthread_create(&thread, NULL, drop_argument, mu_reveal(hidden)), 0);
	return thread;
}

TEST_LOOP(argument_of_a_thread, 0, 2)
{
	uintptr_t block = block_new(72);
	pthread_t thread = start_with(block);

	EXPECT_LEAKS(0);
	if (_i == 1)
		pthread_detach(thread);
	while (__atomic_load_n(&detached_tid, __ATOMIC_SEQ_CST) == 0)
		sched_yield();
	__atomic_store_n(&argument_seen, 1, __ATOMIC_SEQ_CST);
	while (thread_state(detached_tid) != 0)
		sched_yield();
	EXPECT_LOST(block);
	if (_i == 0)
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
	EXPECT_LOST(block);
}

static pid_t result_tid;

static void *
end_with_result(void *arg)
{
	__atomic_store_n(&result_tid, gettid(), __ATOMIC_SEQ_CST);
	return mu_reveal((uintptr_t)arg);
}

static __attribute__((noinline)) uintptr_t
join(pthread_t thread)
{
	void *result = NULL;

	ck_assert_int_eq(pthread_join(thread, &result), 0);
	return mu_hide(result);
}

/* Held until it is joined; then only the joining thread has it. */
TEST(result_of_an_ended_thread)
{
	uintptr_t block = block_new(72);
	pthread_t thread;

	ck_assert_int_eq(
	    pthread_create(&thread, NULL, end_with_result, (void *)block), 0);
	while (__atomic_load_n(&result_tid, __ATOMIC_SEQ_CST) == 0 ||
	    thread_state(result_tid) != 0)
		sched_yield();
	EXPECT_LEAKS(0);
	ck_assert_uint_eq(join(thread), block);
	EXPECT_LOST(block);
}

/* The leader ends, another thread asks: a zombie is no thread. */
static void *
ask_without_leader(void *arg)
{
	uintptr_t block = (uintptr_t)arg;
	struct UnreachableMemoryInfo info = { 0 };

	while (thread_state(getpid()) != 'Z')
		sched_yield();
	scrub();
	GetUnreachableMemory(&info, 0);
	put(&global, block);
	if (info.status != MEMUNREACHABLE_COMPLETE || info.num_leaks != 1)
		fprintf(stderr, "%s: %s, %zu leaks\n",
		    memunreachable_status_name(info.status), info.reason,
		    info.num_leaks);
	_exit(info.status == MEMUNREACHABLE_COMPLETE && info.num_leaks == 1
		? 0
		: 1 + info.status);
}

TEST(main_thread_ended)
{
	uintptr_t block = block_new(72);
	pthread_t thread;

	pthread_create(&thread, NULL, ask_without_leader, (void *)block);
	pthread_exit(NULL);
}
