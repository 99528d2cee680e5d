/*
 * Stop all threads of the own process by a signal, and release them unchanged.
 */
#include <limits.h>
#include <ucontext.h>

#include "mu/arch/registers.h"
#include "ptrace/live/proc.h"
#include "tests/support/stop/signal_stop.h"
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
	ck_assert_msg(status == MU_OK, "%s", stop_why.text);
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

/* A thread whose frame is being read does not take it away. */
TEST(held_while_read)
{
	static struct counter counter;
	unsigned long before;

	counter_start(&counter);
	ck_assert_int_eq(stop_for(PATIENCE_NS, 100 * NS_PER_MS), MU_OK);
	mu_signal_stop_begin_reading(&signal_stop);
	before = counter_value(&counter);
	while (mu_signal_stop_is_full(&signal_stop))
		mu_sys_sleep_ns(NS_PER_MS);
	mu_sys_sleep_ns(20 * NS_PER_MS);
	ck_assert_uint_eq(counter_value(&counter), before);
	mu_signal_stop_end_reading(&signal_stop);
	counter_must_go_on(&counter);
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

/*
 * Odd threads and odd stacks, stopped by signal.
 */

static struct counter counter;
static int quit, ready, done;

#if defined(__x86_64__)

/* No TLS: a handler that looks for its canary there would die. */
static void
bare_body(void *unused)
{
	(void)unused;
	mu_sys2(SYS_arch_prctl, 0x1002 /* ARCH_SET_FS */, 0);
	stop_set(&ready, mu_sys_gettid());
	while (!stop_get(&quit))
		continue;
	for (;;)
		mu_sys1(SYS_exit, 0);
}

TEST(thread_without_tls)
{
	static char stack[32768] __attribute__((aligned(16)));
	static int tid;
	int i;

	ck_assert_int_gt(mu_arch_clone(CLONE_VM | CLONE_FS | CLONE_FILES |
				 CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
				 CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
			     stack + sizeof(stack), &tid, bare_body, NULL),
	    0);
	stop_await(&ready, 1);
	for (i = 0; i < 20; i++) {
		must_signal_stop();
		ck_assert_uint_eq(signal_stop.count, 1);
		take_stopped();
		ck_assert_uint_eq(stop_snap.threads[0].tp, 0);
		release_all();
	}
	stop_set(&quit, 1);
	while (stop_get(&tid) != 0)
		sched_yield();
}

#endif

/* With an alternate stack, disarmed while it is in use or not. */
static void *
with_alternate_stack(void *flags)
{
	static char memory[65536];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) }, now;

	stack.ss_flags = (int)(intptr_t)flags;
	sigaltstack(&stack, NULL);
	stop_set(&ready, mu_sys_gettid());
	while (!stop_get(&quit)) {
		sigaltstack(NULL, &now);
		if (now.ss_sp != stack.ss_sp || now.ss_size != stack.ss_size ||
		    now.ss_flags != stack.ss_flags)
			stop_set(&done, 1);
	}
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	return &memory;
}

TEST_LOOP(alternate_stack, 0, 2)
{
	intptr_t flags = _i == 0 ? 0 : (intptr_t)(1u << 31); /* AUTODISARM */
	pthread_t thread = stop_spawn(with_alternate_stack, (void *)flags);
	const struct mu_signal_thread *stopped;
	void *memory;
	uintptr_t frame;
	int i;

	stop_await(&ready, 1);
	for (i = 0; i < 50; i++) {
		must_signal_stop();
		stopped = stop_thread(ready);
		frame = (uintptr_t)stopped->frame;
		take_stopped();
		/* The interrupted stack differs from the handler's. */
		ck_assert(stop_snap.threads[0].sp < frame ||
		    stop_snap.threads[0].sp - frame > 65536);
		release_all();
	}
	stop_set(&quit, 1);
	pthread_join(thread, &memory);
	ck_assert_int_eq(done, 0);
	ck_assert(
	    frame >= (uintptr_t)memory && frame < (uintptr_t)memory + 65536);
}

TEST(smallest_stack)
{
	pthread_attr_t attr;
	int i;

	memset(&counter, 0, sizeof(counter));
	pthread_attr_init(&attr);
	ck_assert_int_eq(
	    pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN), 0);
	ck_assert_int_eq(
	    pthread_create(&counter.thread, &attr, counter_body, &counter), 0);
	stop_await(&counter.tid, 1);
	for (i = 0; i < 20; i++) {
		must_signal_stop();
		release_all();
	}
	counter_end(&counter);
}

static ucontext_t asking, home;

static void
ask(void)
{
	must_signal_stop();
	take_stopped();
	ck_assert_uint_eq(stop_snap.num_threads, 1);
	release_all();
}

TEST(asked_by_a_coroutine)
{
	static char stack[65536];

	counter_start(&counter);
	getcontext(&asking);
	asking.uc_stack.ss_sp = stack;
	asking.uc_stack.ss_size = sizeof(stack);
	asking.uc_link = &home;
	makecontext(&asking, ask, 0);
	swapcontext(&home, &asking);
	counter_end(&counter);
}

/* The leader has ended: a zombie that stays listed and never comes. */
static void *
outlive(void *leader)
{
	int i;

	pthread_join(*(pthread_t *)leader, NULL);
	while (mu_proc_state(getpid(), getpid()) != 'Z')
		mu_sys_sleep_ns(NS_PER_MS);
	counter_start(&counter);
	for (i = 0; i < 5; i++) {
		if (stop_for(PATIENCE_NS, PATIENCE_NS) != MU_OK)
			_exit(1);
		mu_signal_stop_release(&signal_stop);
		mu_sys_restore_signals(&stop_mask);
	}
	_exit(0);
}

TEST(leader_has_ended)
{
	static pthread_t leader;
	pid_t child = fork();
	int status;

	if (child == 0) {
		leader = pthread_self();
		stop_spawn(outlive, &leader);
		pthread_exit(NULL);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

SUITE(.setup = stop_setup, .teardown = stop_teardown);
