/*
 * The signal that stops threads is never one that the program handles; signals
 * that other processes send during a stop arrive.
 */
#include <sys/resource.h>

#include "tests/support/stop/signal_stop.h"
#include "tests/support/suite.h"

static struct counter counter;
static int quit, ready, told, handled;

static void
on_program_signal(int signo)
{
	(void)signo;
	__atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
}

static void
handle(int signo)
{
	struct sigaction action = { .sa_handler = on_program_signal,
		.sa_flags = SA_RESTART };

	ck_assert_int_eq(sigaction(signo, &action, NULL), 0);
}

static void
must_use(int signo)
{
	must_signal_stop();
	ck_assert_int_eq(signal_stop.signo, signo);
	release_all();
	ck_assert_int_eq(handled, 0);
	counter_must_go_on(&counter);
}

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

/*
 * Signals that others send while threads are being stopped, by the same signal
 * or by another, are counted, not lost nor doubled. gdb holds queued ones back
 * until the user has none left (tests/stop_methods.sh).
 */
#define SENT (getenv("TESTS_GDB") == NULL)

static int counted[KERNEL_SIGNALS + 1];

static void
count_it(int signo)
{
	__atomic_add_fetch(&counted[signo], 1, __ATOMIC_SEQ_CST);
}

static void
count(int signo)
{
	struct sigaction action = { .sa_handler = count_it,
		.sa_flags = SA_RESTART };

	ck_assert_int_eq(sigaction(signo, &action, NULL), 0);
}

static int
queue_to(pid_t pid, pid_t tid, int signo)
{
	siginfo_t info = { 0 };

	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	return (int)syscall(SYS_rt_tgsigqueueinfo, pid, tid, signo, &info);
}

TEST_LOOP(queued_signals, 0, SENT)
{
	int i, k;

	count(SIGRTMIN);
	count(SIGRTMIN + 1);
	counter_start(&counter);
	for (i = 0; i < 20; i++) {
		must_signal_stop();
		for (k = 0; k < 10; k++) {
			ck_assert_int_eq(
			    queue_to(getpid(), counter.tid, SIGRTMIN), 0);
			ck_assert_int_eq(sigqueue(getpid(), SIGRTMIN + 1,
					     (union sigval) { 0 }),
			    0);
		}
		ck_assert_int_eq(counted[SIGRTMIN], i * 10);
		release_all();
		stop_await(&counted[SIGRTMIN], (i + 1) * 10);
		stop_await(&counted[SIGRTMIN + 1], (i + 1) * 10);
	}
	counter_end(&counter);
	ck_assert_int_eq(counted[SIGRTMIN], 200);
	ck_assert_int_eq(counted[SIGRTMIN + 1], 200);
}

/* Sent by another process, to the process and to one of its threads. */
static pid_t
start_storm(int signo)
{
	pid_t pid = getpid(), child = fork();

	if (child != 0)
		return child;
	for (;;) {
		kill(pid, signo);
		syscall(SYS_tgkill, pid, counter.tid, signo);
		queue_to(pid, counter.tid, signo);
		usleep(50);
	}
}

static void
end_storm(pid_t child)
{
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

/* Ignored, or by glibc's handler, as they are without us. */
TEST_LOOP(same_signal_from_others, 0, 2 * SENT)
{
	pid_t child;
	int i, signo = _i == 0 ? SIGURG : 33;

	if (signo == 33) {
		handle(SIGURG);
		handle(SIGWINCH);
	}
	counter_start(&counter);
	child = start_storm(signo);
	for (i = 0; i < 300; i++) {
		must_signal_stop();
		/*
		 * A signal that passes does not prevent us from using its
		 * number.
		 */
		release_all();
	}
	end_storm(child);
	ck_assert_int_eq(handled, 0);
	counter_end(&counter);
}

/* Signal 33 without a handler kills, also if it arrives while we use it. */
TEST_LOOP(default_action, 0, SENT)
{
	const struct mu_signal_action none = { .handler = (void *)SIG_DFL };
	pid_t child = fork();
	int status;

	if (child == 0) {
		handle(SIGURG);
		handle(SIGWINCH);
		counter_start(&counter);
		mu_sys_signal_action(33, &none, NULL);
		/* Ours alone never do. */
		for (status = 0; status < 50; status++) {
			must_use(33);
			ck_assert_int_eq(signal_stop.signo, 33);
		}
		must_signal_stop();
		syscall(SYS_tgkill, getpid(), counter.tid, 33);
		release_all();
		sleep(30);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), 33);
}

/* The queue is full: the kernel drops the cookie, or refuses. */
TEST_LOOP(no_room_in_queue, 0, SENT)
{
	struct rlimit before, none;

	counter_start(&counter);
	ck_assert_int_eq(getrlimit(RLIMIT_SIGPENDING, &before), 0);
	none = before;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_SIGPENDING, &none), 0);
	must_use(SIGURG);
	handle(SIGURG);
	handle(SIGWINCH);
	must_not_signal_stop(MU_ERR_RESOURCES, PATIENCE_NS);
	ck_assert(strstr(stop_why.text, "cannot send signal 33") != NULL);
	counter_must_go_on(&counter);
	setrlimit(RLIMIT_SIGPENDING, &before); /* check needs a timer */
	counter_end(&counter);
}

static void
begin(void)
{
	if (!SENT)
		printf("SKIPPED: signals of others: gdb holds them back\n");
}

SUITE(.begin = begin, .setup = stop_setup, .teardown = stop_teardown);
