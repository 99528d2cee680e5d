/*
 * Every thread waits in a handler, and goes on: see parking.h.
 *
 * A round sends the signal to every thread that the listing has and nobody
 * has sent it to yet, then waits for all of them. Rounds end with a listing
 * that shows nothing new: who is parked starts no thread.
 */
#include "ptrace/parking.h"

#include "mu/sys.h"
#include "ptrace/parking_choice.h"
#include "ptrace/parking_handler.h"
#include "ptrace/proc.h"
#include "ptrace/task_list.h"

/* After this long without all, /proc is asked what became of the missing. */
#define FIRST_SLICE_NS (2 * 1000 * 1000ull)
#define LONGEST_SLICE_NS (128 * 1000 * 1000ull)

/* How long threads may take to leave the handler. */
#define LEAVE_NS (10 * MU_NS_PER_SEC)

struct parking_round {
	struct mu_parking *parking;
	struct mu_task_list listing;
	uint64_t stop_ns;
	struct mu_why *why;
	bool fresh; /* something new was sent the signal */
};

static struct mu_parked *
find_tid(const struct mu_parking *parking, pid_t tid)
{
	struct mu_parked_row *row;
	size_t i;

	for (row = parking->rows; row != NULL; row = row->next)
		for (i = 0; i < row->count; i++)
			if (row->threads[i].tid == tid)
				return &row->threads[i];
	return NULL;
}

static struct mu_parked *
add_thread(struct mu_parking *parking, pid_t tid)
{
	struct mu_parked_row *row = parking->rows;
	struct mu_parked *thread;

	if (row == NULL || row->count == MU_PARKED_ROW) {
		row = mu_arena_alloc(parking->arena, 1, sizeof(*row));
		if (row == NULL)
			return NULL;
		row->next = parking->rows;
		__atomic_store_n(&parking->rows, row, __ATOMIC_RELEASE);
	}
	thread = &row->threads[row->count];
	*thread = (struct mu_parked) { .tid = tid, .state = MU_PARKED_GONE };
	__atomic_store_n(&row->count, row->count + 1, __ATOMIC_RELEASE);
	parking->count++;
	return thread;
}

/*
 * With the thread's record as the cookie. tgkill() is what a filter that knows
 * no rt_tgsigqueueinfo() lets through; but glibc's own handlers obey it.
 */
static long
send_signal(const struct mu_parking *parking, struct mu_parked *thread)
{
	siginfo_t info = { 0 };
	long error;

	info.si_signo = parking->signo;
	info.si_code = SI_QUEUE;
	info.si_pid = parking->pid;
	info.si_uid = (uid_t)mu_sys0(SYS_getuid);
	info.si_value.sival_ptr = thread;
	error = mu_sys4(SYS_rt_tgsigqueueinfo, parking->pid, thread->tid,
	    parking->signo, (long)&info);
	if ((error == -EPERM || error == -ENOSYS) &&
	    parking->signo < MU_PARKING_GLIBC)
		error = mu_sys3(
		    SYS_tgkill, parking->pid, thread->tid, parking->signo);
	return error;
}

/* It will not come: it ended, or we stopped waiting. */
static void
give_up_on(struct mu_parking *parking, struct mu_parked *thread)
{
	int wanted = MU_PARKED_WANTED;

	if (__atomic_compare_exchange_n(&thread->state, &wanted, MU_PARKED_GONE,
		false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		__atomic_sub_fetch(&parking->missing, 1, __ATOMIC_ACQ_REL);
}

static enum mu_status
call_thread(struct parking_round *round, struct mu_parked *thread)
{
	struct mu_parking *parking = round->parking;
	long error;

	__atomic_add_fetch(&parking->missing, 1, __ATOMIC_ACQ_REL);
	__atomic_store_n(&thread->state, MU_PARKED_WANTED, __ATOMIC_RELEASE);
	error = send_signal(parking, thread);
	if (error == 0) {
		round->fresh = true;
		return MU_OK;
	}
	give_up_on(parking, thread);
	if (error == -ESRCH)
		return MU_OK;
	return mu_why(round->why, mu_status_from_errno((int)-error),
	    "cannot send signal %d to thread %d (error %ld)", parking->signo,
	    thread->tid, -error);
}

/* Ids come back into use; but a zombie leader stays listed. */
static enum mu_status
call_listed(struct parking_round *round)
{
	struct mu_parking *parking = round->parking;
	enum mu_status status = MU_OK;
	struct mu_parked *thread;
	size_t i;
	pid_t tid;

	for (i = 0; i < round->listing.count && status == MU_OK; i++) {
		tid = round->listing.tids[i];
		if (tid == parking->except)
			continue;
		thread = find_tid(parking, tid);
		if (thread != NULL &&
		    (thread->state != MU_PARKED_GONE ||
			mu_proc_ended(mu_proc_state(parking->pid, tid))))
			continue;
		if (thread == NULL)
			thread = add_thread(parking, tid);
		if (thread == NULL)
			return mu_why(round->why, MU_ERR_NO_MEMORY,
			    "no memory for %zu threads", parking->count + 1);
		status = call_thread(round, thread);
	}
	return status;
}

/*
 * Who has ended will not come. Who was sent a signal that is not pending any
 * more, and did not come, had a handler of its own for it: once more.
 */
static void
ask_for_missing(struct mu_parking *parking)
{
	struct mu_parked_row *row;
	struct mu_parked *thread;
	size_t i;

	for (row = parking->rows; row != NULL; row = row->next) {
		for (i = 0; i < row->count; i++) {
			thread = &row->threads[i];
			if (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) !=
			    MU_PARKED_WANTED)
				continue;
			if (mu_proc_ended(
				mu_proc_state(parking->pid, thread->tid)))
				give_up_on(parking, thread);
			else if (mu_parking_lost(parking, thread->tid)) {
				parking->pending = true; /* one too many? */
				send_signal(parking, thread);
			}
		}
	}
}

static bool
await_missing(struct mu_parking *parking, uint64_t stop_ns)
{
	uint64_t slice = FIRST_SLICE_NS, now, until;
	int missing;

	while ((missing = __atomic_load_n(
		    &parking->missing, __ATOMIC_ACQUIRE)) > 0) {
		now = mu_sys_now_ns();
		if (now >= stop_ns)
			return false;
		until = now + slice < stop_ns ? now + slice : stop_ns;
		/* Only the last one to come wakes us. */
		while (mu_sys_futex_wait(&parking->missing, missing,
			   FUTEX_PRIVATE_FLAG, until) == -EAGAIN &&
		    missing > 0)
			missing = __atomic_load_n(
			    &parking->missing, __ATOMIC_ACQUIRE);
		if (mu_sys_now_ns() < until)
			continue;
		ask_for_missing(parking);
		if (slice < LONGEST_SLICE_NS)
			slice *= 2;
	}
	return true;
}

static enum mu_status
timed_out(struct mu_parking *parking, struct mu_why *why)
{
	struct mu_parked_row *row;
	pid_t tid = 0;
	size_t i;
	int state;

	for (row = parking->rows; row != NULL; row = row->next)
		for (i = 0; i < row->count; i++)
			if (row->threads[i].state == MU_PARKED_WANTED)
				tid = row->threads[i].tid;
	parking->pending = true;
	state = mu_proc_state(parking->pid, tid);
	return mu_why(why, MU_ERR_TIMEOUT,
	    "thread %d did not come to its handler of signal %d in time"
	    " (state %c); give it more time",
	    tid, parking->signo, state < 0 ? '?' : state);
}

static enum mu_status
run_round(struct parking_round *round)
{
	struct mu_parking *parking = round->parking;
	enum mu_status status;

	round->fresh = false;
	parking->rescans++;
	status = mu_task_list_read(&round->listing, parking->pid, round->why);
	if (status == MU_OK && parking->signo == 0)
		status =
		    mu_parking_choose(parking, &round->listing, round->why);
	if (status != MU_OK)
		return status;
	status = call_listed(round);
	if (status == MU_OK && !await_missing(parking, round->stop_ns))
		status = timed_out(parking, round->why);
	return status;
}

enum mu_status
mu_parking_stop(struct mu_parking *parking, pid_t pid, pid_t except,
    struct mu_arena *arena, uint64_t stop_ns, uint64_t leave_ns,
    struct mu_why *why)
{
	struct parking_round round = {
		.parking = parking,
		.listing = { .arena = arena },
		.stop_ns = stop_ns,
		.why = why,
		.fresh = true,
	};
	enum mu_status status = MU_OK;

	*parking = (struct mu_parking) {
		.pid = pid,
		.except = except,
		.arena = arena,
		.leave_ns = leave_ns,
		.open = true,
	};
	mu_parking_open(parking);
	while (status == MU_OK && round.fresh) {
		if (mu_sys_now_ns() >= stop_ns)
			status = mu_why(why, MU_ERR_TIMEOUT,
			    "process %d still had new threads after %zu"
			    " listings; give it more time",
			    pid, parking->rescans);
		else
			status = run_round(&round);
	}
	/* While everybody is here: nobody else sets handlers now. */
	if (parking->signo > 0)
		mu_parking_uninstall(parking->signo, parking->pending);
	parking->signo = 0;
	if (status != MU_OK)
		mu_parking_release(parking);
	return status;
}

bool
mu_parking_is_full(const struct mu_parking *parking)
{
	const struct mu_parked_row *row;
	size_t i;
	int state;

	for (row = parking->rows; row != NULL; row = row->next) {
		for (i = 0; i < row->count; i++) {
			state = __atomic_load_n(
			    &row->threads[i].state, __ATOMIC_ACQUIRE);
			if (state != MU_PARKED_HERE && state != MU_PARKED_GONE)
				return false;
		}
	}
	return true;
}

bool
mu_parking_release(struct mu_parking *parking)
{
	bool empty = true;

	if (parking->open) {
		__atomic_store_n(&parking->gate, 1, __ATOMIC_RELEASE);
		mu_sys_futex_wake(
		    &parking->gate, INT32_MAX, FUTEX_PRIVATE_FLAG);
		empty = mu_parking_close(mu_sys_now_ns() + LEAVE_NS);
	}
	parking->open = false;
	return empty;
}
