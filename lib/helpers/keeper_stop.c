/* The stop: copy or read the target while its threads are stopped. */
#include "lib/helpers/keeper_self.h"

#include "lib/helpers/copy_pause.h"
#include "lib/helpers/keeper_socket.h"
#include "lib/helpers/priority.h"
#include "lib/state/copy_budget.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/record_locks.h"
#include "ptrace/live/snapshot.h"
#include "ptrace/live/threads.h"
#include "ptrace/remote/alternate_stacks.h"
#include "ptrace/remote/process_copy_end.h"

/* Time to release a thread. */
#define RELEASE_NS (15 * 1000ull)

/*
 * Reading besides a copy ends this long before the deadline, or after three
 * quarters.
 */
#define SPARE_NS (50 * 1000 * 1000ull)

enum mu_status
mu_keeper_read_mappings(
    struct mu_keeper_self *self, pid_t pid, uint64_t until_ns)
{
	return mu_mappings_read_until(pid, until_ns, &self->work->snap.mappings,
	    &self->work->snap.num_mappings, &self->work->arena,
	    &self->result->why);
}

bool
mu_keeper_send(struct mu_keeper_self *self, enum mu_keeper_message message)
{
	const int fds[] = { self->memory, self->pagemap, self->copy_memory,
		self->copy_pagemap };
	size_t count = 0;

	while (count < MU_KEEPER_SOCKET_FDS && fds[count] >= 0)
		count++;
	return mu_keeper_socket_send(self->work->socket, message, fds, count);
}

static enum mu_status
was_late(struct mu_keeper_self *self)
{
	uint64_t needed = self->read_ns;

	self->result->stopped_long = true;
	if (needed < 2 * self->asked->max_pause_ns)
		needed = 2 * self->asked->max_pause_ns;
	if (needed < self->work->read_ns)
		needed = self->work->read_ns;
	return mu_pause_too_long(
	    self->asked->target, self->bytes, needed, &self->result->why);
}

/* The command does the reading, since the memory is for it. */
static enum mu_status
await_reading(struct mu_keeper_self *self)
{
	enum mu_keeper_message message = MU_KEEPER_CLOSED;
	int fds[MU_KEEPER_SOCKET_FDS];

	if (mu_keeper_send(self, MU_KEEPER_READ_NOW))
		message = mu_keeper_socket_receive(
		    self->work->socket, fds, self->work->stop_ns);
	/*
	 * Reading may end exactly at the deadline; allow time for the message.
	 */
	if (message != MU_KEEPER_TIMEOUT && self->work->read_ns == 0 &&
	    mu_sys_now_ns() < self->work->stop_ns)
		return MU_OK;
	return was_late(self);
}

/* Collect everything that is needed while the target is stopped. */
static enum mu_status
read_target(struct mu_keeper_self *self, const struct mu_threads *threads)
{
	enum mu_status status;
	pid_t tid;
	int state;
	uint64_t needed = self->read_ns;
	uint64_t end_ns = mu_sys_now_ns() + needed;

	/* The rest of the time: stopping the threads took some. */
	if (end_ns > self->work->stop_ns) {
		self->result->stopped_long =
		    needed <= self->asked->max_pause_ns;
		return mu_pause_too_long(self->asked->target, self->bytes,
		    end_ns - threads->begin_ns + needed, &self->result->why);
	}
	self->result->method_used = MU_KEEPER_READ;
	status = mu_keeper_read_mappings(
	    self, threads->tracees[0].tid, self->work->stop_ns);
	if (status != MU_OK)
		return status == MU_ERR_TIMEOUT ? was_late(self) : status;
	status = await_reading(self);
	if (status != MU_OK)
		return status;
	tid = self->work->snap.threads[0].tid;
	state = mu_proc_state(self->asked->target, tid);
	if (state < 0 || mu_proc_ended(state))
		return mu_why(&self->result->why, MU_ERR_TARGET_GONE,
		    "process %d ended while it was read", self->asked->target);
	return MU_OK;
}

/* When a copy must be there. */
static uint64_t
copy_end(const struct mu_keeper_self *self)
{
	return self->work->stop_ns -
	    mu_copy_pause_beside(self->asked->max_pause_ns);
}

/* The rest of the stop may be too short for a copy: use another stop. */
static enum mu_status
foresee_lateness(struct mu_keeper_self *self, const struct mu_threads *threads)
{
	uint64_t end_ns = mu_sys_now_ns() + self->fork_ns;

	if (end_ns <= copy_end(self))
		return MU_OK;
	return mu_pause_too_long(self->asked->target, 0,
	    end_ns - threads->begin_ns, &self->result->not_forked);
}

/*
 * Time to look for record locks, enough for about 1000 descriptors. After that
 * the tables are separated as if there were some.
 */
#define LOCKS_NS (5 * MU_NS_PER_MS)

/*
 * If the process executes a program while the copy shares its descriptors,
 * execve() gives it another table (unshare_files() in kernel/fork.c), and the
 * record locks stay with the copy. So the tables must be separate, or the copy
 * ended, before the process runs; the last quarter of the stop is for the end.
 * A killed copy that has no CPU by then is waited for all the same: lost locks
 * damage the program's files, a longer stop does not.
 */
#define PART_NS (2 * MU_NS_PER_SEC)

static void
end_copy(struct mu_process_copy *copy)
{
	uint64_t now_ns = mu_sys_now_ns();

	mu_process_copy_end(copy,
	    mu_record_locks_held(copy->pid, now_ns + LOCKS_NS)
		? now_ns + PART_NS
		: 0);
}

static enum mu_status
part_files(struct mu_keeper_self *self)
{
	struct mu_process_copy *copy = &self->work->copy;
	struct mu_why *why = &self->result->not_forked;
	uint64_t end_ns = self->work->stop_ns - self->asked->max_pause_ns / 4;
	enum mu_status status = MU_OK;

	if (!self->budget.tight)
		status = mu_process_copy_await_stop(copy, end_ns, why);
	if (status == MU_OK) {
		mu_process_copy_name(copy, end_ns);
		self->parted = mu_process_copy_leave_files(copy, end_ns);
	}
	if (self->parted)
		return MU_OK;
	mu_process_copy_end(copy, mu_sys_now_ns() + PART_NS);
	if (status != MU_OK || mu_sys_now_ns() >= end_ns)
		return mu_why(why, MU_ERR_TIMEOUT,
		    "the copy did not leave the descriptors of process %d in"
		    " time, which may hold record locks",
		    self->asked->target);
	return mu_why(why, MU_ERR_BUSY,
	    "process %d may hold record locks, and the copy cannot leave its"
	    " descriptors before Linux 5.9",
	    self->asked->target);
}

/*
 * The kernel was slower than estimated, or something came in between. The copy
 * is killed, and has gone when the keeper ends: its memory is freed, and a
 * thread reaps it, while the target runs, unless that may hold record locks.
 */
static void
give_up_copy(struct mu_keeper_self *self, const struct mu_threads *threads,
    enum mu_status status)
{
	uint64_t ns = mu_sys_now_ns() - threads->begin_ns;
	struct mu_process_copy *copy = &self->work->copy;
	struct mu_why *why = &self->result->not_forked;

	if (copy->pid == 0)
		return;
	mu_copy_budget_prefer(copy->pid);
	end_copy(copy);
	if (status == MU_ERR_TIMEOUT && self->budget.tight)
		mu_pause_too_long(self->asked->target, 0, ns, why);
	else if (status == MU_ERR_TIMEOUT)
		mu_pause_was_long(self->asked->target, ns, why);
}

/*
 * If there is no room for a copy none is made. Before the target runs, the OOM
 * killer must prefer the copy, which it does not know as long as it is being
 * made. So where memory is short all threads wait for it until the stop is
 * over, and none is begun without time to spare (MU_COPY_MARGIN).
 */
static enum mu_status
make_copy(struct mu_keeper_self *self, struct mu_threads *threads)
{
	struct mu_process_copy *copy = &self->work->copy;
	struct mu_why *why = &self->result->not_forked;
	enum mu_status status = self->has_room;

	if (status == MU_OK)
		status = foresee_lateness(self, threads);
	if (status != MU_OK)
		return status;
	threads->hold_ns =
	    self->budget.tight ? self->work->stop_ns - copy_end(self) : 0;
	status = mu_process_copy_make(
	    copy, threads, self->fork_ns, copy_end(self), why);
	self->result->copied_long = status == MU_ERR_TIMEOUT && copy->pid != 0;
	if (status != MU_OK) {
		give_up_copy(self, threads, status);
		return status;
	}
	mu_copy_budget_prefer(copy->pid);
	/* Until then the OOM killer would choose the target. */
	if (self->budget.tight)
		status =
		    mu_process_copy_await_stop(copy, self->work->stop_ns, why);
	if (status != MU_OK)
		end_copy(copy);
	if (status == MU_OK &&
	    mu_record_locks_held(copy->pid, mu_sys_now_ns() + LOCKS_NS))
		status = part_files(self);
	return status;
}

/*
 * Read what the copy does not have, or shares. Leaves time to release the
 * threads, and a reserve for a busy machine.
 */
static enum mu_status
take_beside(struct mu_keeper_self *self, size_t num_threads)
{
	struct mu_shared_pages *shared = &self->result->shared;
	pid_t tid = self->work->snap.threads[0].tid;
	pid_t copy = self->work->copy.pid;
	uint64_t last_ns = self->work->stop_ns - num_threads * RELEASE_NS;
	uint64_t spare_ns = self->asked->max_pause_ns / 4;
	uint64_t end_ns = last_ns - (spare_ns < SPARE_NS ? spare_ns : SPARE_NS);
	enum mu_status status = MU_OK;

	mu_shared_pages_relist(shared);
	shared->threads = self->work->snap.threads;
	shared->num_threads = self->work->snap.num_threads;

	if (mu_mappings_pages(tid) != mu_mappings_pages(copy))
		status = mu_shared_pages_compare(
		    shared, tid, copy, last_ns, &self->result->why);
	self->result->stopped_long = status == MU_ERR_TIMEOUT;
	if (status == MU_OK)
		mu_shared_pages_take(shared, end_ns, last_ns);
	return status;
}

static enum mu_status
take_stopped(struct mu_keeper_self *self, struct mu_threads *threads,
    const struct mu_kernel_files *files)
{
	enum mu_status status;
	uint64_t begin_ns;

	status = mu_snapshot_live(&self->work->snap, threads, files,
	    &self->work->arena, &self->result->why);
	self->work->snap.unfrozen = true;
	if (status == MU_OK && self->asked->ask_stacks) {
		status = mu_alternate_stacks_add(&self->work->snap, threads,
		    &self->work->arena, self->work->stop_ns,
		    &self->result->unasked, &self->result->why);
		self->result->stopped_long = status == MU_ERR_TIMEOUT;
	}
	if (status != MU_OK || self->method == MU_KEEPER_READ)
		return status != MU_OK ? status : read_target(self, threads);
	begin_ns = mu_sys_now_ns();
	status = make_copy(self, threads);
	self->result->copy_ns = mu_sys_now_ns() - begin_ns;
	if (status == MU_OK) {
		self->result->method_used = MU_KEEPER_FORK;
		self->result->tight = self->budget.tight;
		self->result->apart = self->budget.apart;
		self->result->private = self->budget.private;
		return take_beside(self, threads->count);
	}
	self->result->stopped_long = status == MU_ERR_TIMEOUT;
	if (self->method == MU_KEEPER_FORK || status == MU_ERR_TARGET_GONE ||
	    status == MU_ERR_TIMEOUT) {
		self->result->why = self->result->not_forked;
		return status;
	}
	return read_target(self, threads);
}

/*
 * If a thread holds a lock the heap cannot be used at this moment; reading the
 * locks costs the target far less than a copy.
 */
static enum mu_status
look_at_locks(struct mu_keeper_self *self)
{
	size_t i;
	int lock = 0;

	for (i = 0; i < self->asked->num_locks && !self->result->locked; i++)
		self->result->locked =
		    mu_sys_pread(self->memory, &lock, sizeof(lock),
			self->asked->locks[i]) == sizeof(lock) &&
		    lock != 0;
	return self->result->locked
	    ? mu_why(&self->result->why, MU_ERR_HEAP_INCONSISTENT,
		  "a thread was inside malloc, each time")
	    : MU_OK;
}

/*
 * The remedy is an option of the command; which one depends on whether the
 * limit of the stop or of the whole check was reached.
 */
static void
advise_longer(struct mu_keeper_self *self)
{
	struct mu_why *why = &self->result->why;
	uint64_t least = 5 * self->asked->max_pause_ns / 2;
	bool is_last = self->work->stop_ns == self->asked->deadline_ns;

	mu_why_drop_cure(why);
	if (is_last)
		mu_why_cure(why, "give it more time (--timeout)");
	else
		mu_why_cure(why,
		    "it may be stopped for longer with --max-pause=%us",
		    mu_pause_advice(least));
}

/*
 * What was opened and listed before the stop belongs to the program of that
 * moment; the process may have executed another one since. That has just
 * started, so it has few mappings.
 */
static enum mu_status
follow_exec(struct mu_keeper_self *self)
{
	pid_t tid = mu_proc_living(self->asked->target);
	enum mu_status status;

	if (mu_program_id_is(&self->result->program, tid))
		return MU_OK;
	status = mu_keeper_open_target(self);
	if (status == MU_OK)
		mu_keeper_list_shared(self);
	return status;
}

/* Wait for a thread that was late before, for at most half of the time. */
static enum mu_status
await_late(struct mu_keeper_self *self, struct mu_threads *threads)
{
	uint64_t now = mu_sys_now_ns(), end_ns = self->asked->deadline_ns;

	threads->before = self->asked->late;
	return mu_threads_await_late(threads,
	    end_ns > now ? now + (end_ns - now) / 2 : now,
	    self->asked->max_pause_ns, &self->result->why);
}

static enum mu_status
check_asleep(struct mu_keeper_self *self)
{
	pid_t target = self->asked->target;
	pid_t tid = mu_asleep_woken(&self->asleep, target);

	return tid == 0
	    ? MU_OK
	    : mu_why(&self->result->why, MU_ERR_HEAP_INCONSISTENT,
		  "thread %d of process %d, which was in uninterruptible sleep,"
		  " woke up while the others were stopped" MU_CURE "ask again",
		  tid, target);
}

/* The threads are stopped in here, within the time limit. */
enum mu_status
mu_keeper_stop_and_take(struct mu_keeper_self *self, struct mu_threads *threads,
    const struct mu_kernel_files *files)
{
	enum mu_status status = await_late(self, threads);
	uint64_t stop_ns = mu_sys_now_ns() + self->asked->max_pause_ns;
	bool last = stop_ns > self->asked->deadline_ns;
	struct mu_priority priority;

	if (status != MU_OK)
		return status;
	if (last)
		stop_ns = self->asked->deadline_ns;
	self->work->stop_ns = stop_ns;
	mu_priority_raise_above(&priority);
	if (priority.above)
		threads->lender = &self->lender;
	status = mu_threads_stop_listed(threads, stop_ns, &self->result->why);
	self->result->stopped_long = status == MU_ERR_TIMEOUT && !last;
	self->result->late = threads->late;
	/* A longer stop would not help. */
	if (status == MU_ERR_TIMEOUT && last)
		mu_why(&self->result->why, status,
		    "process %d did not stop in time", self->asked->target);
	if (status == MU_OK)
		status = follow_exec(self);
	if (status == MU_OK)
		status = look_at_locks(self);
	if (status == MU_OK)
		status = take_stopped(self, threads, files);
	if (status == MU_OK)
		status = check_asleep(self);
	mu_threads_release(threads);
	self->result->pause_ns = threads->end_ns - threads->begin_ns;
	mu_priority_restore(&priority);
	self->work->copy.lender = NULL;
	if (self->result->stopped_long &&
	    self->result->method_used != MU_KEEPER_READ)
		advise_longer(self);
	return status;
}
