#include "lib/command/trace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/command/last_signal.h"
#include "lib/command/tracer_stop.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

#define EVENT_STOP 128 /* PTRACE_EVENT_STOP; glibc before 2.26 had 7 */
#define ARENA_LIMIT ((size_t)64 << 20)

/* Limit for threads of an ending process that are in uninterruptible sleep. */
#define LATE_NS (MU_NS_PER_SEC)

/* A filter may kill for it. */
static bool
may_ask_stacks(void)
{
	int status = 0;
	pid_t pid = fork();
	stack_t stack;

	if (pid == 0)
		_exit(sigaltstack(NULL, &stack));
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* The command inherits our seccomp filters, and can only add others. */
static int64_t
count_filters(void)
{
	char status[MU_PROC_STATUS_SIZE];
	int64_t count = 0;

	if (mu_proc_own_status(status, sizeof(status)) > 0)
		count =
		    mu_proc_status_number(status, "\nSeccomp_filters:", 0, 10);
	return count > 0 && may_ask_stacks() ? count : 0;
}

long
mu_trace_begin(struct mu_trace *trace)
{
	unsigned long options = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC |
	    PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD;
	long error;

	if (trace->children)
		options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	trace->all.options = (long)options;
	trace->all.filters = count_filters();
	error = mu_sys_ptrace(PTRACE_SEIZE, trace->command, 0, options);
	if (error == 0 &&
	    mu_traced_add(&trace->all, trace->command, trace->command) == NULL)
		error = -ENOMEM;
	return error;
}

struct joining {
	struct mu_trace *trace;
	pid_t pid;
};

static bool
join(void *ctx, int tid)
{
	const struct joining *joining = ctx;
	struct mu_traced_threads *all = &joining->trace->all;
	struct mu_traced *thread;

	if (mu_traced_find(all, tid) != NULL ||
	    mu_sys_ptrace(PTRACE_SEIZE, tid, 0, (uintptr_t)all->options) != 0)
		return true;
	thread = mu_traced_add(all, tid, joining->pid);
	if (thread != NULL)
		thread->asked = true;
	return true;
}

void
mu_trace_join(struct mu_trace *trace, pid_t pid)
{
	struct joining joining = { trace, pid };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	mu_proc_numbers(path, join, &joining);
}

/* False for what a process made by clone(), as neither a fork() nor a thread.
 */
static bool
is_wanted(const struct mu_trace *trace, pid_t pid)
{
	const struct mu_traced *thread = NULL;

	if (trace->children || pid == trace->command)
		return true;
	while ((thread = mu_traced_next(&trace->all, pid, thread)) != NULL)
		if (thread->asked)
			return true;
	return false;
}

/* Threads of a process that were not seen to stop at its end. */
struct others {
	struct mu_trace *trace;
	pid_t pid;
	size_t count;
	bool becoming; /* one is in execve(), which ends the others */
};

static bool
count_other(void *ctx, int tid)
{
	struct others *others = ctx;
	const struct mu_traced *thread =
	    mu_traced_find(&others->trace->all, tid);

	long call;

	if ((thread != NULL && (thread->held || thread->leaving)) ||
	    mu_proc_ended(mu_proc_state(others->pid, tid)))
		return true;
	call = mu_proc_call(others->pid, tid);
	others->becoming |= call == SYS_execve || call == SYS_execveat;
	others->count++;
	return true;
}

static struct others
others_of(struct mu_trace *trace, pid_t pid)
{
	struct others others = { .trace = trace, .pid = pid };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	mu_proc_numbers(path, count_other, &others);
	return others;
}

/* Let the held threads of PID run to their end. */
static void
release(struct mu_trace *trace, pid_t pid)
{
	struct mu_traced *thread = NULL;

	while ((thread = mu_traced_next(&trace->all, pid, thread)) != NULL) {
		if (!thread->held)
			continue;
		thread->held = false;
		mu_traced_continue(thread->tid, 0);
	}
}

static bool
take_held(struct mu_trace *trace, struct mu_threads *threads)
{
	const struct mu_traced *thread = NULL;

	threads->tracees = mu_arena_alloc(
	    threads->arena, trace->all.count + 1, sizeof(*threads->tracees));
	if (threads->tracees == NULL)
		return false;
	while ((thread = mu_traced_next(&trace->all, threads->pid, thread)) !=
	    NULL)
		if (thread->held)
			threads->tracees[threads->count++] =
			    (struct mu_tracee) { thread->tid, MU_TRACEE_STOPPED,
				    0, false };
	return threads->count > 0;
}

/* The exit code of a thread that is in the stop at its end. */
static unsigned long
code_of(pid_t tid)
{
	unsigned long code = 0;

	mu_sys_ptrace(PTRACE_GETEVENTMSG, tid, 0, (uintptr_t)&code);
	return code;
}

static void
note_shown(struct mu_trace *trace, pid_t pid, unsigned long code)
{
	struct mu_traced *thread = NULL;

	while ((thread = mu_traced_next(&trace->all, pid, thread)) != NULL) {
		thread->shown = true;
		thread->code = code;
	}
}

/*
 * True if THREAD arrives after the report of its process. All threads that
 * exit_group() or a signal ends have the same code (do_group_exit() in
 * kernel/exit.c); one that a seccomp filter killed alone had another.
 */
static bool
is_late(const struct mu_trace *trace, const struct mu_traced *thread)
{
	const struct mu_traced *other = NULL;

	while (
	    (other = mu_traced_next(&trace->all, thread->pid, other)) != NULL)
		if (other->shown)
			return other->code == code_of(thread->tid);
	return false;
}

static void
show_end(struct mu_trace *trace, pid_t pid, size_t missed)
{
	struct mu_arena arena;
	struct mu_threads threads = { .pid = pid, .arena = &arena };

	mu_arena_open(&arena, ARENA_LIMIT);
	if (take_held(trace, &threads)) {
		note_shown(trace, pid, code_of(threads.tracees[0].tid));
		trace->ended(trace->ctx, &threads, missed);
	}
	mu_arena_close(&arena);
	release(trace, pid);
}

/* The number of other known threads of the process that still run. */
static size_t
count_more(const struct mu_trace *trace, const struct mu_traced *thread)
{
	const struct mu_traced *other = NULL;
	size_t count = 0;

	while (
	    (other = mu_traced_next(&trace->all, thread->pid, other)) != NULL)
		count += other != thread && !other->held && !other->leaving;
	return count;
}

/*
 * Do not read /proc while two or more threads are still to come, one of which
 * may be in execve(): with 1000 threads it would be read 1000 times.
 */
static void
hold(struct mu_trace *trace, struct mu_traced *thread, size_t more)
{
	struct others others = { .count = more };
	pid_t pid = thread->pid;

	mu_command_stop_drop(&trace->all, pid);
	thread->held = true;
	if (more < 2)
		others = others_of(trace, pid);
	if (others.count == 0)
		show_end(trace, pid, 0);
	else if (others.becoming)
		release(trace, pid);
	else if (trace->expire_ns == 0)
		trace->expire_ns = mu_sys_now_ns() + LATE_NS;
}

/*
 * A thread is about to end; find out whether its process ends. If exit_group()
 * or a signal ends it, all other threads arrive at the same stop. A thread that
 * ends by itself does so while others live.
 */
static void
take_end(struct mu_trace *trace, struct mu_traced *thread)
{
	size_t more = count_more(trace, thread);
	pid_t pid = thread->pid;

	if (!is_late(trace, thread) &&
	    (more == 0 || mu_proc_call(pid, thread->tid) != SYS_exit)) {
		hold(trace, thread, more);
		return;
	}
	thread->leaving = true;
	mu_command_stop_abandon(&trace->all, thread);
	mu_traced_continue(thread->tid, 0);
	mu_command_stop_thread_left(&trace->all, pid);
}

static void
release_held(struct mu_trace *trace)
{
	struct others others;
	size_t i;

	trace->expire_ns = 0;
	for (i = 0; i < trace->all.count; i++) {
		if (!trace->all.threads[i].held)
			continue;
		others = others_of(trace, trace->all.threads[i].pid);
		if (others.becoming)
			release(trace, trace->all.threads[i].pid);
		else
			show_end(
			    trace, trace->all.threads[i].pid, others.count);
	}
}

uint64_t
mu_trace_expire(struct mu_trace *trace)
{
	uint64_t next, last;

	if (trace->expire_ns != 0 && mu_sys_now_ns() >= trace->expire_ns)
		release_held(trace);
	next = mu_command_stop_expire(&trace->all);
	last = mu_last_signal_expire(&trace->all);
	if (next == 0 || (last != 0 && last < next))
		next = last;
	if (next == 0 || (trace->expire_ns != 0 && trace->expire_ns < next))
		next = trace->expire_ns;
	return next;
}

/*
 * PID has executed another program, so its other threads are gone. The thread
 * that called execve() has taken over the tid of the first one, whose end may
 * have begun.
 */
static void
take_exec(struct mu_trace *trace, pid_t pid)
{
	struct mu_traced *first = mu_traced_find(&trace->all, pid);
	bool ours = trace->children || pid == trace->command;
	size_t i = 0;

	mu_command_stop_drop(&trace->all, pid);
	if (first != NULL)
		*first = (struct mu_traced) { .tid = pid, .pid = pid };
	while (i < trace->all.count) {
		if (trace->all.threads[i].pid == pid &&
		    trace->all.threads[i].tid != pid)
			mu_traced_forget(&trace->all, &trace->all.threads[i]);
		else
			i++;
	}
	if (ours && trace->became(trace->ctx, pid)) {
		mu_traced_continue(pid, 0);
		return;
	}
	mu_sys_ptrace(PTRACE_DETACH, pid, 0, 0);
	first = mu_traced_find(&trace->all, pid);
	if (first != NULL)
		mu_traced_forget(&trace->all, first);
}

/* False for a task that has ended, and for one that was detached. */
static bool
is_ours(pid_t tid)
{
	char status[MU_PROC_STATUS_SIZE];

	return mu_proc_status_read(tid, 0, status, sizeof(status)) > 0 &&
	    mu_proc_status_number(status, "\nTracerPid:", 0, 10) == getpid();
}

/*
 * The first stop of a child may arrive after the end of its parent; its end, or
 * an exec after which it is not traced, before this event of its parent:
 * waitpid(2) looks at the latest tracee first.
 */
static void
take_birth(struct mu_trace *trace, pid_t parent, int event)
{
	unsigned long tid = 0;

	if (mu_sys_ptrace(PTRACE_GETEVENTMSG, parent, 0, (uintptr_t)&tid) ==
		0 &&
	    is_ours((pid_t)tid))
		mu_traced_known(&trace->all, (pid_t)tid);
	mu_command_stop_in_call(
	    &trace->all, parent, event == PTRACE_EVENT_VFORK);
}

static bool
is_stop_signal(int signo)
{
	return signo == SIGSTOP || signo == SIGTSTP || signo == SIGTTIN ||
	    signo == SIGTTOU;
}

/* It stays stopped until SIGCONT, which ends this stop by another one. */
static void
take_group_stop(struct mu_trace *trace, pid_t tid, int signo)
{
	mu_command_stop_continue(&trace->all, tid, 0, true);
	if (tid == trace->command && signo != SIGSTOP)
		trace->stop_signal = signo;
}

static void
take_ended(struct mu_trace *trace, pid_t tid)
{
	struct mu_traced *thread = mu_traced_find(&trace->all, tid);
	pid_t pid;

	if (thread == NULL)
		return;
	pid = thread->pid;
	mu_command_stop_abandon(&trace->all, thread);
	mu_traced_forget(&trace->all, thread);
	mu_command_stop_thread_left(&trace->all, pid);
}

bool
mu_trace_take(struct mu_trace *trace, pid_t tid, int status)
{
	int event = status >> 16, signo, passed;
	struct mu_traced *thread;

	if (!WIFSTOPPED(status)) {
		take_ended(trace, tid);
		return false;
	}
	signo = WSTOPSIG(status);
	passed = event == 0 && signo != MU_SYSCALL_STOP ? signo : 0;
	thread = mu_traced_known(&trace->all, tid);
	if (thread != NULL && event == 0 &&
	    mu_last_signal_stepped(&trace->all, thread, signo))
		passed = 0;
	if (thread != NULL && !is_wanted(trace, thread->pid)) {
		mu_sys_ptrace(PTRACE_DETACH, tid, 0, (uintptr_t)passed);
		mu_traced_forget(&trace->all, thread);
	} else if (thread != NULL && event == PTRACE_EVENT_EXIT)
		take_end(trace, thread);
	else if (thread != NULL && event == PTRACE_EVENT_EXEC)
		take_exec(trace, tid);
	else if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK ||
	    event == PTRACE_EVENT_VFORK)
		take_birth(trace, tid, event);
	else if (event == EVENT_STOP && is_stop_signal(signo))
		take_group_stop(trace, tid, signo);
	else if (event != 0 || !mu_command_stop_take(&trace->all, tid, signo))
		mu_command_stop_continue(&trace->all, tid, passed, false);
	return true;
}

pid_t
mu_trace_any(const struct mu_trace *trace)
{
	return trace->all.count > 0 ? trace->all.threads[0].pid : 0;
}

void
mu_trace_close(struct mu_trace *trace)
{
	while (trace->all.count > 0)
		mu_traced_forget(&trace->all, trace->all.threads);
	free(trace->all.threads);
	*trace = (struct mu_trace) { 0 };
}
