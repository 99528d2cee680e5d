#include "lib/command/tracer_stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "lib/command/last_signal.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/registers.h"
#include "ptrace/live/tracer_stop.h"
#include "ptrace/remote/alternate_stacks.h"

#define SETSIGMASK 0x420b /* PTRACE_SETSIGMASK, Linux 3.11 */
#define ARENA_LIMIT ((size_t)1 << 30)

/* Limit for a call of sigaltstack(), which does not block. */
#define HOLD_NS (10 * MU_NS_PER_SEC)

/* Limit for times that the process gives. */
#define LONGEST_NS (3600 * MU_NS_PER_SEC)

struct mu_traced_stop {
	struct mu_tracer_stop_request request;
	uintptr_t at;     /* address of the request in the process */
	uint64_t late_ns; /* when the others go on; UINT64_MAX: they do */
	bool full;        /* all are stopped, and the asking thread runs */
};

static uint64_t
after(uint64_t span_ns)
{
	return mu_sys_now_ns() + (span_ns < LONGEST_NS ? span_ns : LONGEST_NS);
}

/* The thread of process PID that has asked; NULL if none. */
static struct mu_traced *
asker_of(const struct mu_traced_threads *threads, pid_t pid)
{
	struct mu_traced *thread = NULL;

	while (threads->num_stops > 0 &&
	    (thread = mu_traced_next(threads, pid, thread)) != NULL)
		if (thread->stop != NULL)
			return thread;
	return NULL;
}

static void
end_stop(struct mu_traced_threads *threads, struct mu_traced *asker)
{
	free(asker->stop);
	asker->stop = NULL;
	threads->num_stops--;
}

static bool
write_memory(pid_t tid, const void *from, const void *to, size_t size)
{
	struct iovec local = { (void *)(uintptr_t)from, size };
	struct iovec remote = { (void *)(uintptr_t)to, size };

	return size == 0 ||
	    mu_syscall6(SYS_process_vm_writev, tid, (long)&local, 1,
		(long)&remote, 1, 0) == (long)size;
}

/*
 * The thread blocks all signals but this one, which other processes may send,
 * too.
 */
static void
answer(pid_t tid, struct mu_tracer_stop_request *request, uintptr_t at,
    enum mu_status status)
{
	const mu_sigmask all = ~(mu_sigmask)0;

	request->done = 1;
	request->status = (int32_t)status;
	write_memory(tid, request, (const void *)at, sizeof(*request));
	mu_sys_ptrace(SETSIGMASK, tid, sizeof(all), (uintptr_t)&all);
	mu_traced_continue(tid, 0);
}

/* List the stopped threads of PID; LIVE has room for all. */
static void
list_stopped(
    const struct mu_traced_threads *threads, pid_t pid, struct mu_threads *live)
{
	const struct mu_traced *thread = NULL;
	enum mu_tracee_state state;

	while ((thread = mu_traced_next(threads, pid, thread)) != NULL) {
		if (!thread->stopped)
			continue;
		state = thread->signo != 0 || thread->in_call
		    ? MU_TRACEE_SIGNAL_STOPPED
		    : thread->listens ? MU_TRACEE_GROUP_STOPPED
				      : MU_TRACEE_STOPPED;
		live->tracees[live->count++] = (struct mu_tracee) {
			.tid = thread->tid,
			.state = state,
			.signal = thread->signo,
		};
	}
}

static enum mu_status
read_registers(struct mu_threads *live, struct mu_snapshot *snap)
{
	struct mu_words words = { .arena = live->arena, .with_regnos = true };
	enum mu_status status = MU_OK;
	size_t i;

	for (i = 0; i < live->count && status == MU_OK; i++)
		status = mu_registers_read(&snap->threads[i],
		    live->tracees[i].tid, &live->tracees[i].busy, &words, NULL);
	snap->num_threads = live->count;
	snap->values = words.words;
	snap->regnos = words.regnos;
	snap->num_values = words.count;
	return status;
}

static enum mu_status
write_answer(struct mu_tracer_stop_request *request, pid_t tid,
    const struct mu_snapshot *snap)
{
	request->num_threads = snap->num_threads;
	request->num_values = snap->num_values;
	request->num_stacks = snap->num_kernel_values;
	if (snap->num_threads > request->max_threads ||
	    snap->num_values > request->max_values)
		return MU_ERR_NO_MEMORY;
	if (write_memory(tid, snap->threads, request->threads,
		snap->num_threads * sizeof(*snap->threads)) &&
	    write_memory(tid, snap->values, request->values,
		snap->num_values * sizeof(*snap->values)) &&
	    write_memory(tid, snap->regnos, request->regnos,
		snap->num_values * sizeof(*snap->regnos)) &&
	    write_memory(tid, snap->kernel_values, request->stacks,
		snap->num_kernel_values * sizeof(*snap->kernel_values)))
		return MU_OK;
	return MU_ERR_TARGET_GONE;
}

/*
 * A signal, even SIGSTOP, may have arrived in the meantime. A thread that was
 * killed has been waited for already (ptrace/remote/remote_stop.c).
 */
static void
note_states(struct mu_traced_threads *threads, const struct mu_threads *live)
{
	const struct mu_tracee *tracee;
	struct mu_traced *thread;
	size_t i;

	for (i = 0; i < live->count; i++) {
		tracee = &live->tracees[i];
		thread = mu_traced_find(threads, tracee->tid);
		if (tracee->state == MU_TRACEE_GONE &&
		    tracee->tid != thread->pid) {
			mu_traced_forget(threads, thread);
			continue;
		}
		thread->stopped = mu_tracee_stopped(tracee);
		thread->signo = tracee->signal;
		thread->listens = tracee->state == MU_TRACEE_GROUP_STOPPED;
	}
}

/* Called when all other threads are stopped. ASKER may move. */
static enum mu_status
read_tracer_stop(struct mu_traced_threads *threads,
    const struct mu_traced *asker, struct mu_arena *arena)
{
	struct mu_threads live = {
		.pid = asker->pid,
		.arena = arena,
		.options = threads->options,
		.filters = threads->filters,
		.hold_ns = HOLD_NS,
	};
	struct mu_tracer_stop_request *request = &asker->stop->request;
	struct mu_snapshot snap = { .pid = asker->pid };
	enum mu_status status;
	pid_t tid = asker->tid;
	size_t unasked;

	live.tracees =
	    mu_arena_alloc(arena, threads->count, sizeof(*live.tracees));
	snap.threads =
	    mu_arena_alloc(arena, threads->count, sizeof(*snap.threads));
	if (live.tracees == NULL || snap.threads == NULL)
		return MU_ERR_NO_MEMORY;
	list_stopped(threads, asker->pid, &live);
	status = read_registers(&live, &snap);
	if (status == MU_OK && request->ask_stacks != 0) {
		status = mu_alternate_stacks_add(
		    &snap, &live, arena, asker->stop->late_ns, &unasked, NULL);
		request->unasked = unasked;
		note_states(threads, &live);
	}
	if (status == MU_OK)
		status = write_answer(request, tid, &snap);
	return status;
}

/* The other threads have stopped, or failed to: continue the asking thread. */
static void
finish(struct mu_traced_threads *threads, struct mu_traced *asker,
    enum mu_status status)
{
	struct mu_traced_stop *stop = asker->stop;
	struct mu_arena arena;
	pid_t tid = asker->tid;

	mu_arena_open(&arena, ARENA_LIMIT);
	if (status == MU_OK)
		status = read_tracer_stop(threads, asker, &arena);
	asker = mu_traced_find(threads, tid);
	mu_arena_close(&arena);
	stop->full = true;
	stop->late_ns = after(stop->request.hold_ns);
	if (status != MU_OK)
		mu_traced_resume_all(threads, asker->pid);
	answer(tid, &stop->request, stop->at, status);
	if (status != MU_OK)
		end_stop(threads, asker);
}

struct tasks {
	struct mu_traced_threads *threads;
	pid_t pid, asker;
	enum mu_status status;
	bool running; /* some have not stopped yet */
};

static bool
interrupt(void *ctx, int tid)
{
	struct tasks *tasks = ctx;
	const struct mu_traced *thread;
	long error;

	if (tid == tasks->asker)
		return true;
	thread = mu_traced_known(tasks->threads, tid);
	if (thread == NULL) {
		tasks->status = MU_ERR_NO_MEMORY;
		return false;
	}
	if (thread->stopped || thread->leaving)
		return true;
	error = mu_sys_ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	if ((error != 0 || tid == tasks->pid) &&
	    mu_proc_ended(mu_proc_state(tasks->pid, tid)))
		return true;
	tasks->running = true;
	if (error == 0)
		return true;
	/* The thread was started with CLONE_UNTRACED. */
	tasks->status = MU_ERR_ALREADY_TRACED;
	return false;
}

/* Interrupt all running threads; finish if there are none. */
static void
interrupt_all(struct mu_traced_threads *threads, pid_t pid, pid_t tid)
{
	struct tasks tasks = { threads, pid, tid, MU_OK, false };
	struct mu_traced *asker;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	if (mu_proc_numbers(path, interrupt, &tasks) != 0)
		tasks.status = MU_ERR_NO_PROC;
	asker = mu_traced_find(threads, tid);
	if (tasks.status != MU_OK || !tasks.running)
		finish(threads, asker, tasks.status);
}

/* A thread of PID has stopped or ended; finish if it was the last. */
static void
note_stop(struct mu_traced_threads *threads, const struct mu_traced *asker)
{
	const struct mu_traced *thread = NULL;

	if (asker->stop->full)
		return;
	while ((thread = mu_traced_next(threads, asker->pid, thread)) != NULL)
		if (thread != asker && !thread->stopped && !thread->leaving)
			return;
	interrupt_all(threads, asker->pid, asker->tid);
}

static bool
has_ending(const struct mu_traced_threads *threads, pid_t pid)
{
	const struct mu_traced *thread = NULL;

	while ((thread = mu_traced_next(threads, pid, thread)) != NULL)
		if (thread->held)
			return true;
	return false;
}

static bool
read_request(
    pid_t tid, int signo, struct mu_tracer_stop_request *request, uintptr_t *at)
{
	siginfo_t info = { .si_code = 0 };
	int i;

	for (i = 0; i < MU_TRACER_STOP_NUM_SIGNALS; i++)
		if (signo == MU_TRACER_STOP_SIGNALS[i])
			break;
	if (i == MU_TRACER_STOP_NUM_SIGNALS ||
	    mu_sys_ptrace(PTRACE_GETSIGINFO, tid, 0, (uintptr_t)&info) != 0 ||
	    info.si_code != MU_TRACER_STOP_CODE)
		return false;
	*at = (uintptr_t)info.si_value.sival_ptr;
	return mu_sys_read_memory(tid, *at, request, sizeof(*request)) ==
	    sizeof(*request) &&
	    request->magic == MU_TRACER_STOP_MAGIC &&
	    request->size == sizeof(*request) &&
	    request->thread_size == sizeof(struct mu_thread);
}

static void
stop_others(struct mu_traced_threads *threads, struct mu_traced *asker,
    struct mu_tracer_stop_request *request, uintptr_t at)
{
	struct mu_traced_stop *stop = NULL;

	if (asker_of(threads, asker->pid) == NULL &&
	    !has_ending(threads, asker->pid) &&
	    !mu_last_signal_any(threads, asker->pid))
		stop = calloc(1, sizeof(*stop));
	if (stop == NULL) {
		answer(asker->tid, request, at, MU_ERR_BUSY);
		return;
	}
	stop->request = *request;
	stop->at = at;
	stop->late_ns = after(request->stop_ns);
	asker->stop = stop;
	threads->num_stops++;
	interrupt_all(threads, asker->pid, asker->tid);
}

static void
release_others(struct mu_traced_threads *threads, struct mu_traced *asker,
    struct mu_tracer_stop_request *request, uintptr_t at)
{
	enum mu_status status = MU_ERR_TIMEOUT;

	if (asker->stop != NULL) {
		if (asker->stop->late_ns != UINT64_MAX)
			status = MU_OK;
		mu_traced_resume_all(threads, asker->pid);
		end_stop(threads, asker);
	}
	answer(asker->tid, request, at, status);
}

bool
mu_command_stop_take(struct mu_traced_threads *threads, pid_t tid, int signo)
{
	struct mu_traced *thread = mu_traced_find(threads, tid);
	struct mu_tracer_stop_request request;
	uintptr_t at;

	if (thread == NULL || !read_request(tid, signo, &request, &at))
		return false;
	if (request.what == MU_TRACER_STOP_TAKE)
		stop_others(threads, thread, &request, at);
	else
		release_others(threads, thread, &request, at);
	return true;
}

void
mu_command_stop_continue(
    struct mu_traced_threads *threads, pid_t tid, int signo, bool listens)
{
	struct mu_traced unknown = { .tid = tid }, *asker;
	struct mu_traced *thread = mu_traced_find(threads, tid);

	if (thread == NULL)
		thread = &unknown;
	thread->signo = signo;
	thread->listens = listens;
	thread->in_call = false;
	asker = asker_of(threads, thread->pid);
	if (thread != &unknown && asker == NULL &&
	    mu_last_signal_hold(threads, thread))
		return;
	if (thread == &unknown || asker == NULL || asker == thread ||
	    asker->stop->late_ns == UINT64_MAX) {
		mu_traced_resume(thread);
		return;
	}
	thread->stopped = true;
	note_stop(threads, asker);
}

/*
 * The registers of a call that a tracer would set here would get the result of
 * clone().
 */
void
mu_command_stop_in_call(
    struct mu_traced_threads *threads, pid_t tid, bool is_long)
{
	struct mu_traced *thread = mu_traced_find(threads, tid);
	const struct mu_traced *asker =
	    thread != NULL ? asker_of(threads, thread->pid) : NULL;

	if (!is_long && asker != NULL && asker->stop->late_ns != UINT64_MAX) {
		mu_sys_ptrace(PTRACE_INTERRUPT, tid, 0, 0);
		mu_traced_continue(tid, 0);
		return;
	}
	mu_command_stop_continue(threads, tid, 0, false);
	thread = mu_traced_find(threads, tid);
	if (thread != NULL)
		thread->in_call = is_long;
}

void
mu_command_stop_thread_left(struct mu_traced_threads *threads, pid_t pid)
{
	const struct mu_traced *asker = asker_of(threads, pid);

	if (asker != NULL)
		note_stop(threads, asker);
	else
		mu_last_signal_thread_left(threads, pid);
}

void
mu_command_stop_abandon(
    struct mu_traced_threads *threads, struct mu_traced *thread)
{
	mu_last_signal_abandon(threads, thread);
	if (thread->stop == NULL)
		return;
	mu_traced_resume_all(threads, thread->pid);
	end_stop(threads, thread);
}

void
mu_command_stop_drop(struct mu_traced_threads *threads, pid_t pid)
{
	struct mu_traced *asker = asker_of(threads, pid), *thread = NULL;

	mu_last_signal_drop(threads, pid);
	if (asker == NULL)
		return;
	end_stop(threads, asker);
	while ((thread = mu_traced_next(threads, pid, thread)) != NULL)
		thread->stopped = false;
}

uint64_t
mu_command_stop_expire(struct mu_traced_threads *threads)
{
	uint64_t now = mu_sys_now_ns(), next = UINT64_MAX;
	struct mu_traced *thread;
	size_t i;

	for (i = 0; threads->num_stops > 0 && i < threads->count; i++) {
		thread = &threads->threads[i];
		if (thread->stop == NULL)
			continue;
		if (now < thread->stop->late_ns) {
			if (thread->stop->late_ns < next)
				next = thread->stop->late_ns;
		} else if (thread->stop->full) {
			mu_traced_resume_all(threads, thread->pid);
			thread->stop->late_ns = UINT64_MAX;
		} else
			finish(threads, thread, MU_ERR_TIMEOUT);
	}
	return next == UINT64_MAX ? 0 : next;
}
