/*
 * A round sends the signal to every listed thread that has not been sent it
 * yet, then waits for all of them. Rounds end with a listing that shows no new
 * thread: a thread in the handler starts none.
 */
#include "ptrace/live/parking.h"

#include "mu/sys.h"
#include "ptrace/live/parking_await.h"
#include "ptrace/live/parking_choice.h"
#include "ptrace/live/parking_handler.h"
#include "ptrace/live/parking_rows.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/task_list.h"

/* How long threads may take to leave the handler. */
#define LEAVE_NS (10 * MU_NS_PER_SEC)

#define MAX_TRIES 3

struct parking_round {
	struct mu_parking *parking;
	uint64_t stop_ns;
	bool listed; /* parking->listing was not used yet */
	struct mu_why *why;
	bool fresh; /* something new was sent the signal */
};

static enum mu_status
call_thread(struct parking_round *round, struct mu_parked *thread)
{
	struct mu_parking *parking = round->parking;
	long error;

	if (parking->begin_ns == 0)
		parking->begin_ns = mu_sys_now_ns();
	__atomic_add_fetch(&parking->missing, 1, __ATOMIC_ACQ_REL);
	__atomic_store_n(&thread->state, MU_PARKED_WANTED, __ATOMIC_RELEASE);
	error = mu_parking_send(parking, thread);
	if (error == 0) {
		round->fresh = true;
		return MU_OK;
	}
	mu_parked_give_up(parking, thread);
	if (error == -ESRCH)
		return MU_OK;
	return mu_why(round->why, mu_status_from_errno((int)-error),
	    "cannot send signal %d to thread %d (error %ld)", parking->signo,
	    thread->tid, -error);
}

/*
 * Ids come back into use. But a leader that has ended stays listed, and a
 * signal to it would be pending for ever.
 */
static bool
is_called_already(
    const struct mu_parking *parking, const struct mu_parked *thread, pid_t tid)
{
	if (thread != NULL && thread->state != MU_PARKED_GONE)
		return true;
	return (thread != NULL || tid == parking->pid) &&
	    mu_proc_ended(mu_proc_state(parking->pid, tid));
}

static enum mu_status
call_listed(struct parking_round *round)
{
	struct mu_parking *parking = round->parking;
	struct mu_parked_cursor at = mu_parked_first(parking);
	bool first = parking->count == 0;
	enum mu_status status = MU_OK;
	struct mu_parked *thread;
	size_t i;
	pid_t tid;

	for (i = 0; i < parking->listing.count && status == MU_OK; i++) {
		tid = parking->listing.tids[i];
		if (tid == parking->except)
			continue;
		thread = first ? NULL : mu_parked_find(parking, &at, tid);
		if (is_called_already(parking, thread, tid))
			continue;
		if (thread == NULL)
			thread = mu_parked_add(parking, tid);
		if (thread == NULL)
			return mu_why(round->why, MU_ERR_NO_MEMORY,
			    "no memory for %zu threads", parking->count + 1);
		status = call_thread(round, thread);
	}
	return status;
}

/*
 * Who is counted and not here may have ended and be no news; but a count that
 * is right says in one call what a listing of 1024 threads does in 0.6 ms.
 */
static bool
is_everybody_here(const struct mu_parking *parking)
{
	struct mu_parked_cursor at = mu_parked_first(parking);
	const struct mu_parked *thread;
	long here = 1; /* we */

	while ((thread = mu_parked_next(&at)) != NULL)
		here += mu_parked_state(thread) == MU_PARKED_HERE;
	return here == mu_task_count(parking->pid);
}

/* By a signal that was seen to be free, or is now. */
static enum mu_status
choose(struct parking_round *round)
{
	struct mu_parking *parking = round->parking;
	enum mu_status status = MU_OK;

	if (parking->seen == 0)
		status = mu_parking_look(parking, round->why);
	if (status == MU_OK && parking->seen != 0)
		status = mu_parking_choose(parking, round->why);
	return status;
}

static enum mu_status
run_round(struct parking_round *round)
{
	struct mu_parking *parking = round->parking;
	enum mu_status status = MU_OK;

	round->fresh = round->listed;
	parking->rescans++;
	if (is_everybody_here(parking)) {
		round->fresh = false;
		return MU_OK;
	}
	/* Who has ended since is not of this process: no signal reaches it. */
	if (!round->listed)
		status = mu_task_list_read(
		    &parking->listing, parking->pid, round->why);
	round->listed = false;
	if (status == MU_OK && parking->signo == 0)
		status = choose(round);
	if (status != MU_OK)
		return status;
	status = call_listed(round);
	if (status == MU_OK)
		status = mu_parking_await(parking, round->stop_ns, round->why);
	return status;
}

static enum mu_status
try_once(struct parking_round *round)
{
	struct mu_parking *parking = round->parking;
	enum mu_status status = MU_OK;

	round->fresh = true;
	parking->open = true;
	mu_parking_open(parking);
	while (status == MU_OK && round->fresh) {
		if (mu_sys_now_ns() >= round->stop_ns)
			status = mu_why(round->why, MU_ERR_TIMEOUT,
			    "process %d still had new threads after %zu"
			    " listings" MU_CURE
			    "let it stand still for longer (option"
			    " max_pause)",
			    parking->pid, parking->rescans);
		else
			status = run_round(round);
	}
	/* All other threads are stopped, so none of them sets a handler now. */
	if (parking->signo > 0)
		mu_parking_uninstall(
		    parking->signo, parking->pending || status != MU_OK);
	if (status != MU_OK)
		mu_parking_release(parking);
	return status;
}

enum mu_status
mu_parking_prepare(struct mu_parking *parking, pid_t pid, pid_t except,
    struct mu_arena *arena, struct mu_why *why)
{
	enum mu_status status;

	*parking = (struct mu_parking) {
		.pid = pid,
		.except = except,
		.listing = { .arena = arena },
		.arena = arena,
	};
	/* 30 times CPUID, which a virtual machine asks its host for: 0.1 ms. */
	mu_frame_layout_read(&parking->layout);
	status = mu_task_list_read(&parking->listing, pid, why);
	return status == MU_OK ? mu_parking_look(parking, why) : status;
}

enum mu_status
mu_parking_stop_prepared(struct mu_parking *parking, uint64_t stop_ns,
    uint64_t leave_ns, struct mu_why *why)
{
	struct parking_round round = {
		.parking = parking,
		.stop_ns = stop_ns,
		.listed = true,
		.why = why,
	};
	mu_sigmask seen = parking->seen;
	enum mu_status status;
	unsigned tries = 0;
	bool blocked;

	do {
		*parking = (struct mu_parking) {
			.pid = parking->pid,
			.except = parking->except,
			.arena = parking->arena,
			.leave_ns = leave_ns,
			.begin_ns = parking->begin_ns,
			.rescans = parking->rescans,
			.stuck = parking->stuck,
			.seen = tries == 0 ? seen : 0,
			.listing = parking->listing,
			.layout = parking->layout,
		};
		status = try_once(&round);
		/* Not when it was chosen? Then choose again. */
		blocked =
		    status == MU_ERR_SIGNALS_BLOCKED && parking->signo > 0;
	} while (blocked && !parking->stuck && ++tries < MAX_TRIES);
	return status;
}

enum mu_status
mu_parking_stop(struct mu_parking *parking, pid_t pid, pid_t except,
    struct mu_arena *arena, uint64_t stop_ns, uint64_t leave_ns,
    struct mu_why *why)
{
	enum mu_status status =
	    mu_parking_prepare(parking, pid, except, arena, why);

	return status == MU_OK
	    ? mu_parking_stop_prepared(parking, stop_ns, leave_ns, why)
	    : status;
}

bool
mu_parking_is_full(const struct mu_parking *parking)
{
	struct mu_parked_cursor at = mu_parked_first(parking);
	const struct mu_parked *thread;
	int state;

	while ((thread = mu_parked_next(&at)) != NULL) {
		state = mu_parked_state(thread);
		if (state != MU_PARKED_HERE && state != MU_PARKED_GONE)
			return false;
	}
	return true;
}

bool
mu_parking_release(struct mu_parking *parking)
{
	if (parking->open) {
		__atomic_store_n(&parking->gate, 1, __ATOMIC_RELEASE);
		mu_sys_futex_wake(
		    &parking->gate, INT32_MAX, FUTEX_PRIVATE_FLAG);
		parking->end_ns = mu_sys_now_ns();
		if (!mu_parking_close(mu_sys_now_ns() + LEAVE_NS))
			parking->stuck = true;
	}
	parking->open = false;
	return !parking->stuck;
}
