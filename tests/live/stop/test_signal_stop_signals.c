/* The choice of the signal that stops threads. */
#include "tests/support/stop/signal_stop_choice.h"
#include "tests/support/suite.h"

static int quit, ready, told;

/* Includes 32 and 33, which pthread_sigmask() does not change. */
static void
block(mu_sigmask mask)
{
	mu_sys4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask));
}

static void *
block_and_sleep(void *arg)
{
	block(*(const mu_sigmask *)arg);
	stop_set(&ready, mu_sys_gettid());
	while (!stop_get(&quit))
		mu_sys_sleep_ns(NS_PER_MS);
	return NULL;
}

static void
must_use_beside(int signo, mu_sigmask blocked)
{
	pthread_t thread = stop_spawn(block_and_sleep, &blocked);

	stop_await(&ready, 1);
	must_use(signo);
	stop_set(&quit, 1);
	pthread_join(thread, NULL);
}

#define BIT(signo) (1ull << ((signo)-1))

TEST(choice)
{
	counter_start(&counter);
	must_use(SIGURG);
	handle(SIGURG);
	must_use(SIGWINCH);
	handle(SIGWINCH);
	must_use(33);
	signal(SIGURG, SIG_IGN);
	must_use(SIGURG);
	counter_end(&counter);
}

TEST_LOOP(choice_beside_blocked, 0, 5)
{
	static const struct {
		mu_sigmask blocked;
		int signo;
	} cases[] = {
		{ 0, SIGURG },
		{ BIT(SIGURG), SIGWINCH },
		{ BIT(SIGURG) | BIT(SIGWINCH), 33 },
		{ ~(BIT(32) | BIT(33)), 33 },
		{ ~BIT(32), 32 },
	};

	counter_start(&counter);
	must_use_beside(cases[_i].signo, cases[_i].blocked);
	counter_end(&counter);
}

TEST(everything_blocked)
{
	mu_sigmask all = ~0ull;
	pthread_t thread;
	char name[32];

	counter_start(&counter);
	thread = stop_spawn(block_and_sleep, &all);
	stop_await(&ready, 1);
	must_not_signal_stop(MU_ERR_SIGNALS_BLOCKED, PATIENCE_NS);
	snprintf(name, sizeof(name), "thread %d ", ready);
	ck_assert_msg(strstr(stop_why.text, name) != NULL, "%s", stop_why.text);
	counter_must_go_on(&counter);
	stop_set(&quit, 1);
	pthread_join(thread, NULL);
	must_use(SIGURG);
	counter_end(&counter);
}

/* As pthread_create() and fork() do, for a longer time. */
static void *
block_at_times(void *unused)
{
	(void)unused;
	while (!stop_get(&quit)) {
		block(~0ull);
		mu_sys_sleep_ns(5 * NS_PER_MS);
		block(0);
		mu_sys_sleep_ns(NS_PER_MS);
	}
	return NULL;
}

TEST(blocked_for_moments)
{
	pthread_t thread;
	int i;

	counter_start(&counter);
	thread = stop_spawn(block_at_times, NULL);
	for (i = 0; i < 30; i++) {
		must_signal_stop();
		release_all();
	}
	stop_set(&quit, 1);
	pthread_join(thread, NULL);
	counter_end(&counter);
}

/* sigwait() unblocks what it waits for, which /proc does not show. */
static void *
wait_for_signals(void *unused)
{
	sigset_t set;
	int signo;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	stop_set(&ready, mu_sys_gettid());
	do {
		if (sigwait(&set, &signo) != 0)
			abort();
		__atomic_add_fetch(&told, 1, __ATOMIC_SEQ_CST);
	} while (signo != SIGUSR1);
	return NULL;
}

TEST(beside_sigwait)
{
	pthread_t thread = stop_spawn(wait_for_signals, NULL);
	int i;

	counter_start(&counter);
	stop_await(&ready, 1);
	for (i = 0; i < 50; i++) {
		must_use(33);
		mu_sys_sleep_ns(NS_PER_MS);
	}
	ck_assert_int_eq(told, 0);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	ck_assert_int_eq(told, 1);
	counter_end(&counter);
}

/* Started by one that has SIGURG blocked just then: it always will be. */
static void *
start_blocked(void *unused)
{
	mu_sigmask urgent = BIT(SIGURG);
	pthread_t thread;

	(void)unused;
	while (!stop_get(&quit)) {
		thread = stop_spawn(block_and_sleep, &urgent);
		mu_sys_sleep_ns(3 * NS_PER_MS);
		stop_set(&told, 1);
		(void)thread;
		if (stop_get(&ready) == 0)
			continue;
		mu_sys_sleep_ns(NS_PER_MS);
		break;
	}
	return NULL;
}

TEST(beside_newcomer)
{
	pthread_t thread;

	counter_start(&counter);
	thread = stop_spawn(start_blocked, NULL);
	while (!stop_get(&told)) {
		must_signal_stop();
		release_all();
	}
	must_use(SIGWINCH);
	stop_set(&quit, 1);
	pthread_join(thread, NULL);
	counter_end(&counter);
}

SUITE(.setup = stop_setup, .teardown = stop_teardown);
