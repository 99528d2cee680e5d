/*
 * Find out in which system calls a pass is visible: a thread waits in each, and
 * is interrupted by a handler of the program with SA_RESTART, by a pass with
 * ptrace, by one with the signal, and by a check from outside, for which that
 * thread makes the copy.
 *
 * The rule is that no pass shows in a call where the program's own handler
 * would not. TRANSPARENCY_TABLE=1 prints what was measured.
 */
#include "lib/check/check.h"
#include "tests/support/hide.h"
#include "tests/support/stop/blocking_calls.h"
#include "tests/support/suite.h"

enum effect {
	STAYS, /* sits on, or was restarted by the kernel */
	EINTR_SEEN,
	CUT, /* returns early with what there was */
	OTHER,
	UNKNOWN,
};

static const char *const effect_names[] = { "-", "EINTR", "short", "other",
	"?" };

enum { BY_HANDLER, BY_PASS, BY_SIGNAL, BY_CHECK, DISTURBANCES };

struct row {
	const char *name;
	bool (*get)(void);
	long (*call)(void);
	enum effect handler; /* by the signal the same */
	enum effect ptrace;
};

static const struct row rows[] = {
	{ "read: pipe", get_pipe, sit_read, STAYS, STAYS },
	{ "read: socket", get_sockets, sit_read, STAYS, STAYS },
	{ "read: terminal", get_terminal, sit_read, STAYS, STAYS },
	{ "read: eventfd", get_eventfd, sit_read, STAYS, STAYS },
	{ "read: inotify", get_inotify, sit_read, STAYS, STAYS },
	{ "read: signalfd", get_signalfd, sit_read, STAYS, STAYS },
	{ "read: timerfd", get_timerfd, sit_read, STAYS, STAYS },
	{ "open: FIFO", get_fifo, sit_fifo, STAYS, STAYS },
	{ "write: full pipe", get_full_pipe, sit_write, STAYS, STAYS },
	{ "write: 1 MiB to a pipe", get_pipe, sit_write_much, CUT, CUT },
	{ "send: 1 MiB to a socket", get_sockets, sit_send_much, CUT, CUT },
	{ "recv", get_sockets, sit_recv, STAYS, STAYS },
	{ "recv: MSG_WAITALL, some came", get_started_socket, sit_recv_all, CUT,
	    CUT },
	{ "recv: SO_RCVTIMEO", get_timed_sockets, sit_recv, EINTR_SEEN,
	    EINTR_SEEN },
	{ "accept", get_listener, sit_accept, STAYS, STAYS },
	{ "connect: full backlog", get_full_listener, sit_connect, STAYS,
	    STAYS },
	{ "poll", get_pipe, sit_poll, EINTR_SEEN, STAYS },
	{ "poll: timeout", get_pipe, sit_poll_timed, EINTR_SEEN, STAYS },
	{ "ppoll: timeout", get_pipe, sit_ppoll, EINTR_SEEN, STAYS },
	{ "select: timeout", get_pipe, sit_select, EINTR_SEEN, STAYS },
	{ "pselect: timeout", get_pipe, sit_pselect, EINTR_SEEN, STAYS },
	{ "epoll_wait", get_epoll, sit_epoll_wait, EINTR_SEEN, EINTR_SEEN },
	{ "epoll_pwait2: timeout", get_epoll, sit_epoll_pwait2, EINTR_SEEN,
	    EINTR_SEEN },
	{ "nanosleep", get_nothing, sit_nanosleep, EINTR_SEEN, STAYS },
	{ "clock_nanosleep: relative", get_nothing, sit_clock_relative,
	    EINTR_SEEN, STAYS },
	{ "clock_nanosleep: absolute", get_nothing, sit_clock_absolute,
	    EINTR_SEEN, STAYS },
	{ "usleep", get_nothing, sit_usleep, EINTR_SEEN, STAYS },
	{ "futex", get_nothing, sit_futex, STAYS, STAYS },
	{ "futex: timeout", get_nothing, sit_futex_timed, EINTR_SEEN, STAYS },
	{ "sem_wait", get_sem, sit_sem_wait, STAYS, STAYS },
	{ "sem_timedwait", get_sem, sit_sem_timedwait, EINTR_SEEN, STAYS },
	{ "pthread_cond_wait", get_nothing, sit_cond, STAYS, STAYS },
	{ "pthread_cond_timedwait", get_nothing, sit_cond_timed, STAYS, STAYS },
	{ "pthread_mutex_lock", get_locked_mutex, sit_mutex, STAYS, STAYS },
	{ "pthread_mutex_timedlock", get_locked_mutex, sit_mutex_timed, STAYS,
	    STAYS },
	{ "sigwait", get_waited_signal, sit_sigwait, STAYS, STAYS },
	{ "sigwaitinfo", get_waited_signal, sit_sigwaitinfo, EINTR_SEEN,
	    EINTR_SEEN },
	{ "sigtimedwait", get_waited_signal, sit_sigtimedwait, EINTR_SEEN,
	    EINTR_SEEN },
	{ "sigsuspend", get_nothing, sit_sigsuspend, EINTR_SEEN, STAYS },
	{ "pause", get_nothing, sit_pause, EINTR_SEEN, STAYS },
	{ "waitpid", get_child, sit_waitpid, STAYS, STAYS },
	{ "waitid", get_child, sit_waitid, STAYS, STAYS },
	{ "flock", get_flock, sit_flock, STAYS, STAYS },
	{ "fcntl: F_SETLKW", get_setlk, sit_setlk, STAYS, STAYS },
	{ "msgrcv", get_msg, sit_msgrcv, EINTR_SEEN, STAYS },
	{ "msgsnd", get_full_msg, sit_msgsnd, EINTR_SEEN, STAYS },
	{ "semop", get_semop, sit_semop, EINTR_SEEN, EINTR_SEEN },
	{ "semtimedop", get_semop, sit_semtimedop, EINTR_SEEN, EINTR_SEEN },
	{ "mq_receive", get_mq, sit_mq, STAYS, STAYS },
	{ "mq_timedreceive", get_mq, sit_mq_timed, STAYS, STAYS },
	{ "io_getevents", get_aio, sit_io_getevents, EINTR_SEEN, EINTR_SEEN },
	{ "aio_suspend", get_pipe, sit_aio_suspend, STAYS, STAYS },
	{ "io_uring_enter", get_ring, sit_ring, EINTR_SEEN, EINTR_SEEN },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* The thread that sits, and how often its call has returned. */
struct sitter {
	const struct row *row;
	pthread_t thread;
	pid_t tid;
	long nr;
	int returned, error;
	long result;
};

static int handled;

static void
on_usr1(int signo)
{
	(void)signo;
	__atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
}

static __attribute__((noreturn)) void *
sit(void *arg)
{
	struct sitter *sitter = arg;

	sitter->tid = gettid();
	for (;;) {
		errno = 0;
		sitter->result = sitter->row->call();
		sitter->error = errno;
		__atomic_add_fetch(&sitter->returned, 1, __ATOMIC_SEQ_CST);
	}
}

/*
 * The thread is blocked. A call that the kernel restarts by way of
 * restart_syscall() shows as that.
 */
static long
await_blocked(const struct sitter *sitter)
{
	long nr, again;

	for (;;) {
		nr = transparency_syscall(sitter->tid);
		usleep(300);
		again = transparency_syscall(sitter->tid);
		if (nr >= 0 && again == nr &&
		    (sitter->nr < 0 || nr == sitter->nr ||
			nr == SYS_restart_syscall))
			return nr;
	}
}

static enum effect
effect_of(const struct sitter *sitter, int returned)
{
	if (transparency_get(&sitter->returned) == returned)
		return STAYS;
	if (sitter->result >= 0)
		return CUT;
	return sitter->error == EINTR ? EINTR_SEEN : OTHER;
}

/*
 * The process that waits writes to it. Not memory that both share: for that
 * each pass would nap (heapwalk/refer/moved.c).
 */
static int ready[2];
static volatile sig_atomic_t done;

static void
on_alarm(int signo)
{
	(void)signo;
	done = 1;
}

/*
 * The first thread is in its own code, so that the copy is made by the one that
 * sits.
 */
static void
await_check(void)
{
	ck_assert_int_eq(write(ready[1], "", 1), 1);
	while (!done)
		continue;
}

static void
check(pid_t pid)
{
	struct mu_check check = {
		.pid = pid,
		.stop = MU_CHECK_STOP_FORK,
		.timeout_ns = 60ull * 1000 * 1000 * 1000,
		.max_pause_ns = 10ull * 1000 * 1000 * 1000,
		.limit = 1,
	};
	struct mu_report answer;
	char byte;

	if (read(ready[0], &byte, 1) != 1)
		return;
	mu_check_process(&check, &answer);
	ck_assert_msg(answer.info.status == MEMUNREACHABLE_COMPLETE,
	    "check: %s", answer.info.reason);
	mu_check_release(&answer);
	ck_assert_int_eq(syscall(SYS_tgkill, pid, pid, SIGALRM), 0);
}

/* It may be an alternate signal stack, so each thread is asked for its own. */
static void
lose_a_large_block(void)
{
	static int (*volatile imported)(const stack_t *, stack_t *);
	volatile uintptr_t lost = mu_hide(malloc(4096));

	imported = sigaltstack;
	(void)imported;
	(void)lost;
}

static enum effect
disturb(struct sitter *sitter, int how)
{
	int returned = transparency_get(&sitter->returned), times = handled;

	if (how == BY_HANDLER) {
		pthread_kill(sitter->thread, SIGUSR1);
		transparency_await(&handled, times + 1);
	} else if (how == BY_CHECK)
		await_check();
	else
		transparency_pass(how - BY_PASS);
	await_blocked(sitter);
	return effect_of(sitter, returned);
}

/* A call that was cut short is another one afterwards: one a process. */
static _Noreturn void
measure_and_exit(const struct row *row, int how)
{
	struct sigaction action = { .sa_handler = on_usr1,
		.sa_flags = SA_RESTART };
	struct sitter sitter = { .row = row, .nr = -1 };
	enum effect effect;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = on_alarm;
	sigaction(SIGALRM, &action, NULL);
	lose_a_large_block();
	if (!row->get())
		_exit(UNKNOWN);
	if (pthread_create(&sitter.thread, NULL, sit, &sitter) != 0)
		_exit(OTHER);
	transparency_await(&sitter.tid, 1);
	sitter.nr = await_blocked(&sitter);
	effect = disturb(&sitter, how);
	blocking_clean();
	_exit((int)effect);
}

static enum effect
measure(const struct row *row, int how)
{
	pid_t pid;
	int status;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		measure_and_exit(row, how);
	close(ready[1]);
	if (how == BY_CHECK)
		check(pid);
	close(ready[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) <= UNKNOWN,
	    "%s ended with wait status %#x", row->name, (unsigned)status);
	return (enum effect)WEXITSTATUS(status);
}

TEST_LOOP(effects, 0, (int)ROWS)
{
	const struct row *row = &rows[_i];
	enum effect seen[DISTURBANCES];
	int how;

	for (how = 0; how < BY_CHECK; how++)
		seen[how] = measure(row, how);
	/*
	 * A process has one tracer: that may be the command. Under a filter no
	 * thread makes a copy.
	 */
	seen[BY_CHECK] = mu_library.options.tracer == 0 && !suite_is_filtered()
	    ? measure(row, BY_CHECK)
	    : row->ptrace;
	if (getenv("TRANSPARENCY_TABLE") != NULL)
		fprintf(stderr, "| %s | %s | %s | %s | %s |\n", row->name,
		    effect_names[seen[BY_HANDLER]], effect_names[seen[BY_PASS]],
		    effect_names[seen[BY_SIGNAL]],
		    effect_names[seen[BY_CHECK]]);
	if (seen[BY_HANDLER] == UNKNOWN) {
		fprintf(stderr, "SKIPPED: %s: not available\n", row->name);
		return;
	}
	ck_assert_msg(seen[BY_HANDLER] == row->handler, "%s: handler: %s",
	    row->name, effect_names[seen[BY_HANDLER]]);
	ck_assert_msg(seen[BY_PASS] == row->ptrace, "%s: ptrace: %s", row->name,
	    effect_names[seen[BY_PASS]]);
	ck_assert_msg(seen[BY_SIGNAL] == row->handler, "%s: signal: %s",
	    row->name, effect_names[seen[BY_SIGNAL]]);
	ck_assert_msg(seen[BY_CHECK] == row->ptrace, "%s: from outside: %s",
	    row->name, effect_names[seen[BY_CHECK]]);
	/* The rule itself, whatever the table says. */
	ck_assert(seen[BY_PASS] == STAYS || seen[BY_PASS] == seen[BY_HANDLER]);
}
