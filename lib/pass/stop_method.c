#include "lib/pass/stop_method.h"

#include <string.h>

#include "heapwalk/memory/forked.h"
#include "lib/helpers/collector.h"
#include "lib/helpers/copy_pause.h"
#include "lib/pass/in_place.h"
#include "lib/pass/in_thread.h"
#include "lib/pass/own_image.h"
#include "lib/pass/signal_capture.h"
#include "lib/pass/tracer_capture.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/gap_sync.h"
#include "lib/state/library.h"
#include "mu/sys.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/probe.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/refusal.h"
#include "ptrace/live/task_list.h"

/*
 * Room for the deepest path of capture, walk and fold, which keep their large
 * tables elsewhere. PTHREAD_STACK_MIN, as in early Android, overflowed.
 */
#define STACK_SIZE (((size_t)256 << 10) + MU_STACK_GUARD)

/* Time limit of a probe in a child of our own. */
#define PROBE_NS (3 * MU_NS_PER_SEC)

static enum mu_status
map_stack(struct mu_image *image)
{
	long stack;

	if (image->stack != NULL)
		return MU_OK;
	stack = mu_sys_map_stack(STACK_SIZE);
	if (mu_sys_failed(stack))
		return mu_why(&image->job.why, MU_ERR_NO_MEMORY,
		    "no memory for the collector's stack");
	image->stack = (char *)stack;
	image->stack_size = STACK_SIZE;
	return MU_OK;
}

static bool
is_refusal(enum mu_status status)
{
	return status == MU_ERR_PTRACE_YAMA ||
	    status == MU_ERR_PTRACE_SECCOMP || status == MU_ERR_NOT_DUMPABLE ||
	    status == MU_ERR_ALREADY_TRACED || status == MU_ERR_NO_PERMISSION;
}

static enum mu_status
by_ptrace(struct mu_image *image)
{
	mu_image_stop_within(image, PROBE_NS);
	image->stop.method = MEMUNREACHABLE_STOP_PTRACE;
	if (mu_probe_kills(false, image->stop.until_ns))
		return mu_refusal_by_sigsys(&image->job.why);
	return mu_collector_run(image);
}

/*
 * A fork of memory that is registered with a userfaultfd waits until its event
 * has been read, mostly by a thread that is stopped, or by a process that has
 * the userfaultfd of this one and may never read it. Such a process is looked
 * for only BY_US, where this thread would wait for ever: smaps takes time, and
 * a collector that waits is ended.
 */
static bool
fork_would_wait(const struct mu_image *image, bool by_us)
{
	struct mu_forked forked = { 0 };

	return (by_us || mu_pause_has_fork_events(image->job.pid)) &&
	    mu_forked_find(&forked, image->job.pid) && forked.watched &&
	    mu_pause_fork_waits(image->job.pid);
}

static enum mu_status
refuse_fork(struct mu_image *image)
{
	return mu_why(&image->job.why, MU_ERR_BUSY,
	    "a fork of this process would wait for a userfaultfd" MU_CURE
	    "memunreachable -p can read the process instead");
}

/*
 * A fork of much memory in small pages cannot be interrupted. smaps, which
 * takes long itself, is read only if the fork could be late. At the end of the
 * program its other threads may stand still.
 */
static enum mu_status
foresee_fork(struct mu_image *image)
{
	uint64_t most = mu_library.options.max_pause * MU_NS_PER_MS, ns;
	uint64_t private = image->sweeper.budget.private;
	uint64_t most_small =
	    private + image->sweeper.budget.files / MU_COPY_FILES;
	size_t mappings = image->stop.self.num_mappings;
	long threads = mu_task_count(image->job.pid);
	struct mu_forked forked;
	bool urgent = image->stop.may_be_urgent && !image->stop.filtered &&
	    mu_library.options.stop != MU_STOP_SIGNAL;

	if (image->stop.at_end || mu_library.exit_thread == image->job.tid)
		return MU_OK;
	threads = threads > 0 ? threads : 1;
	ns = mu_copy_pause_ns(
	    (size_t)threads, mappings, most_small * MU_COPY_RIVALS);
	if (ns > most)
		ns = mu_copy_pause_now(
		    (size_t)threads, mappings, most_small, urgent);
	if (ns > most)
		ns = mu_copy_pause_of(
		    image->job.pid, (size_t)threads, mappings, urgent, &forked);
	if (ns <= most)
		return MU_OK;
	mu_pause_too_long(image->job.pid, 0, ns, &image->job.why);
	mu_why_drop_cure(&image->job.why);
	mu_why_cure(&image->job.why, "option max_pause=%us allows it",
	    mu_pause_advice(ns));
	return MU_ERR_TIMEOUT;
}

static enum mu_status
by_signal(struct mu_image *image)
{
	enum mu_status status;

	mu_image_stop_within(image, PROBE_NS);
	image->stop.method = MEMUNREACHABLE_STOP_SIGNAL;
	if (fork_would_wait(image, true))
		return refuse_fork(image);
	status = mu_probe_signal_stop(image->stop.until_ns, &image->job.why);
	if (status != MU_OK)
		return status;
	status = mu_signal_capture(image);
	image->stop.blocked = status == MU_ERR_SIGNALS_BLOCKED;
	return status;
}

/*
 * True if STATUS is from mu_allocator_freeze(): malloc did not stop, whatever
 * the stop method.
 */
static bool
is_of_malloc(enum mu_status status)
{
	return status == MU_ERR_BUSY || status == MU_ERR_HEAP_INCONSISTENT;
}

static void
add_words(struct mu_why *why, const struct mu_why *more)
{
	struct mu_why second = *more;

	mu_why_after(&second, why, "; by signal: ");
	*why = second;
}

/*
 * True if a thread is in a call that a signal handler ends with EINTR, but a
 * stop by ptrace does not (tests/README.md has the table). After futex() libc
 * calls again.
 */
static bool
is_waiting(pid_t pid, pid_t tid)
{
	static const long calls[] = {
#ifdef SYS_poll
		SYS_poll,
		SYS_select,
		SYS_pause,
#endif
		SYS_ppoll,
		SYS_pselect6,
		SYS_nanosleep,
		SYS_clock_nanosleep,
		SYS_restart_syscall,
		SYS_rt_sigsuspend,
		SYS_msgrcv,
		SYS_msgsnd,
	};
	long call = mu_proc_call(pid, tid);
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (call == calls[i])
			return true;
	return false;
}

/* True if a signal would end a waiting call of another thread. */
static bool
others_wait(struct mu_image *image)
{
	struct mu_task_list tasks = { .arena = &image->job.arena };
	size_t i;

	if (mu_task_list_read(&tasks, image->job.pid, NULL) != MU_OK)
		return true;
	for (i = 0; i < tasks.count; i++)
		if (tasks.tids[i] != image->job.tid &&
		    is_waiting(image->job.pid, tasks.tids[i]))
			return true;
	return false;
}

/*
 * At the end of a command, waiting calls of other threads would return early
 * during the exit. The command stops the threads at their end, where no call
 * returns. But it does not know what the program has registered with the
 * library.
 */
static bool
can_be_left(struct mu_image *image)
{
	const struct mu_registry *registry = &mu_library.registry;

	return image->stop.at_end && registry->num_ignored == 0 &&
	    registry->num_regions == 0 && registry->num_providers == 0 &&
	    registry->num_heaps == 0 && mu_library.results.first == NULL &&
	    others_wait(image);
}

/* It is asked by a signal. */
static bool
may_ask_tracer(struct mu_image *image)
{
	struct mu_why why;

	if (!image->stop.filtered)
		return true;
	mu_image_stop_within(image, PROBE_NS);
	return mu_probe_signal_stop(image->stop.until_ns, &why) == MU_OK;
}

/* MU_ERR_ALREADY_TRACED: the tracer does not stop threads on request. */
static enum mu_status
by_tracer(struct mu_image *image)
{
	enum mu_status status = MU_ERR_ALREADY_TRACED;

	if (!mu_is_traced_by((pid_t)mu_library.options.tracer) ||
	    !may_ask_tracer(image))
		return status;
	image->stop.method = MEMUNREACHABLE_STOP_PTRACE;
	if (fork_would_wait(image, true))
		return refuse_fork(image);
	status = mu_tracer_capture(image);
	return status;
}

static enum mu_status
run_auto(struct mu_image *image)
{
	enum mu_status refusal = mu_refusal_by_tracer(&image->job.why), status;
	struct mu_why why, more;

	if (refusal != MU_OK) {
		status = by_tracer(image);
		if (status != MU_ERR_ALREADY_TRACED)
			return status;
		/* A tracer that was killed lets all threads go at once. */
		refusal = mu_refusal_by_tracer(&image->job.why);
	}
	if (refusal != MU_OK && can_be_left(image))
		return refusal;
	if (image->stop.prefer_signal && !others_wait(image) &&
	    by_signal(image) == MU_OK)
		return MU_OK;
	/* A collector would hit the tracer's breakpoints. */
	if (refusal == MU_OK)
		refusal = by_ptrace(image);
	if (!is_refusal(refusal))
		return refusal;
	why = image->job.why;
	mu_log(
	    &image->job.log, MU_LOG_DEBUG, "%s; stopping by signal", why.text);
	status = by_signal(image);
	if (status == MU_OK || is_of_malloc(status))
		return status;
	/*
	 * Any failure other than of the stop itself would also happen with
	 * ptrace.
	 */
	more = image->job.why;
	image->job.why = why;
	add_words(&image->job.why, &more);
	return refusal;
}

enum mu_status
mu_stop_method_run(struct mu_image *image)
{
	enum mu_status status;

	image->stop.tries++;
	image->stop.blocked = image->stop.expired = false;
	if (mu_in_thread_try(image))
		return MU_OK;
	status = map_stack(image);
	if (status != MU_OK)
		return status;
	if (!mu_probe_helpers_stay())
		return mu_why(&image->job.why, MU_ERR_RESOURCES,
		    "a process that we start would be in another PID namespace" MU_CURE
		    "ask"
		    " before unshare(CLONE_NEWPID) or setns()");
	if (mu_in_place_try(image))
		return MU_OK;
	if (mu_sys_now_ns() >= image->job.deadline_ns)
		return mu_why(&image->job.why, MU_ERR_TIMEOUT,
		    "the sweeper did not finish in time");
	if (fork_would_wait(image, false))
		return refuse_fork(image);
	status = foresee_fork(image);
	if (status != MU_OK)
		return status;
	if (!image->sweeper.has_room) {
		status = mu_own_image_find_room(image);
		if (status != MU_OK)
			return status;
	}
	mu_gap_sync_open(image);
	switch (image->stop.brief ? MU_STOP_PTRACE : mu_library.options.stop) {
	case MU_STOP_PTRACE:
		status = by_tracer(image);
		if (status == MU_ERR_ALREADY_TRACED && !image->stop.brief)
			status = by_ptrace(image);
		break;
	case MU_STOP_SIGNAL:
		status = by_signal(image);
		break;
	default:
		status = run_auto(image);
		break;
	}
	image->stop.expired = status == MU_ERR_TIMEOUT &&
	    mu_sys_now_ns() >= image->stop.until_ns &&
	    mu_sys_now_ns() < image->job.deadline_ns;
	if (status != MU_OK)
		image->stop.method = MEMUNREACHABLE_STOP_NONE;
	return status;
}
