/*
 * Each round has two phases, which keeps the stop short: first every listed
 * thread is seized and interrupted; then the stops are collected, while the
 * threads stop in parallel. Rounds end when a listing shows nothing new: all
 * its threads were stopped before it began, and a stopped thread starts no
 * other.
 *
 * Runs in: collector.
 */
#include "ptrace/live/threads.h"

#include <sys/ptrace.h>
#include <sys/uio.h>

#include "mu/arch/registers.h"
#include "mu/arch/remote.h"
#include "mu/sort.h"
#include "mu/sys.h"
#include "ptrace/live/asleep.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/refusal.h"
#include "ptrace/live/task_list.h"
#include "ptrace/live/wakeup.h"

#define NOTE_PRSTATUS 1

#define FIRST_MAX 64
#define SEIZE_TRIES 4
#define UNCAUSED_TRIES 8

/*
 * How old a listing may be. A tid that was reused since belongs to another
 * thread, which we would stop.
 */
#define LISTING_NS (5 * 1000 * 1000ull)

/* mu_task_compare() sorts tracees as well. */
_Static_assert(offsetof(struct mu_tracee, tid) == 0, "tid comes first");

struct capture {
	struct mu_threads *out;
	uint64_t deadline_ns;
	struct mu_why *why;
	bool fresh; /* a thread ran in this round: one more is needed */
	struct mu_wakeup wakeup;
};

/* How long a release waits for threads that have not stopped yet. */
#define RELEASE_NS (200 * 1000 * 1000ull)

/* True if the thread has a seccomp filter, or if that is not known. */
static bool
is_filtered(const struct mu_threads *threads, const struct mu_tracee *tracee)
{
	char status[MU_PROC_STATUS_SIZE];

	return mu_proc_status_read(
		   threads->pid, tracee->tid, status, sizeof(status)) <= 0 ||
	    mu_proc_status_filtered(status);
}

/*
 * Done as soon as a thread has stopped, since it goes on if we are killed, and
 * before each release, also of one that stops late.
 */
static void
avoid_restart(const struct mu_threads *threads, const struct mu_tracee *tracee)
{
	uintptr_t general[MU_PRSTATUS_WORDS];
	struct iovec set = { general, sizeof(general) };

	if (threads->filtered && mu_tracee_stopped(tracee) &&
	    mu_sys_ptrace(PTRACE_GETREGSET, tracee->tid, NOTE_PRSTATUS,
		(uintptr_t)&set) == 0 &&
	    set.iov_len == sizeof(general) && mu_arch_avoid_restart(general) &&
	    is_filtered(threads, tracee))
		mu_sys_ptrace(PTRACE_SETREGSET, tracee->tid, NOTE_PRSTATUS,
		    (uintptr_t)&set);
}

/*
 * Release stopped threads.
 */

static void
detach(const struct mu_threads *threads, struct mu_tracee *tracee)
{
	avoid_restart(threads, tracee);
	mu_tracee_detach(tracee);
}

/*
 * Detach a thread that was seized but had not stopped, if it has stopped by
 * now.
 */
static void
release_caught(const struct mu_threads *threads, struct mu_tracee *tracee)
{
	pid_t pid = threads->pid;
	long error = mu_tracee_interrupt(tracee);

	if (!mu_tracee_look(tracee, pid) && error == -ESRCH)
		tracee->state = MU_TRACEE_GONE; /* no longer our tracee */
	if (mu_tracee_stopped(tracee))
		detach(threads, tracee);
}

/*
 * Release each thread as soon as it stops: one that does not, as in vfork(),
 * would delay all others.
 */
static void
release_running(struct mu_threads *threads)
{
	uint64_t deadline_ns = mu_sys_now_ns() + RELEASE_NS;
	struct mu_wakeup wakeup;
	size_t i, running;

	mu_wakeup_open(&wakeup, NULL);
	for (;;) {
		running = 0;
		for (i = 0; i < threads->count; i++) {
			if (threads->tracees[i].state != MU_TRACEE_SEIZED)
				continue;
			release_caught(threads, &threads->tracees[i]);
			running +=
			    threads->tracees[i].state == MU_TRACEE_SEIZED;
		}
		if (running == 0 || mu_sys_now_ns() >= deadline_ns)
			break;
		mu_wakeup_wait(deadline_ns);
	}
	mu_wakeup_close(&wakeup);
}

/*
 * Detach stopped threads, with BUSY only the busy ones. Returns the number that
 * still run.
 */
static size_t
detach_all(struct mu_threads *threads, bool busy)
{
	struct mu_tracee *tracee = threads->tracees;
	struct mu_tracee *end = tracee + threads->count;
	size_t running = 0;

	for (; tracee < end; tracee++) {
		if (mu_tracee_stopped(tracee) && (tracee->busy || !busy))
			detach(threads, tracee);
		if (tracee->state == MU_TRACEE_SEIZED)
			running++;
	}
	return running;
}

/*
 * Release threads that were running before those that were asleep: the pause of
 * one busy thread beside 1024 idle ones was 16 ms instead of 20 (2 cores Xeon,
 * kernel 6.18).
 */
void
mu_threads_release(struct mu_threads *threads)
{
	size_t running;

	detach_all(threads, true);
	running = detach_all(threads, false);
	if (threads->end_ns == 0)
		threads->end_ns = mu_sys_now_ns();
	if (running > 0)
		release_running(threads);
	threads->count = 0;
}

static bool
add_tracee(struct mu_threads *out, pid_t tid)
{
	if (!mu_arena_room(
		out->arena, out->tracees, out->count, out->max, FIRST_MAX))
		return false;
	out->tracees[out->count++] = (struct mu_tracee) { .tid = tid };
	return true;
}

/* Add a record for every listed tid that has none; both lists are sorted. */
static enum mu_status
add_unknown(struct capture *cap)
{
	struct mu_threads *out = cap->out;
	size_t known = out->count, i = 0, k;
	pid_t tid, last = 0;

	for (k = 0; k < out->listing.count; k++, last = tid) {
		tid = out->listing.tids[k];
		while (i < known && out->tracees[i].tid < tid)
			i++;
		if (tid == last || tid == out->except ||
		    (i < known && out->tracees[i].tid == tid))
			continue;
		if (!add_tracee(out, tid))
			return mu_why(cap->why, MU_ERR_NO_MEMORY,
			    "no memory for %zu threads", out->count + 1);
	}
	if (out->count > known)
		mu_sort(out->tracees, out->count, sizeof(*out->tracees),
		    mu_task_compare);
	return MU_OK;
}

/*
 * Seize a thread, with retries. EPERM can have innocent causes: the thread has
 * ended, such as a leader that called pthread_exit() long before its process
 * ends. In execve() by another thread the leader's tid is first a zombie's, and
 * a moment later belongs to the executing thread, which we may trace already. A
 * real refusal persists. Returns 0 or -errno: -ESRCH if the thread is gone,
 * -ENOENT if it is or just was a zombie.
 */
static long
seize_patiently(struct capture *cap, struct mu_tracee *tracee)
{
	long error = mu_tracee_seize(tracee);
	int tries;

	for (tries = 1; tries < SEIZE_TRIES && error == -EPERM; tries++) {
		if (mu_proc_ended(mu_proc_state(cap->out->pid, tracee->tid)))
			return -ENOENT;
		error = mu_tracee_interrupt(tracee);
		if (error != 0)
			error = mu_tracee_seize(tracee);
	}
	return error;
}

/*
 * Seize a thread. Where no cause of a refusal is seen, a tracer has detached
 * since, and another one may have attached: strace -p does so in a loop. 0, or
 * what seize_patiently() returned last; the cause is in cap->why.
 */
static long
seize_or_explain(
    struct capture *cap, struct mu_tracee *tracee, enum mu_status *status)
{
	long error = seize_patiently(cap, tracee);
	int tries;

	for (tries = 0; error < 0 && error != -ESRCH && error != -ENOENT;
	     tries++) {
		*status = mu_refusal(
		    cap->out->pid, tracee->tid, (int)-error, cap->why);
		if (*status != MU_ERR_NO_PERMISSION || tries == UNCAUSED_TRIES)
			break;
		error = seize_patiently(cap, tracee);
	}
	return error;
}

static enum mu_status
seize_one(struct capture *cap, struct mu_tracee *tracee)
{
	bool seen_gone = tracee->state == MU_TRACEE_GONE;
	enum mu_status status;
	long error = seize_or_explain(cap, tracee, &status);

	if (error == -ESRCH || error == -ENOENT) {
		/*
		 * An ended thread may have started others: list again. A zombie
		 * stays listed in /proc, and so counts once.
		 */
		cap->fresh |= error == -ESRCH || !seen_gone;
		tracee->state = MU_TRACEE_GONE;
		return MU_OK;
	}
	if (error < 0)
		return status;
	cap->fresh = true;
	tracee->state = MU_TRACEE_SEIZED;
	if (cap->out->hooks != NULL)
		cap->out->hooks->after_seize(cap->out->hooks->ctx, tracee->tid);
	/*
	 * If this fails the thread has just ended, which the wait below will
	 * see.
	 */
	mu_tracee_interrupt(tracee);
	return MU_OK;
}

/* Seize every listed thread that we do not trace yet; tids are reused. */
static enum mu_status
seize_listed(struct capture *cap)
{
	struct mu_tracee *tracee = cap->out->tracees;
	struct mu_tracee *end = tracee + cap->out->count;
	enum mu_status status;
	size_t k;
	pid_t tid;

	for (k = 0; k < cap->out->listing.count; k++) {
		tid = cap->out->listing.tids[k];
		while (tracee < end && tracee->tid < tid)
			tracee++;
		if (tracee == end || tracee->tid != tid ||
		    (tracee->state != MU_TRACEE_LISTED &&
			tracee->state != MU_TRACEE_GONE) ||
		    mu_asleep_has(cap->out->asleep, tid))
			continue;
		status = seize_one(cap, tracee);
		if (status != MU_OK)
			return status;
	}
	return MU_OK;
}

static enum mu_status
timed_out(const struct capture *cap, pid_t tid)
{
	int state = mu_proc_state(cap->out->pid, tid);

	cap->out->late = tid;
	return mu_why(cap->why, MU_ERR_TIMEOUT,
	    "thread %d of process %d did not stop in time (state %c)" MU_CURE
	    "allow a longer stop (option max_pause)",
	    tid, cap->out->pid, state < 0 ? '?' : state);
}

/*
 * A thread we waited for ran after the listing and may have started others:
 * list again.
 */
static enum mu_status
collect_stops(struct capture *cap)
{
	struct mu_threads *out = cap->out;
	size_t i;

	for (i = 0; i < out->count; i++) {
		if (out->tracees[i].state != MU_TRACEE_SEIZED)
			continue;
		cap->fresh = true;
		if (!mu_tracee_await(&out->tracees[i], out->pid, &cap->wakeup,
			cap->deadline_ns))
			return timed_out(cap, out->tracees[i].tid);
		avoid_restart(out, &out->tracees[i]);
	}
	return MU_OK;
}

/*
 * Check that all stopped threads are still stopped: SIGKILL and execve() end
 * stops.
 */
static void
confirm_stops(struct capture *cap)
{
	size_t i, stopped = 0;

	for (i = 0; i < cap->out->count; i++) {
		if (!mu_tracee_stopped(&cap->out->tracees[i]))
			continue;
		if (mu_tracee_confirm(&cap->out->tracees[i], cap->out->pid))
			stopped++;
		else
			cap->fresh = true;
	}
	/*
	 * Only a zombie leader is left: the process has ended, or an execve()
	 * is in progress by a thread that was born after the listing.
	 */
	if (stopped == 0 && cap->out->except == 0 &&
	    !mu_proc_is_over(cap->out->pid))
		cap->fresh = true;
}

static enum mu_status
list(struct capture *cap)
{
	struct mu_threads *out = cap->out;
	enum mu_status status;

	status = mu_task_list_read(&out->listing, out->pid, cap->why);
	if (status == MU_OK)
		status = add_unknown(cap);
	out->listed_ns = status == MU_OK ? mu_sys_now_ns() : 0;
	return status;
}

/*
 * Compare the stopped threads and those that are left out with the kernel's
 * count: one call instead of a listing, which takes 0.6 ms for 1024 threads. If
 * the count includes a zombie leader, the listing decides.
 */
static bool
is_everybody_here(const struct mu_threads *out)
{
	long here = out->except != 0;
	size_t i;

	if (out->asleep != NULL)
		here += (long)out->asleep->count;
	for (i = 0; i < out->count; i++)
		here += mu_tracee_stopped(&out->tracees[i]);
	return here > 0 && here == mu_task_count(out->pid);
}

static enum mu_status
capture_round(struct capture *cap)
{
	struct mu_threads *out = cap->out;
	enum mu_status status = MU_OK;

	cap->fresh = false;
	if (out->rescans++ > 0 && is_everybody_here(out)) {
		confirm_stops(cap);
		return MU_OK;
	}
	if (mu_sys_now_ns() - out->listed_ns > LISTING_NS)
		status = list(cap);
	else
		cap->fresh = true; /* made before the stop */
	out->listed_ns = 0;
	if (status == MU_OK)
		status = seize_listed(cap);
	if (status == MU_OK)
		status = collect_stops(cap);
	if (status == MU_OK && !cap->fresh)
		confirm_stops(cap);
	return status;
}

/* Remove the threads that ended, and check that any are left. */
static enum mu_status
drop_gone(struct capture *cap)
{
	struct mu_threads *out = cap->out;
	size_t i, kept = 0;
	int state = 'R';

	for (i = 0; i < out->count; i++)
		if (mu_tracee_stopped(&out->tracees[i]))
			out->tracees[kept++] = out->tracees[i];
	out->count = kept;
	if (out->except != 0)
		state = mu_proc_state(out->pid, out->except);
	if ((out->except == 0 && kept == 0) || mu_proc_ended(state))
		return mu_why(cap->why, MU_ERR_TARGET_GONE,
		    "process %d ended during the capture", out->pid);
	return MU_OK;
}

static enum mu_status
out_of_time(const struct mu_threads *out, struct mu_why *why)
{
	if (out->rescans == 0)
		return mu_why(why, MU_ERR_TIMEOUT,
		    "no time was left to stop process %d", out->pid);
	return mu_why(why, MU_ERR_TIMEOUT,
	    "process %d still had new threads after %zu listings" MU_CURE
	    "allow a longer stop (option max_pause)",
	    out->pid, out->rescans);
}

static struct mu_tracee *
find_tracee(const struct mu_threads *out, pid_t tid)
{
	size_t i;

	if (tid == 0 || mu_asleep_has(out->asleep, tid))
		return NULL;
	for (i = 0; i < out->count; i++)
		if (out->tracees[i].tid == tid)
			return &out->tracees[i];
	return NULL;
}

/* MU_ERR_TIMEOUT: it has not stopped yet. */
static enum mu_status
await_one(struct capture *cap, struct mu_tracee *late)
{
	struct mu_threads *out = cap->out;
	enum mu_status status = seize_one(cap, late);

	if (status != MU_OK || late->state != MU_TRACEE_SEIZED)
		return status;
	if (!mu_tracee_await(late, out->pid, &cap->wakeup, cap->deadline_ns))
		return MU_ERR_TIMEOUT;
	avoid_restart(out, late);
	if (out->except != 0 && mu_tracee_stopped(late) &&
	    mu_proc_changes_space(out->pid, late->tid))
		mu_tracee_detach(late);
	return MU_OK;
}

static enum mu_status
is_in_long_call(struct mu_threads *out, pid_t tid, struct mu_why *why)
{
	int state = mu_proc_state(out->pid, tid);

	return mu_why(why, MU_ERR_TIMEOUT,
	    "thread %d of process %d is in a long system call (state %c): all"
	    " others would stay stopped until that is over" MU_CURE
	    "ask again later",
	    tid, out->pid, state < 0 ? '?' : state);
}

/*
 * They stay stopped, as one may begin another such call at once. But the locks
 * of malloc are taken before the other threads of our own process stop.
 */
enum mu_status
mu_threads_await_late(struct mu_threads *out, uint64_t deadline_ns,
    uint64_t pause_ns, struct mu_why *why)
{
	struct capture cap = {
		.out = out,
		.deadline_ns = deadline_ns,
		.why = why,
	};
	const pid_t *tids = out->before.tids;
	struct mu_tracee *first = find_tracee(out, tids[0]);
	struct mu_tracee *other = find_tracee(out, tids[1]);
	enum mu_status status = MU_OK;

	mu_wakeup_open(&cap.wakeup, NULL);
	if (first != NULL)
		status = await_one(&cap, first);
	if (status == MU_ERR_TIMEOUT)
		status = is_in_long_call(out, tids[0], why);
	if (mu_sys_now_ns() + pause_ns < deadline_ns)
		cap.deadline_ns = mu_sys_now_ns() + pause_ns;
	if (status == MU_OK && other != NULL)
		status = await_one(&cap, other);
	else
		other = NULL;
	if (status == MU_ERR_TIMEOUT && other != NULL)
		status = MU_OK; /* the stop waits for it */
	if (status != MU_OK)
		mu_threads_release(out);
	mu_wakeup_close(&cap.wakeup);
	return status;
}

enum mu_status
mu_threads_stop_listed(
    struct mu_threads *out, uint64_t deadline_ns, struct mu_why *why)
{
	struct capture cap = {
		.out = out,
		.deadline_ns = deadline_ns,
		.why = why,
		.fresh = true,
	};
	enum mu_status status = MU_OK;

	out->late = 0;
	out->code.at.call = 0;
	out->begin_ns = mu_sys_now_ns();
	out->end_ns = 0;
	mu_wakeup_open(&cap.wakeup, out->lender);
	while (status == MU_OK && cap.fresh) {
		if (mu_sys_now_ns() >= deadline_ns)
			status = out_of_time(out, why);
		else
			status = capture_round(&cap);
	}
	if (status == MU_OK)
		status = drop_gone(&cap);
	if (status != MU_OK)
		mu_threads_release(out);
	mu_wakeup_close(&cap.wakeup);
	return status;
}

enum mu_status
mu_threads_list(pid_t pid, pid_t **tids, size_t *count, struct mu_arena *arena,
    struct mu_why *why)
{
	struct mu_task_list listing = { .arena = arena };
	enum mu_status status = mu_task_list_read(&listing, pid, why);

	*tids = listing.tids;
	*count = status == MU_OK ? listing.count : 0;
	return status;
}

enum mu_status
mu_threads_prepare(struct mu_threads *out, pid_t pid, pid_t except,
    struct mu_arena *arena, struct mu_why *why)
{
	struct capture cap = { .out = out, .why = why };
	enum mu_status status = mu_refusal_of_call(why);

	*out = (struct mu_threads) {
		.pid = pid,
		.except = except,
		.listing = { .arena = arena },
		.arena = arena,
	};
	if (status == MU_OK)
		status = list(&cap);
	if (status != MU_OK)
		out->count = 0;
	return status;
}
