/* The stop: copy or read the target while its threads are stopped. */
#include "lib/helpers/keeper_keeping.h"
#include "lib/helpers/keeper_line.h"
#include "lib/helpers/urgency.h"
#include "lib/state/room.h"
#include "mu/sys.h"
#include "ptrace/live/alternate_stacks.h"
#include "ptrace/live/mappings.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/process_copy_end.h"
#include "ptrace/live/record_locks.h"
#include "ptrace/live/snapshot.h"
#include "ptrace/live/threads.h"

/* Time to release a thread. */
#define RELEASE_NS (15 * 1000ull)

/*
 * Reading besides a copy ends this long before the deadline, or after three
 * quarters.
 */
#define SPARE_NS (50 * 1000 * 1000ull)

/*
 * Killing a late copy takes as long as making it, with all threads stopped. So
 * a copy that is a little late is used.
 */
#define LATE_NS (200 * 1000 * 1000ull)

enum mu_status
mu_keeping_read_mappings(struct mu_keeping *keeping, pid_t pid)
{
	return mu_mappings_read(pid, &keeping->work->snap.mappings,
	    &keeping->work->snap.num_mappings, &keeping->work->arena,
	    &keeping->result->why);
}

bool
mu_keeping_say(struct mu_keeping *keeping, enum mu_keeper_message message)
{
	const int fds[] = { keeping->memory, keeping->pagemap,
		keeping->copy_memory, keeping->copy_pagemap };
	size_t count = 0;

	while (count < MU_KEEPER_LINE_FDS && fds[count] >= 0)
		count++;
	return mu_keeper_line_send(keeping->work->line, message, fds, count);
}

/* The command does the reading, since the memory is for it. */
static enum mu_status
await_reading(struct mu_keeping *keeping)
{
	enum mu_keeper_message message = MU_KEEPER_CUT;
	int fds[MU_KEEPER_LINE_FDS];
	uint64_t needed;

	if (mu_keeping_say(keeping, MU_KEEPER_READ_NOW))
		message = mu_keeper_line_receive(
		    keeping->work->line, fds, keeping->work->stop_ns);
	/*
	 * Reading may end exactly at the deadline; allow time for the message.
	 */
	if (message != MU_KEEPER_LATE && keeping->work->read_ns == 0 &&
	    mu_sys_now_ns() < keeping->work->stop_ns)
		return MU_OK;
	keeping->result->stopped_long = true;
	needed = mu_pause_ns(keeping->bytes);
	if (needed < 2 * keeping->asked->max_pause_ns)
		needed = 2 * keeping->asked->max_pause_ns;
	if (needed < keeping->work->read_ns)
		needed = keeping->work->read_ns;
	return mu_pause_too_long(keeping->asked->target, keeping->bytes, needed,
	    &keeping->result->why);
}

/* Collect everything that is needed while the target is stopped. */
static enum mu_status
read_target(struct mu_keeping *keeping, const struct mu_threads *threads)
{
	enum mu_status status;
	pid_t tid;
	int state;
	uint64_t needed = mu_pause_ns(keeping->bytes);
	uint64_t end_ns = mu_sys_now_ns() + needed;

	/* The rest of the time: stopping the threads took some. */
	if (end_ns > keeping->work->stop_ns) {
		keeping->result->stopped_long =
		    needed <= keeping->asked->max_pause_ns;
		return mu_pause_too_long(keeping->asked->target, keeping->bytes,
		    end_ns - threads->begin_ns + needed, &keeping->result->why);
	}
	keeping->result->taken = MU_KEEPER_READ;
	status = mu_keeping_read_mappings(keeping, threads->tracees[0].tid);
	if (status != MU_OK)
		return status;
	status = await_reading(keeping);
	if (status != MU_OK)
		return status;
	tid = keeping->work->snap.threads[0].tid;
	state = mu_proc_state(keeping->asked->target, tid);
	if (state < 0 || mu_proc_ended(state))
		return mu_why(&keeping->result->why, MU_ERR_TARGET_GONE,
		    "process %d ended while it was read",
		    keeping->asked->target);
	return MU_OK;
}

/*
 * The OOM killer does not know a copy that is still being made. If memory is
 * short, no thread may write until the copy exists and is preferred; making one
 * of 256 MiB was seen to take over 200 ms on a busy machine. A copy that waits
 * for the program would take for ever.
 */
#define HOLD_NS (2 * MU_NS_PER_SEC)

/* The rest of the stop may be too short for a copy: use another stop. */
static enum mu_status
foresee_lateness(struct mu_keeping *keeping, const struct mu_threads *threads)
{
	uint64_t end_ns = mu_sys_now_ns() + keeping->fork_ns;

	if (end_ns <= keeping->work->stop_ns)
		return MU_OK;
	return mu_pause_too_long(keeping->asked->target, 0,
	    end_ns - threads->begin_ns, &keeping->result->not_forked);
}

/*
 * If the process executes a program while the copy shares its descriptors,
 * execve() gives it another table (unshare_files() in kernel/fork.c), and the
 * record locks stay with the copy. So the tables must be separate, or the copy
 * ended, before the process runs.
 */
static enum mu_status
part_files(struct mu_keeping *keeping)
{
	struct mu_process_copy *copy = &keeping->work->copy;
	struct mu_why *why = &keeping->result->not_forked;
	uint64_t end_ns = keeping->work->stop_ns + LATE_NS;
	enum mu_status status = MU_OK;

	if (!keeping->room.tight)
		status = mu_process_copy_settle(copy, end_ns, why);
	if (status == MU_OK) {
		mu_process_copy_name(copy, end_ns);
		keeping->parted = mu_process_copy_leave_files(copy, end_ns);
	}
	if (keeping->parted)
		return MU_OK;
	mu_process_copy_end(copy, mu_sys_now_ns() + HOLD_NS);
	if (status != MU_OK || mu_sys_now_ns() >= end_ns)
		return mu_why(why, MU_ERR_TIMEOUT,
		    "the copy did not leave the descriptors of process %d in"
		    " time, which holds record locks",
		    keeping->asked->target);
	return mu_why(why, MU_ERR_BUSY,
	    "process %d holds record locks, and the copy cannot leave its"
	    " descriptors before Linux 5.9",
	    keeping->asked->target);
}

/*
 * If there is no room for a copy none is made. Before the target runs, the OOM
 * killer must prefer the copy.
 */
static enum mu_status
make_copy(struct mu_keeping *keeping, struct mu_threads *threads)
{
	struct mu_process_copy *copy = &keeping->work->copy;
	struct mu_why *why = &keeping->result->not_forked;
	enum mu_status status = keeping->has_room;

	if (status == MU_OK)
		status = foresee_lateness(keeping, threads);
	if (status != MU_OK)
		return status;
	threads->hold_ns = keeping->room.tight ? HOLD_NS : 0;
	status = mu_process_copy_make(
	    copy, threads, keeping->work->stop_ns + LATE_NS, why);
	keeping->result->copied_long = status == MU_ERR_TIMEOUT;
	if (status != MU_OK)
		return status;
	mu_room_prefer(copy->pid);
	/* Until then the OOM killer would choose the target. */
	if (keeping->room.tight)
		status = mu_process_copy_settle(
		    copy, mu_sys_now_ns() + HOLD_NS, why);
	if (status == MU_OK && mu_record_locks_held(keeping->asked->target))
		status = part_files(keeping);
	return status;
}

/* A late copy is useless without a little of what is read besides it. */
#define BESIDE_NS (20 * 1000 * 1000ull)

/*
 * Read what the copy does not have, or shares. Leaves time to release the
 * threads, and a reserve for a busy machine.
 */
static enum mu_status
take_beside(struct mu_keeping *keeping, size_t num_threads)
{
	struct mu_shared_pages *shared = &keeping->result->shared;
	pid_t tid = keeping->work->snap.threads[0].tid;
	pid_t copy = keeping->work->copy.pid;
	uint64_t last_ns = keeping->work->stop_ns - num_threads * RELEASE_NS;
	uint64_t spare_ns = keeping->asked->max_pause_ns / 4;
	uint64_t end_ns = last_ns - (spare_ns < SPARE_NS ? spare_ns : SPARE_NS);
	enum mu_status status = MU_OK;

	if (last_ns < mu_sys_now_ns() + BESIDE_NS)
		last_ns = mu_sys_now_ns() + BESIDE_NS;

	if (mu_mappings_pages(tid) != mu_mappings_pages(copy))
		status = mu_shared_pages_compare(
		    shared, tid, copy, &keeping->result->why);
	if (status == MU_OK)
		mu_shared_pages_take(shared, end_ns, last_ns);
	return status;
}

static enum mu_status
take_stopped(struct mu_keeping *keeping, struct mu_threads *threads,
    const struct mu_kernel_files *files)
{
	enum mu_status status;
	uint64_t begin_ns;

	status = mu_snapshot_live(&keeping->work->snap, threads, files,
	    &keeping->work->arena, &keeping->result->why);
	keeping->work->snap.unfrozen = true;
	if (status == MU_OK && keeping->asked->ask_stacks)
		keeping->result->unasked =
		    mu_alternate_stacks_add(&keeping->work->snap, threads,
			&keeping->work->arena, keeping->work->stop_ns);
	if (status != MU_OK || keeping->way == MU_KEEPER_READ)
		return status != MU_OK ? status : read_target(keeping, threads);
	begin_ns = mu_sys_now_ns();
	status = make_copy(keeping, threads);
	keeping->result->copy_ns = mu_sys_now_ns() - begin_ns;
	if (status == MU_OK) {
		keeping->result->taken = MU_KEEPER_FORK;
		keeping->result->tight = keeping->room.tight;
		keeping->result->apart = keeping->room.apart;
		keeping->result->private = keeping->room.private;
		return take_beside(keeping, threads->count);
	}
	keeping->result->stopped_long = status == MU_ERR_TIMEOUT;
	if (keeping->way == MU_KEEPER_FORK || status == MU_ERR_TARGET_GONE ||
	    status == MU_ERR_TIMEOUT) {
		keeping->result->why = keeping->result->not_forked;
		return status;
	}
	return read_target(keeping, threads);
}

/*
 * If a thread holds a lock the heap cannot be used at this moment; reading the
 * locks costs the target far less than a copy.
 */
static enum mu_status
look_at_locks(struct mu_keeping *keeping)
{
	size_t i;
	int lock = 0;

	for (i = 0; i < keeping->asked->num_locks && !keeping->result->locked;
	     i++)
		keeping->result->locked =
		    mu_sys_pread(keeping->memory, &lock, sizeof(lock),
			keeping->asked->locks[i]) == sizeof(lock) &&
		    lock != 0;
	return keeping->result->locked
	    ? mu_why(&keeping->result->why, MU_ERR_HEAP_INCONSISTENT,
		  "a thread stood inside malloc, each time")
	    : MU_OK;
}

/*
 * The remedy is an option of the command; which one depends on whether the
 * limit of the stop or of the whole check was reached.
 */
static void
advise_longer(struct mu_keeping *keeping)
{
	struct mu_why *why = &keeping->result->why;
	uint64_t least = 5 * keeping->asked->max_pause_ns / 2;
	bool is_last = keeping->work->stop_ns == keeping->asked->deadline_ns;

	mu_why_drop_cure(why);
	if (is_last)
		mu_why_cure(why, "give it more time (--timeout)");
	else
		mu_why_cure(why,
		    "it may stand still for longer with --max-pause=%us",
		    mu_pause_advice(least));
}

/*
 * What was opened and listed before the stop belongs to the program of that
 * moment; the process may have executed another one since. That has just
 * started, so it has few mappings.
 */
static enum mu_status
follow_exec(struct mu_keeping *keeping)
{
	pid_t tid = mu_proc_living(keeping->asked->target);
	enum mu_status status;

	if (mu_program_id_is(&keeping->result->program, tid))
		return MU_OK;
	status = mu_keeping_open_target(keeping);
	if (status == MU_OK)
		mu_keeping_list_shared(keeping);
	return status;
}

/* The threads are stopped in here, within the time limit. */
enum mu_status
mu_keeping_stop_and_take(struct mu_keeping *keeping, struct mu_threads *threads,
    const struct mu_kernel_files *files)
{
	uint64_t stop_ns = mu_sys_now_ns() + keeping->asked->max_pause_ns;
	bool last = stop_ns > keeping->asked->deadline_ns;
	struct mu_urgency urgency;
	enum mu_status status;

	if (last)
		stop_ns = keeping->asked->deadline_ns;
	keeping->work->stop_ns = stop_ns;
	mu_urgency_raise(&urgency);
	status =
	    mu_threads_stop_listed(threads, stop_ns, &keeping->result->why);
	keeping->result->stopped_long = status == MU_ERR_TIMEOUT && !last;
	/* A longer stop would not help. */
	if (status == MU_ERR_TIMEOUT && last)
		mu_why(&keeping->result->why, status,
		    "the time was over before process %d stood still",
		    keeping->asked->target);
	if (status == MU_OK)
		status = follow_exec(keeping);
	if (status == MU_OK)
		status = look_at_locks(keeping);
	if (status == MU_OK)
		status = take_stopped(keeping, threads, files);
	mu_threads_release(threads);
	keeping->result->pause_ns = mu_sys_now_ns() - threads->begin_ns;
	mu_urgency_drop(&urgency);
	if (keeping->result->stopped_long &&
	    keeping->result->taken != MU_KEEPER_READ)
		advise_longer(keeping);
	return status;
}
