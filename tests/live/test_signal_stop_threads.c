/*
 * Odd threads and odd stacks, stopped by signal.
 */
#include <limits.h>
#include <sched.h>
#include <ucontext.h>

#include "ptrace/live/proc.h"
#include "tests/support/signal_stop.h"
#include "tests/support/suite.h"

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
		/* Where the thread was is not where its handler is. */
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
