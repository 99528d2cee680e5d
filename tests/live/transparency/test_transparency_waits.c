/*
 * A thread that waits for children all the time does not get the helper
 * processes of a pass, and gets each child of the program once. Exceptions are
 * __WALL and __WCLONE, which ask for children without an exit signal, as the
 * helpers are.
 */
#include <poll.h>
#include <sys/signalfd.h>

#include "tests/support/faults/transparency.h"
#include "tests/support/suite.h"

#define PASSES 15
#define CHILDREN 40
#define MAX_SEEN 4096
#define EXIT_STATUS 7 /* of the program's own children */

/* The child that was waited for, the waiting thread and the call. */
struct waiter {
	pid_t (*wait)(int *status);
	pthread_t thread;
	bool walls;   /* it may see children without an exit signal */
	int stopping; /* ECHILD is the end */
	int own, foreign, strange;
	pid_t seen[MAX_SEEN];
};

static int sigchlds, created, stop_forking;
static pid_t born[MAX_SEEN];

static void
on_sigchld(int signo)
{
	(void)signo;
	__atomic_add_fetch(&sigchlds, 1, __ATOMIC_SEQ_CST);
}

static pid_t
by_waitpid(int *status)
{
	return waitpid(-1, status, 0);
}

static pid_t
by_polling(int *status)
{
	return wait4(-1, status, WNOHANG | WUNTRACED | WCONTINUED, NULL);
}

static pid_t
by_waitid(int *status)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED) != 0)
		return -1;
	*status = info.si_code == CLD_EXITED ? info.si_status << 8 : -1;
	return info.si_pid;
}

static pid_t
by_wall(int *status)
{
	return waitpid(-1, status, __WALL);
}

static pid_t
by_wclone(int *status)
{
	pid_t pid = waitpid(-1, status, __WCLONE | WNOHANG);

	return pid == -1 && errno == ECHILD ? waitpid(-1, status, WNOHANG)
					    : pid;
}

static const struct {
	pid_t (*wait)(int *status);
	bool walls;
} ways[] = {
	{ by_waitpid, false },
	{ by_polling, false },
	{ by_waitid, false },
	{ by_wall, true },
	{ by_wclone, true },
};

#define WAYS ((int)(sizeof(ways) / sizeof(ways[0])))

/* Own children end with EXIT_STATUS, the helpers of a pass with 0. */
static void
note(struct waiter *waiter, pid_t pid, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_STATUS &&
	    waiter->own < MAX_SEEN)
		waiter->seen[waiter->own++] = pid;
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		waiter->foreign++;
	else
		waiter->strange++;
}

static void *
wait_for_ever(void *arg)
{
	struct waiter *waiter = arg;
	int status;
	pid_t pid;

	for (;;) {
		status = 0;
		pid = waiter->wait(&status);
		if (pid > 0)
			note(waiter, pid, status);
		else if (pid < 0 && errno == ECHILD &&
		    transparency_get(&waiter->stopping))
			return NULL;
		else if (pid < 0 && errno != ECHILD)
			waiter->strange++;
		else
			sched_yield();
	}
}

static pid_t
bear(int status)
{
	pid_t pid = fork();

	/* First: check has a mutex that another thread may hold. */
	if (pid == 0)
		_exit(status);
	ck_assert_int_ge(pid, 0);
	return pid;
}

static void *
fork_often(void *arg)
{
	int k;

	(void)arg;
	for (k = 0; k < CHILDREN || !transparency_get(&stop_forking); k++) {
		if (k < MAX_SEEN)
			born[k] = bear(EXIT_STATUS);
		transparency_set(&created, k + 1);
		usleep(2000);
	}
	return NULL;
}

/* Lives until the pipe's other end is closed: waits block until then. */
static pid_t
keep_a_child(int ends[2])
{
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) == 0 ? EXIT_STATUS : 1);
	}
	close(ends[0]);
	return pid;
}

static int
compare(const void *a, const void *b)
{
	return *(const pid_t *)a - *(const pid_t *)b;
}

static void
expect_each_once(struct waiter *waiter, pid_t kept)
{
	int count = created;

	born[count++] = kept;
	qsort(born, (size_t)count, sizeof(*born), compare);
	qsort(waiter->seen, (size_t)waiter->own, sizeof(*born), compare);
	ck_assert_int_eq(waiter->own, count);
	ck_assert_mem_eq(waiter->seen, born, (size_t)count * sizeof(*born));
	ck_assert_int_eq(waiter->strange, 0);
	if (!waiter->walls)
		ck_assert_int_eq(waiter->foreign, 0);
	/* A wait with __WALL sees at most one end of each helper. */
	ck_assert_int_le(waiter->foreign, 2 * PASSES);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

TEST_LOOP(each_child_once, 0, WAYS *TRANSPARENCY_METHODS)
{
	static struct waiter waiter;
	int method = _i / WAYS, ends[2];
	pthread_t forker;
	pid_t kept;

	signal(SIGCHLD, on_sigchld);
	waiter.wait = ways[_i % WAYS].wait;
	waiter.walls = ways[_i % WAYS].walls;
	kept = keep_a_child(ends);
	transparency_spawn(&waiter.thread, wait_for_ever, &waiter);
	transparency_spawn(&forker, fork_often, NULL);
	transparency_await(&created, 1);
	transparency_passes(method, PASSES);
	transparency_set(&stop_forking, 1);
	pthread_join(forker, NULL);
	transparency_set(&waiter.stopping, 1);
	close(ends[1]);
	pthread_join(waiter.thread, NULL);
	expect_each_once(&waiter, kept);
	ck_assert_int_ge(sigchlds, 1);
	ck_assert_int_le(sigchlds, created + 1);
}

static __attribute__((noreturn)) void *
sit_around(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

/* Orphans come to a subreaper; those of a pass are none. */
TEST_LOOP(orphans_once, 0, TRANSPARENCY_METHODS)
{
	int subreaper = 0, status, k, orphans = 0;
	pthread_t thread;
	pid_t pid;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	transparency_spawn(&thread, sit_around, NULL);
	for (k = 0; k < PASSES; k++) {
		pid = fork();
		if (pid == 0) {
			if (fork() == 0)
				_exit(EXIT_STATUS);
			_exit(EXIT_STATUS);
		}
		transparency_pass(_i);
	}
	while (waitpid(-1, &status, 0) > 0) {
		ck_assert(WIFEXITED(status));
		ck_assert_int_eq(WEXITSTATUS(status), EXIT_STATUS);
		orphans++;
	}
	ck_assert_int_eq(errno, ECHILD);
	ck_assert_int_eq(orphans, 2 * PASSES);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	ck_assert_int_eq(prctl(PR_GET_CHILD_SUBREAPER, &subreaper), 0);
	ck_assert_int_eq(subreaper, 1);
}

/* In the child: nothing comes from its parent until the pipe ends. */
static _Noreturn void
notice_nothing(int fd)
{
	pid_t parent = getppid();
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	if (read(fd, &byte, 1) != 0 || getppid() != parent)
		_exit(1);
	/* glibc 2.31 leaves what the kernel has no signals for, and asks it. */
	sigemptyset(&all);
	sigpending(&all);
	_exit(sigisemptyset(&all) ? EXIT_STATUS : 2);
}

TEST_LOOP(children_see_nothing, 0, TRANSPARENCY_METHODS)
{
	int ends[2], status;
	pthread_t thread;
	pid_t pid;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		notice_nothing(ends[0]);
	}
	transparency_spawn(&thread, sit_around, NULL);
	transparency_passes(_i, PASSES);
	close(ends[1]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, EXIT_STATUS << 8);
}

/* No pass sends SIGCHLD, however a program receives it. */

static void
make_child(void)
{
	pid_t pid = fork();

	/* First: check has a mutex that another thread may hold. */
	if (pid == 0)
		_exit(0);
	ck_assert_int_ge(pid, 0);
}

static void *
fork_unseen(void *arg)
{
	(void)arg;
	while (transparency_get(&created) < CHILDREN ||
	    !transparency_get(&stop_forking)) {
		make_child();
		__atomic_add_fetch(&created, 1, __ATOMIC_SEQ_CST);
		usleep(2000);
	}
	return NULL;
}

/* The kernel has none, pending or delivered, however it is to be taken. */
static void
passes_without_sigchld(int method, bool other)
{
	pthread_t thread;

	if (other)
		transparency_spawn(&thread, sit_around, NULL);
	transparency_passes(method, PASSES);
	ck_assert_int_eq(sigchlds, 0);
}

TEST_LOOP(no_sigchld_handled, 0, TRANSPARENCY_METHODS)
{
	signal(SIGCHLD, on_sigchld);
	passes_without_sigchld(_i, true);
}

static void
block_sigchld(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, set, NULL), 0);
}

TEST_LOOP(no_sigchld_pending, 0, TRANSPARENCY_METHODS)
{
	struct pollfd look = { .events = POLLIN };
	sigset_t set;

	block_sigchld(&set);
	look.fd = signalfd(-1, &set, SFD_CLOEXEC);
	passes_without_sigchld(_i, true);
	ck_assert_int_eq(poll(&look, 1, 0), 0);
	sigpending(&set);
	ck_assert_int_eq(sigismember(&set, SIGCHLD), 0);
	/* The SIGCHLD of a child is pending. */
	make_child();
	ck_assert_int_eq(poll(&look, 1, 60000), 1);
}

static __attribute__((noreturn)) void *
take_sigchld(void *arg)
{
	siginfo_t info;

	for (;;)
		if (sigwaitinfo(arg, &info) == SIGCHLD)
			__atomic_add_fetch(&sigchlds, 1, __ATOMIC_SEQ_CST);
}

TEST_LOOP(no_sigchld_waited_for, 0, TRANSPARENCY_METHODS)
{
	pthread_t thread;
	sigset_t set;

	block_sigchld(&set);
	transparency_spawn(&thread, take_sigchld, &set);
	passes_without_sigchld(_i, false);
	make_child();
	transparency_await(&sigchlds, 1);
}

/* Children that leave no zombie: waits last until there are none. */
TEST_LOOP(no_child_to_wait_for, 0, 2 * TRANSPARENCY_METHODS)
{
	bool ignored = _i / TRANSPARENCY_METHODS == 0;
	struct sigaction action = { .sa_handler =
					ignored ? SIG_IGN : on_sigchld,
		.sa_flags = SA_RESTART | (ignored ? 0 : SA_NOCLDWAIT) };
	struct sigaction after;
	pthread_t forker;

	ck_assert_int_eq(sigaction(SIGCHLD, &action, NULL), 0);
	passes_without_sigchld(_i % TRANSPARENCY_METHODS, true);
	transparency_spawn(&forker, fork_unseen, NULL);
	transparency_passes(_i % TRANSPARENCY_METHODS, PASSES);
	transparency_set(&stop_forking, 1);
	pthread_join(forker, NULL);
	ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
	ck_assert_int_eq(errno, ECHILD);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	ck_assert_int_eq(sigaction(SIGCHLD, NULL, &after), 0);
	ck_assert(after.sa_handler == action.sa_handler &&
	    ((after.sa_flags ^ action.sa_flags) & SA_NOCLDWAIT) == 0);
	ck_assert_int_le(sigchlds, created);
}

/*
 * A thread that waits for signals gets none of ours, whatever signals these
 * are. In sigwait() they do not show as blocked, and a handler is not asked.
 */

static int taken;

static void
fill(sigset_t *set, int kind)
{
	sigemptyset(set);
	sigaddset(set, SIGURG);
	if (kind > 0)
		sigaddset(set, SIGWINCH);
	if (kind > 1)
		sigfillset(set); /* but for 32 and 33, says libc */
}

/* The mask is empty otherwise: only in the call are they blocked, or not. */
static __attribute__((noreturn)) void *
take(void *arg)
{
	sigset_t set;

	fill(&set, *(const int *)arg);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (;;)
		if (sigwaitinfo(&set, NULL) > 0)
			__atomic_add_fetch(&taken, 1, __ATOMIC_SEQ_CST);
}

TEST_LOOP(waiting, 0, 3 * TRANSPARENCY_METHODS)
{
	int kind = _i / TRANSPARENCY_METHODS;
	pthread_t thread;

	transparency_spawn(&thread, take, &kind);
	transparency_passes(_i % TRANSPARENCY_METHODS, PASSES);
	ck_assert_int_eq(taken, 0);
	/* It gets the program's own children. */
	pthread_kill(thread, SIGURG);
	transparency_await(&taken, 1);
	ck_assert_int_eq(taken, 1);
}

TEST_LOOP(descriptor, 0, 3 * TRANSPARENCY_METHODS)
{
	struct pollfd look = { .events = POLLIN };
	int kind = _i / TRANSPARENCY_METHODS;
	pthread_t thread;
	sigset_t set;

	fill(&set, kind);
	/* Before the thread, which inherits it. */
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	look.fd = signalfd(-1, &set, SFD_CLOEXEC);
	transparency_spawn(&thread, take, &kind);
	transparency_passes(_i % TRANSPARENCY_METHODS, PASSES);
	ck_assert_int_eq(taken, 0);
	ck_assert_int_eq(poll(&look, 1, 0), 0);
}
