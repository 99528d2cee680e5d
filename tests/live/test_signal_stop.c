/*
 * Stopping all threads of the own process by a signal, and letting go without
 * a trace.
 */
#include "mu/arch/registers.h"
#include "tests/support/signal_stop.h"
#include "tests/support/suite.h"

static const int thread_counts[] = { 1, 2, 10, 1024 };
static int quit, started, ended;
static pid_t idle_tids[1024];

static void *
idle(void *index)
{
	int i = (int)(intptr_t)index;

	idle_tids[i] = mu_sys_gettid();
	__atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
	while (!stop_get(&quit))
		mu_sys_futex_wait(&quit, 0, FUTEX_PRIVATE_FLAG,
		    mu_sys_now_ns() + PATIENCE_NS);
	return NULL;
}

static void
end_idle(pthread_t *threads, int count)
{
	int i;

	stop_set(&quit, 1);
	mu_sys_futex_wake(&quit, INT32_MAX, FUTEX_PRIVATE_FLAG);
	for (i = 0; i < count; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

static void
start_idle(pthread_t *threads, int count)
{
	intptr_t i;

	for (i = 0; i < count; i++)
		threads[i] = stop_spawn(idle, (void *)i);
	stop_await(&started, count);
}

TEST(stop_no_thread)
{
	must_signal_stop();
	ck_assert_uint_eq(signal_stop.count, 0);
	ck_assert_uint_eq(signal_stop.begin_ns, 0);
	take_stopped();
	ck_assert_uint_eq(stop_snap.num_threads, 0);
	ck_assert_uint_gt(stop_snap.num_mappings, 5);
	release_all();
}

TEST(release_nothing)
{
	struct mu_signal_stop nothing = { 0 };

	ck_assert(mu_signal_stop_release(&nothing));
}

TEST_LOOP(stop_some, 0, 4)
{
	static pthread_t threads[1024];
	int i, k, count = thread_counts[_i];

	start_idle(threads, count);
	must_signal_stop();
	ck_assert_uint_eq(signal_stop.count, (size_t)count);
	take_stopped();
	ck_assert_uint_eq(stop_snap.num_threads, (size_t)count);
	for (i = 0; i < count; i++) {
		struct mu_thread *thread = &stop_snap.threads[i];

		for (k = 0; idle_tids[k] != thread->tid; k++)
			ck_assert_int_lt(k, count);
		/* glibc's: pthread_t is the thread pointer on x86-64. */
		if (MU_PRSTATUS_TP >= 0)
			ck_assert_uint_eq(thread->tp, (uintptr_t)threads[k]);
		ck_assert(thread->sp < (uintptr_t)threads[k] &&
		    (uintptr_t)threads[k] - thread->sp < 64 << 10);
		ck_assert_uint_gt(thread->num_values, 2);
	}
	release_all();
	end_idle(threads, count);
}

TEST(counters_stand_still)
{
	static struct counter counters[4];
	unsigned long before[4];
	int i, round;

	for (i = 0; i < 4; i++)
		counter_start(&counters[i]);
	for (round = 0; round < 20; round++) {
		must_signal_stop();
		for (i = 0; i < 4; i++)
			before[i] = counter_value(&counters[i]);
		mu_sys_sleep_ns(5 * NS_PER_MS);
		for (i = 0; i < 4; i++)
			ck_assert_uint_eq(
			    counter_value(&counters[i]), before[i]);
		release_all();
		for (i = 0; i < 4; i++)
			counter_must_go_on(&counters[i]);
	}
	for (i = 0; i < 4; i++)
		counter_end(&counters[i]);
}

static void *
short_life(void *arg)
{
	if (arg != NULL)
		sched_yield();
	__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void *
start_for_ever(void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	while (!stop_get(&quit))
		if (pthread_create(&thread, &attr, short_life, arg) != 0)
			sched_yield();
	return NULL;
}

/* Threads begin and end all the time, also those that are sent the signal. */
TEST(thread_churn)
{
	pthread_t threads[3];
	int i, created;

	for (i = 0; i < 3; i++)
		threads[i] =
		    stop_spawn(start_for_ever, (void *)(intptr_t)(i % 2));
	for (i = 0; i < stop_rounds(200); i++) {
		must_signal_stop();
		ck_assert_uint_ge(signal_stop.count, 3);
		created = stop_get(&ended);
		take_stopped();
		ck_assert_uint_ge(stop_snap.num_threads, 3);
		ck_assert_int_eq(stop_get(&ended), created);
		release_all();
		mu_arena_close(&stop_arena);
		stop_await(&ended, created + 5);
	}
	stop_set(&quit, 1);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

TEST(no_memory)
{
	static pthread_t threads[200];
	enum mu_status status = MU_ERR_NO_MEMORY;
	size_t n;

	start_idle(threads, 200);
	for (n = 1; n < 100 && status == MU_ERR_NO_MEMORY; n++) {
		stop_arena.fail_at = n;
		status = stop_for(PATIENCE_NS, PATIENCE_NS);
		if (status == MU_OK)
			release_all();
		stop_arena.fail_at = 0;
		mu_arena_close(&stop_arena);
	}
	ck_assert_msg(status == MU_OK, "%s", stop_why.words);
	ck_assert_uint_gt(n, 4);
	end_idle(threads, 200);
}

/*
 * A thread that is not released continues by itself, and what was seen does not
 * count.
 */
TEST(never_released)
{
	static struct counter counter;
	unsigned long before;

	counter_start(&counter);
	ck_assert_int_eq(stop_for(PATIENCE_NS, 300 * NS_PER_MS), MU_OK);
	ck_assert(mu_signal_stop_is_full(&signal_stop));
	before = counter_value(&counter);
	mu_sys_sleep_ns(20 * NS_PER_MS);
	ck_assert_uint_eq(counter_value(&counter), before);
	counter_must_go_on(&counter);
	ck_assert(!mu_signal_stop_is_full(&signal_stop));
	ck_assert_int_eq(
	    stop_thread(counter.tid)->state, MU_SIGNAL_THREAD_LEFT);
	release_all();
	must_signal_stop();
	release_all();
	counter_end(&counter);
}

/* The process is stopped in the middle, and continues on SIGCONT. */
TEST(stopped_in_the_middle)
{
	static struct counter counters[2];
	pid_t child, pid = getpid();
	int i, status;

	counter_start(&counters[0]);
	counter_start(&counters[1]);
	child = fork();
	if (child == 0) {
		for (i = 0; i < 30; i++) {
			kill(pid, SIGSTOP);
			usleep(3000);
			kill(pid, SIGCONT);
			usleep(3000 + 100 * i);
		}
		_exit(0);
	}
	do {
		must_signal_stop();
		release_all();
	} while (waitpid(child, &status, WNOHANG) == 0);
	ck_assert_int_eq(status, 0);
	counter_end(&counters[0]);
	counter_end(&counters[1]);
}

SUITE(.setup = stop_setup, .teardown = stop_teardown);
