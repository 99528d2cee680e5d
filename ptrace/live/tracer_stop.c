#include "ptrace/live/tracer_stop.h"

#include "mu/signal_action.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/task_list.h"

/* Extra room for threads that start before the stop. */
#define MORE_THREADS 64

/* The general registers, and the largest vector registers so far (AMX). */
#define VALUES_MAX (64 + (size_t)16 * 1024 / sizeof(uintptr_t))

bool
mu_is_traced_by(pid_t tracer)
{
	char status[MU_PROC_STATUS_SIZE];

	return tracer > 0 && mu_proc_own_status(status, sizeof(status)) > 0 &&
	    mu_proc_status_number(status, "\nTracerPid:", 0, 10) == tracer;
}

static bool
is_function(const struct mu_signal_action *action)
{
	return action->handler != SIG_DFL && action->handler != SIG_IGN;
}

/*
 * The first signal that the program neither handles nor has pending (a pending
 * one was sent by other code); 0 if there is none.
 */
static int
choose_signal(void)
{
	struct mu_signal_action action;
	mu_sigmask pending;
	int i, signo;

	if (mu_sys2(SYS_rt_sigpending, (long)&pending, sizeof(pending)) < 0)
		return 0;
	for (i = 0; i < MU_TRACER_STOP_NUM_SIGNALS; i++) {
		signo = MU_TRACER_STOP_SIGNALS[i];
		if (mu_sys_signal_action(signo, NULL, &action) == 0 &&
		    !is_function(&action) &&
		    (pending & mu_signal_bit(signo)) == 0)
			return signo;
	}
	return 0;
}

/*
 * A traced thread gets even an ignored signal (sig_ignored() in
 * kernel/signal.c), but not a blocked one. The tracer blocks it again.
 */
static void
ask(struct mu_tracer_stop *stop, enum mu_tracer_stop_what what)
{
	siginfo_t info = {
		.si_signo = stop->signo,
		.si_code = MU_TRACER_STOP_CODE,
	};
	const mu_sigmask all = ~(mu_sigmask)0;
	mu_sigmask open = all & ~mu_signal_bit(stop->signo);

	stop->request.what = (uint32_t)what;
	stop->request.done = 0;
	info.si_value.sival_ptr = &stop->request;
	if (mu_sys4(SYS_rt_tgsigqueueinfo, stop->pid, stop->tid, stop->signo,
		(long)&info) < 0)
		return;
	mu_sys_set_mask(&open, NULL);
	mu_sys_set_mask(&all, NULL);
}

static bool
find_room(struct mu_tracer_stop_request *request, size_t num_threads,
    struct mu_arena *arena)
{
	size_t threads = num_threads + MORE_THREADS;
	size_t values = threads * VALUES_MAX;

	request->max_threads = threads;
	request->max_values = values;
	request->threads =
	    mu_arena_alloc(arena, threads, sizeof(*request->threads));
	request->stacks =
	    mu_arena_alloc(arena, threads, sizeof(*request->stacks));
	request->values =
	    mu_arena_alloc(arena, values, sizeof(*request->values));
	request->regnos =
	    mu_arena_alloc(arena, values, sizeof(*request->regnos));
	return request->threads != NULL && request->stacks != NULL &&
	    request->values != NULL && request->regnos != NULL;
}

static enum mu_status
refused(struct mu_why *why)
{
	return mu_why(why, MU_ERR_ALREADY_TRACED,
	    "the command that traces this process cannot stop its threads for"
	    " a check");
}

static enum mu_status
conclude(const struct mu_tracer_stop *stop, struct mu_why *why)
{
	const struct mu_tracer_stop_request *request = &stop->request;

	if (request->done == 0)
		return refused(why);
	if (request->status == MU_ERR_TIMEOUT)
		return mu_why(why, MU_ERR_TIMEOUT,
		    "the command that traces process %d did not stop its"
		    " threads in time" MU_CURE "allow a longer stop (option"
		    " max_pause)",
		    stop->pid);
	if (request->status == MU_ERR_NO_MEMORY)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for the registers of %zu threads",
		    (size_t)request->num_threads);
	return request->status == MU_OK ? MU_OK : refused(why);
}

enum mu_status
mu_tracer_stop_take(struct mu_tracer_stop *stop, struct mu_arena *arena,
    bool ask_stacks, uint64_t stop_ns, uint64_t leave_ns, struct mu_why *why)
{
	uint64_t now = mu_sys_now_ns();
	enum mu_status status;
	long count;

	*stop = (struct mu_tracer_stop) {
		.request = {
			.magic = MU_TRACER_STOP_MAGIC,
			.size = sizeof(stop->request),
			.thread_size = sizeof(struct mu_thread),
			.ask_stacks = ask_stacks,
			.stop_ns = stop_ns > now ? stop_ns - now : 0,
			.hold_ns = leave_ns > now ? leave_ns - now : 0,
		},
		.pid = mu_sys_getpid(),
		.tid = mu_sys_gettid(),
		.signo = choose_signal(),
		.begin_ns = now,
	};
	count = mu_task_count(stop->pid);
	if (stop->signo == 0 || count <= 0)
		return refused(why);
	if (!find_room(&stop->request, (size_t)count, arena))
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for the registers of %ld threads", count);
	ask(stop, MU_TRACER_STOP_TAKE);
	status = conclude(stop, why);
	stop->stopped = status == MU_OK;
	return status;
}

bool
mu_tracer_stop_release(struct mu_tracer_stop *stop)
{
	if (!stop->stopped)
		return false;
	stop->stopped = false;
	ask(stop, MU_TRACER_STOP_RELEASE);
	stop->end_ns = mu_sys_now_ns();
	return stop->request.done != 0 && stop->request.status == MU_OK;
}
