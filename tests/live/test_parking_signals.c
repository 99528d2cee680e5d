/*
 * Which signal threads are parked by.
 */
#include "tests/support/parked_choice.h"
#include "tests/support/suite.h"

static int quit, ready, told;

/* Also 32 and 33, which pthread_sigmask() would leave alone. */
static void
block(mu_sigmask mask)
{
	mu_sys4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask));
}

static void *
block_and_sleep(void *arg)
{
	block(*(const mu_sigmask *)arg);
	parked_set(&ready, mu_sys_gettid());
	while (!parked_get(&quit))
		mu_sys_sleep_ns(NS_PER_MS);
	return NULL;
}

static void
must_use_beside(int signo, mu_sigmask blocked)
{
	pthread_t thread = parked_spawn(block_and_sleep, &blocked);

	parked_await(&ready, 1);
	must_use(signo);
	parked_set(&quit, 1);
	pthread_join(thread, NULL);
}

#define BIT(signo) (1ull << ((signo)-1))

START_TEST(choice)
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
END_TEST

START_TEST(choice_beside_blocked)
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
END_TEST

START_TEST(everything_blocked)
{
	mu_sigmask all = ~0ull;
	pthread_t thread;
	char name[32];

	counter_start(&counter);
	thread = parked_spawn(block_and_sleep, &all);
	parked_await(&ready, 1);
	must_not_park(MU_ERR_SIGNALS_BLOCKED, PATIENCE_NS);
	snprintf(name, sizeof(name), "thread %d ", ready);
	ck_assert_msg(strstr(why.words, name) != NULL, "%s", why.words);
	counter_must_go_on(&counter);
	parked_set(&quit, 1);
	pthread_join(thread, NULL);
	must_use(SIGURG);
	counter_end(&counter);
}
END_TEST

/* As pthread_create() and fork() do, only more of it. */
static void *
block_at_times(void *unused)
{
	(void)unused;
	while (!parked_get(&quit)) {
		block(~0ull);
		mu_sys_sleep_ns(5 * NS_PER_MS);
		block(0);
		mu_sys_sleep_ns(NS_PER_MS);
	}
	return NULL;
}

START_TEST(blocked_for_moments)
{
	pthread_t thread;
	int i;

	counter_start(&counter);
	thread = parked_spawn(block_at_times, NULL);
	for (i = 0; i < 30; i++) {
		must_park();
		unpark();
	}
	parked_set(&quit, 1);
	pthread_join(thread, NULL);
	counter_end(&counter);
}
END_TEST

/* It alone blocks what it waits for, which the kernel does not let show. */
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
	parked_set(&ready, mu_sys_gettid());
	do {
		if (sigwait(&set, &signo) != 0)
			abort();
		__atomic_add_fetch(&told, 1, __ATOMIC_SEQ_CST);
	} while (signo != SIGUSR1);
	return NULL;
}

START_TEST(beside_sigwait)
{
	pthread_t thread = parked_spawn(wait_for_signals, NULL);
	int i;

	counter_start(&counter);
	parked_await(&ready, 1);
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
END_TEST

/* Started by one that has SIGURG blocked just then: it always will be. */
static void *
start_blocked(void *unused)
{
	mu_sigmask urgent = BIT(SIGURG);
	pthread_t thread;

	(void)unused;
	while (!parked_get(&quit)) {
		thread = parked_spawn(block_and_sleep, &urgent);
		mu_sys_sleep_ns(3 * NS_PER_MS);
		parked_set(&told, 1);
		(void)thread;
		if (parked_get(&ready) == 0)
			continue;
		mu_sys_sleep_ns(NS_PER_MS);
		break;
	}
	return NULL;
}

START_TEST(beside_newcomer)
{
	pthread_t thread;

	counter_start(&counter);
	thread = parked_spawn(start_blocked, NULL);
	while (!parked_get(&told)) {
		must_park();
		unpark();
	}
	must_use(SIGWINCH);
	parked_set(&quit, 1);
	pthread_join(thread, NULL);
	counter_end(&counter);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("parking_signals");
	TCase *tc = parked_case("parking_signals");

	tcase_add_test(tc, choice);
	tcase_add_loop_test(tc, choice_beside_blocked, 0, 5);
	tcase_add_test(tc, everything_blocked);
	tcase_add_test(tc, blocked_for_moments);
	tcase_add_test(tc, beside_sigwait);
	tcase_add_test(tc, beside_newcomer);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
