/* lib/command/trace.c: events of tracees in an order that is rare. */
#include "lib/command/trace.h"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mu/sys.h"
#include "tests/support/suite.h"

static bool traced_on;

static void
ignore_end(void *ctx, const struct mu_threads *threads, size_t missed)
{
	(void)ctx;
	(void)threads;
	(void)missed;
}

static bool
became(void *ctx, pid_t pid)
{
	(void)ctx;
	(void)pid;
	return traced_on;
}

/* Wait for the next event of TID alone. */
static int
next_event(pid_t tid)
{
	int status;

	ck_assert_int_eq(waitpid(tid, &status, __WALL), tid);
	return status;
}

/* A child that starts a child, traced, up to the event of that. */
static int
start(struct mu_trace *trace, pid_t *grandchild)
{
	unsigned long tid = 0;
	int go[2], status;
	char byte = 0;

	ck_assert_int_eq(pipe(go), 0);
	trace->command = fork();
	if (trace->command == 0) {
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		if (fork() == 0) {
			execl("/bin/true", "true", NULL);
			_exit(127);
		}
		_exit(0);
	}
	trace->children = true;
	trace->ended = ignore_end;
	trace->became = became;
	ck_assert_int_eq(mu_trace_begin(trace), 0);
	ck_assert_int_eq(write(go[1], &byte, 1), 1);
	status = next_event(trace->command);
	ck_assert_int_eq(status >> 16, PTRACE_EVENT_FORK);
	ck_assert_int_eq(mu_sys_ptrace(PTRACE_GETEVENTMSG, trace->command, 0,
			     (uintptr_t)&tid),
	    0);
	*grandchild = (pid_t)tid;
	close(go[0]);
	close(go[1]);
	return status;
}

/* Handle events of TID until it ends or is not traced any more. */
static void
follow(struct mu_trace *trace, pid_t tid)
{
	int status;

	while (waitpid(tid, &status, __WALL) == tid &&
	    mu_trace_take(trace, tid, status))
		continue;
}

/*
 * A child's end, or the exec after which it is not traced, is taken before its
 * parent's fork: it is not waited for, for ever.
 */
TEST_LOOP(child_before_fork, 0, 2)
{
	struct mu_trace trace = { .command = 0 };
	pid_t grandchild;
	int forked;

	traced_on = _i == 0;
	forked = start(&trace, &grandchild);
	follow(&trace, grandchild);
	ck_assert(mu_trace_take(&trace, trace.command, forked));
	follow(&trace, trace.command);
	ck_assert_int_eq(mu_trace_any(&trace), 0);
	mu_trace_close(&trace);
}
