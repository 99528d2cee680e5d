/*
 * Job control during passes: a program that is stopped stays stopped until it
 * is continued, and its parent is notified once of each change.
 */
#include <sys/ioctl.h>
#include <termios.h>

#include "tests/support/faults/transparency.h"
#include "tests/support/suite.h"

#define ROUNDS 12
#define WORKERS 3

struct shared {
	int passes, work, interrupts, ready, failed;
};

static struct shared *shared;

static void
on_interrupt(int signo)
{
	(void)signo;
	__atomic_add_fetch(&shared->interrupts, 1, __ATOMIC_SEQ_CST);
}

static __attribute__((noreturn)) void *
work(void *arg)
{
	(void)arg;
	for (;;) {
		__atomic_add_fetch(&shared->work, 1, __ATOMIC_SEQ_CST);
		usleep(100);
	}
}

/* A stop may last; but no longer than the time that a pass has. */
static _Noreturn void
pass_for_ever(int method)
{
	struct sigaction action = { .sa_handler = on_interrupt,
		.sa_flags = SA_RESTART };
	struct UnreachableMemoryInfo info = { 0 };
	pthread_t thread;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGINT, &action, NULL);
	for (i = 0; i < WORKERS; i++)
		if (pthread_create(&thread, NULL, work, NULL) != 0)
			_exit(1);
	mu_library.options.stop = transparency_methods[method].option;
	mu_library.options.timeout = 300000;
	transparency_set(&shared->ready, 1);
	for (;;) {
		if (!GetUnreachableMemory(&info, 1)) {
			fprintf(stderr, "%s\n", info.reason);
			transparency_set(&shared->failed, 1);
		}
		FreeUnreachableMemoryInfo(&info);
		__atomic_add_fetch(&shared->passes, 1, __ATOMIC_SEQ_CST);
	}
}

static void
share(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
}

/* In a separate process group. */
static pid_t
start(int method)
{
	sigset_t set;
	pid_t pid;

	share();
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		setpgid(0, 0);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		pass_for_ever(method);
	}
	transparency_await(&shared->passes, 1);
	return pid;
}

/* The next SIGCHLD says CODE of PID, and waiting says the same, once. */
static void
expect_news(pid_t pid, int code, int signo)
{
	siginfo_t info = { .si_pid = 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	ck_assert_int_eq(sigwaitinfo(&set, &info), SIGCHLD);
	ck_assert_int_eq(info.si_pid, pid);
	ck_assert_int_eq(info.si_code, code);
	ck_assert_int_eq(info.si_status, signo);
	info.si_pid = 0;
	ck_assert_int_eq(
	    waitid(P_ALL, 0, &info, WSTOPPED | WCONTINUED | WEXITED | WNOHANG),
	    0);
	ck_assert_int_eq(info.si_pid, pid);
	ck_assert_int_eq(info.si_code, code);
	ck_assert_int_eq(info.si_status, signo);
}

static void
expect_no_news(void)
{
	struct timespec now = { 0, 0 };
	siginfo_t info = { .si_pid = 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	ck_assert_int_eq(sigtimedwait(&set, &info, &now), -1);
	ck_assert_int_eq(
	    waitid(P_ALL, 0, &info, WSTOPPED | WCONTINUED | WEXITED | WNOHANG),
	    0);
	ck_assert_int_eq(info.si_pid, 0);
}

/* Long enough to run on by mistake. */
static void
expect_standstill(pid_t pid)
{
	int passes, done;

	while (transparency_state(pid, pid) != 'T')
		usleep(200);
	passes = transparency_get(&shared->passes);
	done = transparency_get(&shared->work);
	usleep(10000);
	ck_assert_int_eq(transparency_get(&shared->passes), passes);
	ck_assert_int_eq(transparency_get(&shared->work), done);
	ck_assert_int_eq(transparency_state(pid, pid), 'T');
}

static void
expect_progress(void)
{
	transparency_await(
	    &shared->passes, transparency_get(&shared->passes) + 2);
	transparency_await(&shared->work, transparency_get(&shared->work) + 2);
	ck_assert_int_eq(transparency_get(&shared->failed), 0);
}

static void
end(pid_t pid)
{
	int status;

	expect_no_news();
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}

/* The moment differs in each round, so that it falls anywhere in the pass. */
static void
let_run(int round)
{
	usleep(1000 + 437 * (unsigned)round);
}

static const int stops[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };

TEST_LOOP(case_process, 0, TRANSPARENCY_METHODS)
{
	pid_t pid = start(_i);
	int k;

	for (k = 0; k < ROUNDS; k++) {
		let_run(k);
		kill(pid, stops[k % 4]);
		expect_news(pid, CLD_STOPPED, stops[k % 4]);
		expect_standstill(pid);
		expect_no_news();
		kill(pid, SIGCONT);
		expect_news(pid, CLD_CONTINUED, SIGCONT);
		expect_progress();
	}
	end(pid);
}

/* The helpers are of the same group: they stop and go on with it. */
TEST_LOOP(case_group, 0, TRANSPARENCY_METHODS)
{
	pid_t pid = start(_i);
	int k;

	for (k = 0; k < ROUNDS; k++) {
		let_run(k);
		kill(-pid, stops[k % 4]);
		expect_news(pid, CLD_STOPPED, stops[k % 4]);
		expect_standstill(pid);
		expect_no_news();
		kill(-pid, SIGCONT);
		expect_news(pid, CLD_CONTINUED, SIGCONT);
		expect_progress();
	}
	end(pid);
}

/* SIGCONT close behind, so that it comes while some are still stopping. */
TEST_LOOP(stop_and_continue, 0, TRANSPARENCY_METHODS)
{
	pid_t pid = start(_i);
	sigset_t set;
	int k;

	for (k = 0; k < 10 * ROUNDS; k++) {
		kill(pid, stops[k % 4]);
		usleep(k % 7 * 150);
		kill(pid, SIGCONT);
		usleep(k % 5 * 400);
	}
	expect_progress();
	/* Notifications may have been merged; the last one has arrived. */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	while (sigtimedwait(&set, NULL, &(struct timespec) { 0, 0 }) > 0 ||
	    waitpid(-1, NULL, WNOHANG | WUNTRACED | WCONTINUED) > 0)
		continue;
	expect_progress();
	end(pid);
}

/* The program is the leader of a session with TERMINAL. */
static _Noreturn void
take_terminal(int method, const char *terminal)
{
	pid_t pid;
	int fd, status;

	setsid();
	fd = open(terminal, O_RDWR);
	ioctl(fd, TIOCSCTTY, 0);
	/* A leader is not stopped by keys, its group is orphaned: a job. */
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		signal(SIGTTOU, SIG_IGN);
		tcsetpgrp(fd, getpid());
		signal(SIGTTOU, SIG_DFL);
		pass_for_ever(method);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTTOU, SIG_IGN);
	for (;;) {
		if (waitpid(pid, &status, WUNTRACED) != pid ||
		    !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTSTP)
			_exit(1);
		usleep(5000);
		if (transparency_state(pid, pid) != 'T' ||
		    waitpid(-1, &status, WNOHANG | WUNTRACED) != 0)
			_exit(2);
		kill(-pid, SIGCONT);
		if (waitpid(pid, &status, WCONTINUED) != pid ||
		    !WIFCONTINUED(status))
			_exit(3);
		__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	}
}

/* ^C is handled once each, ^Z stops, like a shell's fg continues. */
TEST_LOOP(keys, 0, TRANSPARENCY_METHODS)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), k, ready;
	pid_t shell;

	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
		puts("SKIPPED: keys: no terminal can be made (/dev/pts)");
		return;
	}
	share();
	shell = fork();
	if (shell == 0)
		take_terminal(_i, ptsname(master));
	transparency_await(&shared->passes, 1);
	for (k = 1; k <= ROUNDS; k++) {
		let_run(k);
		ck_assert_int_eq(write(master, "\003", 1), 1);
		transparency_await(&shared->interrupts, k);
		ready = transparency_get(&shared->ready);
		let_run(k + 3);
		ck_assert_int_eq(write(master, "\032", 1), 1);
		transparency_await(&shared->ready, ready + 1);
		expect_progress();
		ck_assert_int_eq(shared->interrupts, k);
	}
	ck_assert_int_eq(waitpid(shell, NULL, WNOHANG), 0);
	kill(shell, SIGKILL);
	waitpid(shell, NULL, 0);
}

/*
 * Alternate signal stacks are after a pass what they were: set, disarmed by
 * themselves, in use or not there. By ptrace not a byte of them is written.
 * By signal the kernel puts the handler's frame on one that is set and free,
 * as it does for any handler that asks for it.
 */

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

#define PASSES 10
#define STACK_SIZE ((size_t)128 << 10)
#define GUARD 256 /* bytes on either side that must not be written */
#define PATTERN 0x5a
#define MARK 0x1234567890abcdefu

enum kind { NONE, PLAIN, AUTODISARM, IN_USE, IN_USE_AUTODISARM, KINDS };

struct owner {
	pthread_t thread;
	char *stack; /* GUARD bytes around it */
	enum kind kind;
	int ready, go;
	bool same, mark_kept;
	bool untouched; /* the stack has the pattern still */
};

static __thread struct owner *self;

static stack_t
look(void)
{
	stack_t stack;

	sigaltstack(NULL, &stack);
	return stack;
}

/* At rest, outside of system calls, which would show nothing else. */
static void
stay(struct owner *owner)
{
	volatile uint64_t mark = MARK;
	stack_t before = look(), after;

	transparency_set(&owner->ready, 1);
	while (!transparency_get(&owner->go))
		sched_yield();
	after = look();
	owner->same = before.ss_sp == after.ss_sp &&
	    before.ss_size == after.ss_size &&
	    before.ss_flags == after.ss_flags;
	owner->mark_kept = mark == MARK;
}

static void
on_usr1(int signo)
{
	(void)signo;
	stay(self);
}

static bool
has_pattern(const char *bytes, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (bytes[i] != PATTERN)
			return false;
	return true;
}

static void *
own(void *arg)
{
	struct owner *owner = arg;
	stack_t stack = { .ss_sp = owner->stack + GUARD,
		.ss_size = STACK_SIZE };
	bool used = owner->kind == IN_USE || owner->kind == IN_USE_AUTODISARM;

	self = owner;
	if (owner->kind == AUTODISARM || owner->kind == IN_USE_AUTODISARM)
		stack.ss_flags = (int)SS_AUTODISARM;
	if (owner->kind != NONE && sigaltstack(&stack, NULL) != 0)
		return NULL;
	if (used)
		raise(SIGUSR1);
	else
		stay(owner);
	owner->untouched = has_pattern(owner->stack + GUARD, STACK_SIZE);
	/* Back in the kernel's hands, also if it was disarmed since. */
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	return NULL;
}

static void
start_owner(struct owner *owner, enum kind kind)
{
	owner->kind = kind;
	owner->stack = mmap(NULL, STACK_SIZE + 2 * GUARD,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(owner->stack, MAP_FAILED);
	memset(owner->stack, PATTERN, STACK_SIZE + 2 * GUARD);
	transparency_spawn(&owner->thread, own, owner);
	transparency_await(&owner->ready, 1);
}

TEST_LOOP(alternate_stacks, 0, TRANSPARENCY_METHODS)
{
	struct sigaction action = { .sa_handler = on_usr1,
		.sa_flags = SA_ONSTACK };
	struct owner owners[KINDS] = { { .kind = NONE } };
	bool by_signal = transparency_methods[_i].option == MU_STOP_SIGNAL;
	int k;

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	for (k = 0; k < KINDS; k++)
		start_owner(&owners[k], (enum kind)k);
	transparency_passes(_i, PASSES);
	for (k = 0; k < KINDS; k++) {
		transparency_set(&owners[k].go, 1);
		pthread_join(owners[k].thread, NULL);
		ck_assert_msg(owners[k].same, "kind %d", k);
		ck_assert_msg(owners[k].mark_kept, "kind %d", k);
		ck_assert(has_pattern(owners[k].stack, GUARD));
		ck_assert(
		    has_pattern(owners[k].stack + GUARD + STACK_SIZE, GUARD));
	}
	ck_assert(owners[NONE].untouched);
	ck_assert_int_eq(owners[PLAIN].untouched, !by_signal);
	ck_assert_int_eq(owners[AUTODISARM].untouched, !by_signal);
}
