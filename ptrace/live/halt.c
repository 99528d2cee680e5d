#include "ptrace/live/halt.h"

#include "mu/signal_action.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/task_list.h"

/* Extra room for threads that start before the stop. */
#define MORE_THREADS 64

/* The general registers, and the largest vector registers so far (AMX). */
#define VALUES_MAX (64 + (size_t)16 * 1024 / sizeof(uintptr_t))

bool
mu_halt_is_traced_by(pid_t tracer)
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
	for (i = 0; i < MU_HALT_NUM_SIGNALS; i++) {
		signo = MU_HALT_SIGNALS[i];
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
ask(struct mu_halt *halt, enum mu_halt_what what)
{
	siginfo_t info = {
		.si_signo = halt->signo,
		.si_code = MU_HALT_CODE,
	};
	const mu_sigmask all = ~(mu_sigmask)0;
	mu_sigmask open = all & ~mu_signal_bit(halt->signo);

	halt->request.what = (uint32_t)what;
	halt->request.done = 0;
	info.si_value.sival_ptr = &halt->request;
	if (mu_sys4(SYS_rt_tgsigqueueinfo, halt->pid, halt->tid, halt->signo,
		(long)&info) < 0)
		return;
	mu_sys_set_mask(&open, NULL);
	mu_sys_set_mask(&all, NULL);
}

static bool
find_room(
    struct mu_halt_request *request, size_t num_threads, struct mu_arena *arena)
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
	request->places =
	    mu_arena_alloc(arena, values, sizeof(*request->places));
	return request->threads != NULL && request->stacks != NULL &&
	    request->values != NULL && request->places != NULL;
}

static enum mu_status
refused(struct mu_why *why)
{
	return mu_why(why, MU_ERR_ALREADY_TRACED,
	    "the command that traces this process cannot stop its threads for"
	    " a check");
}

static enum mu_status
judge(const struct mu_halt *halt, struct mu_why *why)
{
	const struct mu_halt_request *request = &halt->request;

	if (request->done == 0)
		return refused(why);
	if (request->status == MU_ERR_TIMEOUT)
		return mu_why(why, MU_ERR_TIMEOUT,
		    "the command that traces process %d did not stop its"
		    " threads in time" MU_CURE
		    "let it stand still for longer (option"
		    " max_pause)",
		    halt->pid);
	if (request->status == MU_ERR_NO_MEMORY)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for the registers of %zu threads",
		    (size_t)request->num_threads);
	return request->status == MU_OK ? MU_OK : refused(why);
}

enum mu_status
mu_halt_stop(struct mu_halt *halt, struct mu_arena *arena, bool ask_stacks,
    uint64_t stop_ns, uint64_t leave_ns, struct mu_why *why)
{
	uint64_t now = mu_sys_now_ns();
	enum mu_status status;
	long count;

	*halt = (struct mu_halt) {
		.request = {
			.magic = MU_HALT_MAGIC,
			.size = sizeof(halt->request),
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
	count = mu_task_count(halt->pid);
	if (halt->signo == 0 || count <= 0)
		return refused(why);
	if (!find_room(&halt->request, (size_t)count, arena))
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for the registers of %ld threads", count);
	ask(halt, MU_HALT_STOP);
	status = judge(halt, why);
	halt->stopped = status == MU_OK;
	return status;
}

bool
mu_halt_release(struct mu_halt *halt)
{
	if (!halt->stopped)
		return false;
	halt->stopped = false;
	ask(halt, MU_HALT_RELEASE);
	halt->end_ns = mu_sys_now_ns();
	return halt->request.done != 0 && halt->request.status == MU_OK;
}
