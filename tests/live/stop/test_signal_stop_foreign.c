/*
 * What happens to signals that others send while threads are being stopped, by
 * the same signal or by another.
 */
#include <sys/resource.h>

#include "tests/support/stop/signal_stop_choice.h"
#include "tests/support/suite.h"

/* Signals that others send during a stop are counted, not lost nor doubled. */
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

TEST(queued_signals)
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
TEST_LOOP(same_signal_from_others, 0, 2)
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
TEST(default_action)
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
TEST(no_room_in_queue)
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

SUITE(.setup = stop_setup, .teardown = stop_teardown);
