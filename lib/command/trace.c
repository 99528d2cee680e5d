#include "lib/command/trace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "mu/sys.h"
#include "ptrace/live/proc.h"

#define EVENT_STOP 128 /* PTRACE_EVENT_STOP; glibc before 2.26 had 7 */
#define ARENA_LIMIT ((size_t)64 << 20)

/* For threads of a process that ends, if they sleep uninterruptibly. */
#define LATE_NS (MU_NS_PER_SEC)

struct mu_trace_thread {
	pid_t tid;
	pid_t pid;    /* its process; 0: not known yet */
	bool held;    /* in the stop at its end */
	bool leaving; /* was let go from there by itself */
};

static struct mu_trace_thread *
find(struct mu_trace *trace, pid_t tid)
{
	size_t i;

	for (i = 0; i < trace->count; i++) {
		if (trace->threads[i].tid == tid)
			return &trace->threads[i];
	}
	return NULL;
}

/* No memory: NULL, and the thread is only let run. */
static struct mu_trace_thread *
add(struct mu_trace *trace, pid_t tid, pid_t pid)
{
	size_t max = trace->max == 0 ? 64 : 2 * trace->max;
	struct mu_trace_thread *grown;

	if (trace->count == trace->max) {
		grown = reallocarray(trace->threads, max, sizeof(*grown));
		if (grown == NULL)
			return NULL;
		trace->threads = grown;
		trace->max = max;
	}
	trace->threads[trace->count] =
	    (struct mu_trace_thread) { .tid = tid, .pid = pid };
	return &trace->threads[trace->count++];
}

static void
forget(struct mu_trace *trace, struct mu_trace_thread *thread)
{
	*thread = trace->threads[--trace->count];
}

/* The process of thread TID; 0: it is gone. */
static pid_t
process_of(pid_t tid)
{
	char status[MU_PROC_STATUS_SIZE];
	int64_t pid;

	mu_proc_status_read(tid, 0, status, sizeof(status));
	pid = mu_proc_status_number(status, "\nTgid:", 0, 10);
	return pid > 0 ? (pid_t)pid : 0;
}

static struct mu_trace_thread *
known(struct mu_trace *trace, pid_t tid)
{
	struct mu_trace_thread *thread = find(trace, tid);

	return thread != NULL ? thread : add(trace, tid, process_of(tid));
}

static void
run_on(pid_t tid, int signo)
{
	mu_sys_ptrace(PTRACE_CONT, tid, 0, (uintptr_t)signo);
}

long
mu_trace_begin(struct mu_trace *trace)
{
	unsigned long options =
	    PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE;
	long error;

	if (trace->children)
		options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	error = mu_sys_ptrace(PTRACE_SEIZE, trace->command, 0, options);
	if (error == 0 && add(trace, trace->command, trace->command) == NULL)
		error = -ENOMEM;
	return error;
}

/* The threads of a process that were not seen to stop at its end. */
struct others {
	struct mu_trace *trace;
	pid_t pid;
	size_t count;
	bool becoming; /* one of them is in execve(), which ends the rest */
};

static bool
count_other(void *ctx, int tid)
{
	struct others *others = ctx;
	const struct mu_trace_thread *thread = find(others->trace, tid);

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

/* The held threads of PID go on to their end. */
static void
release(struct mu_trace *trace, pid_t pid)
{
	size_t i;

	for (i = 0; i < trace->count; i++) {
		if (trace->threads[i].pid != pid || !trace->threads[i].held)
			continue;
		trace->threads[i].held = false;
		run_on(trace->threads[i].tid, 0);
	}
}

static bool
take_held(struct mu_trace *trace, struct mu_threads *threads)
{
	size_t i;

	threads->tracees = mu_arena_alloc(
	    threads->arena, trace->count + 1, sizeof(*threads->tracees));
	if (threads->tracees == NULL)
		return false;
	for (i = 0; i < trace->count; i++) {
		if (trace->threads[i].pid == threads->pid &&
		    trace->threads[i].held)
			threads->tracees[threads->count++] =
			    (struct mu_tracee) { trace->threads[i].tid,
				    MU_TRACEE_STOPPED, 0, false };
	}
	return threads->count > 0;
}

static void
show_end(struct mu_trace *trace, pid_t pid, size_t missed)
{
	struct mu_arena arena;
	struct mu_threads threads = { .pid = pid, .arena = &arena };

	mu_arena_open(&arena, ARENA_LIMIT);
	if (take_held(trace, &threads))
		trace->ended(trace->ctx, &threads, missed);
	mu_arena_close(&arena);
	release(trace, pid);
}

/* Does another thread of the process go on? All of them are known. */
static bool
has_more(const struct mu_trace *trace, const struct mu_trace_thread *thread)
{
	const struct mu_trace_thread *other;
	size_t i;

	for (i = 0; i < trace->count; i++) {
		other = &trace->threads[i];
		if (other->pid == thread->pid && other != thread &&
		    !other->held && !other->leaving)
			return true;
	}
	return false;
}

/*
 * A thread is about to end. Is that the end of its process? If exit_group() or
 * a signal ends it all other threads come to the same stop; a thread that ends
 * by itself (exit()) does so while others live.
 */
static void
take_end(struct mu_trace *trace, struct mu_trace_thread *thread)
{
	pid_t pid = thread->pid;
	struct others others;

	if (has_more(trace, thread) &&
	    mu_proc_call(pid, thread->tid) == SYS_exit) {
		thread->leaving = true;
		run_on(thread->tid, 0);
		return;
	}
	thread->held = true;
	others = others_of(trace, pid);
	if (others.count == 0)
		show_end(trace, pid, 0);
	else if (others.becoming)
		release(trace, pid);
	else if (trace->hurry_ns == 0)
		trace->hurry_ns = mu_sys_now_ns() + LATE_NS;
}

void
mu_trace_hurry(struct mu_trace *trace)
{
	struct others others;
	size_t i;

	trace->hurry_ns = 0;
	for (i = 0; i < trace->count; i++) {
		if (!trace->threads[i].held)
			continue;
		others = others_of(trace, trace->threads[i].pid);
		if (others.becoming)
			release(trace, trace->threads[i].pid);
		else
			show_end(trace, trace->threads[i].pid, others.count);
	}
}

/* Threads that were of PID are no more: it has become another program. */
static void
take_exec(struct mu_trace *trace, pid_t pid)
{
	size_t i = 0;

	while (i < trace->count) {
		if (trace->threads[i].pid == pid &&
		    trace->threads[i].tid != pid)
			forget(trace, &trace->threads[i]);
		else
			i++;
	}
	trace->became(trace->ctx, pid);
	run_on(pid, 0);
}

/* Its first stop may come after its parent's end. */
static void
take_birth(struct mu_trace *trace, pid_t parent)
{
	unsigned long tid = 0;

	if (mu_sys_ptrace(PTRACE_GETEVENTMSG, parent, 0, (uintptr_t)&tid) == 0)
		known(trace, (pid_t)tid);
	run_on(parent, 0);
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
	mu_sys_ptrace(PTRACE_LISTEN, tid, 0, 0);
	if (tid == trace->command && signo != SIGSTOP)
		trace->stop_signal = signo;
}

bool
mu_trace_take(struct mu_trace *trace, pid_t tid, int status)
{
	int event = status >> 16, signo, passed;
	struct mu_trace_thread *thread;

	if (!WIFSTOPPED(status)) {
		thread = find(trace, tid);
		if (thread != NULL)
			forget(trace, thread);
		return false;
	}
	signo = WSTOPSIG(status);
	passed = event == 0 ? signo : 0;
	thread = known(trace, tid);
	if (thread != NULL && thread->pid != trace->command &&
	    !trace->children) {
		/* clone() made it, and neither fork() nor a thread. */
		mu_sys_ptrace(PTRACE_DETACH, tid, 0, (uintptr_t)passed);
		forget(trace, thread);
	} else if (thread != NULL && event == PTRACE_EVENT_EXIT)
		take_end(trace, thread);
	else if (thread != NULL && event == PTRACE_EVENT_EXEC)
		take_exec(trace, tid);
	else if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK ||
	    event == PTRACE_EVENT_VFORK)
		take_birth(trace, tid);
	else if (event == EVENT_STOP && is_stop_signal(signo))
		take_group_stop(trace, tid, signo);
	else
		run_on(tid, passed);
	return true;
}

pid_t
mu_trace_any(const struct mu_trace *trace)
{
	return trace->count > 0 ? trace->threads[0].pid : 0;
}

void
mu_trace_close(struct mu_trace *trace)
{
	free(trace->threads);
	*trace = (struct mu_trace) { 0 };
}
