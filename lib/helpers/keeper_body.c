/*
 * What the keeper does: see keeper.h.
 *
 * Runs in: the keeper. A copy of a process with threads, whose libc locks may
 * be held for ever: raw system calls only.
 */
#include <string.h>

#include "lib/helpers/copy_pause.h"
#include "lib/helpers/keeper_drop.h"
#include "lib/helpers/keeper_line.h"
#include "lib/helpers/urgency.h"
#include "lib/helpers/worker_threads.h"
#include "lib/state/room.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/alternate_stacks.h"
#include "ptrace/live/mappings.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/process_copy_end.h"
#include "ptrace/live/record_locks.h"
#include "ptrace/live/refusal.h"
#include "ptrace/live/snapshot.h"
#include "ptrace/live/threads.h"

/*
 * Stack that is written to before the stop, and arena a thread and in all:
 * memory that runs out then would end the keeper in the middle.
 */
#define STACK_TOUCHED ((size_t)64 << 10)
#define ARENA_OF_THREAD ((size_t)2 << 10)
#define ARENA_TOUCHED ((size_t)256 << 10)

/*
 * And for what is read beside a copy: a byte takes 0.2 to 0.5 ns then, and 1.3
 * to 7.6 where the pages have to be found first (2 cores of a virtual machine,
 * Linux 6.18). More than a stop may take at the best rate is not read.
 */
#define BEST_RATE 4 /* bytes a ns; with more than one reader twice that */

/* How long it takes to let a thread go. */
#define RELEASE_NS (15 * 1000ull)

/* What is read beside a copy ends so long before that, or a quarter. */
#define SPARE_NS (50 * 1000 * 1000ull)

/*
 * Killing a late copy takes as long as making it, with all threads stopped. So
 * a copy that is a little late is used.
 */
#define LATE_NS (200 * 1000 * 1000ull)

struct keeping {
	struct mu_keeper_work *work;
	const struct mu_keeper *asked;
	struct mu_keeper_result *result;
	int memory, pagemap;           /* of the target */
	int copy_memory, copy_pagemap; /* -1: there is no copy */
	struct mu_room room;           /* for a copy */
	enum mu_status has_room;
	enum mu_keeper_way way;
	uint64_t bytes; /* that reading would have to read */
	struct mu_forked forked;
	uint64_t fork_ns; /* that a copy will take, about */
	bool parted;      /* the copy has no files of the process any more */
	struct mu_worker_threads threads; /* they share reading in the stop */
};

static int
open_file(pid_t pid, const char *name)
{
	char path[64];

	mu_text_format(path, sizeof(path), "/proc/%d/%s", pid, name);
	return mu_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
}

static enum mu_status
open_target(struct keeping *keeping)
{
	pid_t tid = mu_proc_living(keeping->asked->target);
	int error;

	keeping->memory = open_file(tid, "mem");
	keeping->pagemap = open_file(tid, "pagemap");
	if (keeping->memory >= 0 && keeping->pagemap >= 0)
		return MU_OK;
	error = keeping->memory < 0 ? -keeping->memory : -keeping->pagemap;
	if (error == ENOENT)
		return mu_why(&keeping->result->why, MU_ERR_TARGET_GONE,
		    "there is no process %d", keeping->asked->target);
	if (error == ESRCH)
		return mu_why(&keeping->result->why, MU_ERR_ARGUMENT,
		    "process %d has no memory: it has ended and was not waited"
		    " for, or is a thread of the kernel",
		    keeping->asked->target);
	return mu_refusal(keeping->asked->target, keeping->asked->target, error,
	    &keeping->result->why);
}

static enum mu_status
read_mappings(struct keeping *keeping, pid_t pid)
{
	return mu_mappings_read(pid, &keeping->work->snap.mappings,
	    &keeping->work->snap.num_mappings, &keeping->work->arena,
	    &keeping->result->why);
}

static bool
say(struct keeping *keeping, enum mu_keeper_message message)
{
	const int fds[] = { keeping->memory, keeping->pagemap,
		keeping->copy_memory, keeping->copy_pagemap };
	size_t count = 0;

	while (count < MU_KEEPER_LINE_FDS && fds[count] >= 0)
		count++;
	return mu_keeper_line_send(keeping->work->line, message, fds, count);
}

/* The command reads: its memory is what all of it goes to. */
static enum mu_status
await_reading(struct keeping *keeping)
{
	enum mu_keeper_message message = MU_KEEPER_CUT;
	int fds[MU_KEEPER_LINE_FDS];
	uint64_t needed;

	if (say(keeping, MU_KEEPER_READ_NOW))
		message = mu_keeper_line_receive(
		    keeping->work->line, fds, keeping->work->stop_ns);
	/* What was read may end at the deadline, and its message come in time.
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

/* Collect all that is needed while the target is stopped. */
static enum mu_status
read_target(struct keeping *keeping, const struct mu_threads *threads)
{
	enum mu_status status;
	pid_t tid;
	int state;
	uint64_t needed = mu_pause_ns(keeping->bytes);
	uint64_t end_ns = mu_sys_now_ns() + needed;

	/* What was left of it: stopping the threads took the rest. */
	if (end_ns > keeping->work->stop_ns) {
		keeping->result->stopped_long =
		    needed <= keeping->asked->max_pause_ns;
		return mu_pause_too_long(keeping->asked->target, keeping->bytes,
		    end_ns - threads->begin_ns + needed, &keeping->result->why);
	}
	keeping->result->taken = MU_KEEPER_READ;
	status = read_mappings(keeping, threads->tracees[0].tid);
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
 * The OOM killer does not know a copy that is still being made. Where room is
 * short none of the threads may write until it is there and preferred, and the
 * making of 256 MiB was seen to take over 200 ms on a busy machine. One that
 * waits for the program would do so for ever.
 */
#define HOLD_NS (2 * MU_NS_PER_SEC)

/* What is left of the stop may be too little for a copy: another one then. */
static enum mu_status
foresee_lateness(struct keeping *keeping, const struct mu_threads *threads)
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
 * record locks stay with the copy. So they must be apart, or the copy ended,
 * before the process runs.
 */
static enum mu_status
part_files(struct keeping *keeping)
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
 * Where a copy has no room there is none. The OOM killer shall take it, and not
 * the target, from before the target runs.
 */
static enum mu_status
make_copy(struct keeping *keeping, struct mu_threads *threads)
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
	/* Before that the OOM killer would take it, and more. */
	if (keeping->room.tight)
		status = mu_process_copy_settle(
		    copy, mu_sys_now_ns() + HOLD_NS, why);
	if (status == MU_OK && mu_record_locks_held(keeping->asked->target))
		status = part_files(keeping);
	return status;
}

/* A copy that is late is worth nothing without a little of what is beside. */
#define BESIDE_NS (20 * 1000 * 1000ull)

/*
 * What the copy does not have, or shares. Time is left for the release of the
 * threads, and a part of it for a busy machine.
 */
static enum mu_status
take_beside(struct keeping *keeping, size_t num_threads)
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
take_stopped(struct keeping *keeping, struct mu_threads *threads,
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

/* ESRCH: it has no memory any more. */
static enum mu_status
tell_unread(struct keeping *keeping, int error)
{
	if (error == ESRCH || error == ENOENT)
		return mu_why(
		    &keeping->result->why, MU_ERR_HELPER_DIED, MU_COPY_KILLED);
	return mu_why(&keeping->result->why, MU_ERR_NO_PERMISSION,
	    "the copy's memory may not be read (errno %d)", error);
}

/* The copy never runs, so all of this can be done after the stop. */
static enum mu_status
open_copy(struct keeping *keeping)
{
	pid_t pid = keeping->work->copy.pid;
	enum mu_status status = MU_OK;

	mu_shared_pages_take_rest(&keeping->result->shared);
	if (!keeping->room.tight && !keeping->parted)
		status = mu_process_copy_settle(&keeping->work->copy,
		    keeping->asked->deadline_ns, &keeping->result->why);
	if (status != MU_OK)
		return status;
	if (!keeping->parted) {
		mu_process_copy_name(
		    &keeping->work->copy, keeping->asked->deadline_ns);
		mu_process_copy_leave_files(
		    &keeping->work->copy, keeping->asked->deadline_ns);
	}
	keeping->copy_memory = open_file(pid, "mem");
	keeping->copy_pagemap = open_file(pid, "pagemap");
	if (keeping->copy_memory < 0 || keeping->copy_pagemap < 0)
		return tell_unread(keeping,
		    keeping->copy_memory < 0 ? -keeping->copy_memory
					     : -keeping->copy_pagemap);
	status = read_mappings(keeping, pid);
	if (status == MU_OK &&
	    !mu_shared_pages_merge(&keeping->result->shared,
		&keeping->work->snap.mappings,
		&keeping->work->snap.num_mappings))
		status = mu_why(&keeping->result->why, MU_ERR_NO_MEMORY,
		    "no memory for what a copy does not have");
	if (status == MU_OK)
		mu_shared_pages_complete(&keeping->result->shared,
		    keeping->work->snap.mappings,
		    keeping->work->snap.num_mappings, &keeping->work->copy,
		    keeping->copy_memory, keeping->asked->deadline_ns);
	return status;
}

/*
 * Where a thread has a lock there is nothing to be learnt at this moment: a
 * look at the locks costs the target far less than a copy.
 */
static enum mu_status
look_at_locks(struct keeping *keeping)
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

/* What is read of that which does not fit into the stop. */
#define LITTLE ((size_t)16 << 20)

/* What will be read beside a copy. */
static size_t
expect_beside(struct keeping *keeping)
{
	struct mu_shared_pages *shared = &keeping->result->shared;
	uint64_t most = keeping->asked->max_pause_ns * BEST_RATE;
	size_t beside;

	if (mu_workers_count(keeping->asked->workers) > 1)
		most *= 2;

	if (keeping->way == MU_KEEPER_READ)
		return 0;
	if (shared->limit < most)
		most = shared->limit;
	beside =
	    mu_shared_pages_expect(shared, most) + keeping->forked.left_out;
	if (beside < keeping->asked->expected)
		beside = keeping->asked->expected;
	shared->expected = beside;
	return beside < most ? beside : LITTLE;
}

static void
touch_arena(struct keeping *keeping, size_t num_threads)
{
	mu_arena_touch(&keeping->work->arena,
	    ARENA_TOUCHED + num_threads * ARENA_OF_THREAD +
		expect_beside(keeping));
}

/* For so much more threads are started, and so many: memory has no more. */
#define READ_BY_MORE ((size_t)32 << 20)
#define READERS_MAX 4

static void
be_urgent(void *ctx, unsigned worker)
{
	struct mu_urgency urgency;

	(void)ctx;
	if (worker > 0)
		mu_urgency_raise(&urgency);
}

/* They are there, and are urgent, before the stop. */
static void
start_readers(struct keeping *keeping)
{
	struct mu_shared_pages *shared = &keeping->result->shared;
	unsigned count = mu_workers_count(keeping->asked->workers);

	if (shared->expected < READ_BY_MORE)
		return;
	mu_worker_threads_open(
	    &keeping->threads, count < READERS_MAX ? count : READERS_MAX);
	shared->workers = &keeping->threads.workers;
	mu_workers_run(shared->workers, count, be_urgent, NULL);
}

static __attribute__((noinline)) void
touch_stack(void)
{
	volatile char stack[STACK_TOUCHED];
	size_t i;

	for (i = 0; i < sizeof(stack); i += 4096)
		stack[i] = 0;
}

static void
look_for_room(struct keeping *keeping)
{
	pid_t target = keeping->asked->target;

	mu_room_open(&keeping->room, target);
	mu_room_add_reader(&keeping->room);
	keeping->has_room = mu_room_judge(&keeping->room,
	    mu_room_can_prefer(target), &keeping->result->no_room);
	if (keeping->has_room == MU_OK)
		return;
	keeping->result->not_forked = keeping->result->no_room;
	if (keeping->way == MU_KEEPER_AUTO)
		keeping->way = MU_KEEPER_READ;
}

static void
list_shared(struct keeping *keeping)
{
	struct mu_keeper_work *work = keeping->work;
	pid_t tid = mu_proc_living(keeping->asked->target);
	size_t limit = work->size / 2;

	/* Reading it takes as much again. */
	if (keeping->asked->limit / 3 < limit)
		limit = keeping->asked->limit / 3;
	keeping->result->shared = (struct mu_shared_pages) {
		.tid = tid,
		.memory = keeping->memory,
		.pagemap = keeping->pagemap,
		.page_size = keeping->asked->page_size,
		.limit = limit,
		.arena = &work->arena,
		.ask_wiped = keeping->asked->ask_wiped,
	};
	if (keeping->way != MU_KEEPER_READ)
		mu_shared_pages_list(&keeping->result->shared, tid);
}

/*
 * There can be no copy, for that reason: is it to be read, or left alone? A
 * copy that takes too long is the lesser evil where reading does, too.
 */
static enum mu_status
avoid_copy(struct keeping *keeping, enum mu_status status)
{
	if (keeping->way == MU_KEEPER_FORK ||
	    (status == MU_ERR_TIMEOUT &&
		mu_pause_ns(keeping->bytes) > keeping->asked->max_pause_ns)) {
		keeping->result->why = keeping->result->not_forked;
		return status;
	}
	keeping->way = MU_KEEPER_READ;
	return MU_OK;
}

static enum mu_status
foresee_copy(struct keeping *keeping, size_t num_threads)
{
	pid_t target = keeping->asked->target;
	struct mu_why *why = &keeping->result->not_forked;
	uint64_t ns;

	ns = mu_copy_pause_of(
	    target, num_threads, keeping->result->shared.all, &keeping->forked);
	if (ns < keeping->asked->copied_ns)
		ns = keeping->asked->copied_ns;
	keeping->fork_ns = ns;
	if (keeping->forked.watched && mu_pause_fork_waits(target))
		return avoid_copy(keeping,
		    mu_why(why, MU_ERR_BUSY,
			"a fork of process %d may wait for ever for a"
			" userfaultfd that watches its memory",
			target));
	if (ns > keeping->asked->max_pause_ns)
		return avoid_copy(
		    keeping, mu_pause_too_long(target, 0, ns, why));
	return MU_OK;
}

/* Before the stop: what would make it long. */
static enum mu_status
foresee(struct keeping *keeping, size_t num_threads)
{
	struct mu_why *why = &keeping->result->why;
	pid_t target = keeping->asked->target;
	enum mu_status status;

	keeping->bytes = mu_pause_bytes(target);
	if (keeping->way != MU_KEEPER_READ) {
		status = foresee_copy(keeping, num_threads);
		if (status != MU_OK)
			return status;
	}
	if (keeping->way == MU_KEEPER_READ &&
	    mu_pause_ns(keeping->bytes) > keeping->asked->max_pause_ns)
		return mu_pause_too_long(target, keeping->bytes,
		    2 * mu_pause_ns(keeping->bytes), why);
	return mu_pause_await_calm(target, why);
}

/*
 * The cure is an option of the command; which, depends on what the stop met:
 * its own end, or that of the whole check.
 */
static void
advise_longer(struct keeping *keeping)
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

/* The threads are stopped in here, within the budget. */
static enum mu_status
stop_and_take(struct keeping *keeping, struct mu_threads *threads,
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

static enum mu_status
take(struct keeping *keeping)
{
	struct mu_kernel_files files;
	struct mu_threads threads;
	enum mu_status status;

	status = open_target(keeping);
	if (status != MU_OK)
		return status;
	look_for_room(keeping);
	mu_kernel_files_open(&files, mu_proc_living(keeping->asked->target));
	status = mu_threads_prepare(&threads, keeping->asked->target, 0,
	    &keeping->work->arena, &keeping->result->why);
	if (status == MU_OK) {
		list_shared(keeping);
		status = foresee(keeping, threads.count);
	}
	if (status == MU_OK) {
		threads.code.at.back =
		    mu_remote_code_back(mu_proc_living(keeping->asked->target));
		touch_arena(keeping, threads.count);
		start_readers(keeping);
		touch_stack();
		status = stop_and_take(keeping, &threads, &files);
	}
	mu_kernel_files_close(&files);
	if (status == MU_OK && keeping->result->taken == MU_KEEPER_FORK)
		status = open_copy(keeping);
	return status;
}

/* For copies that earlier looks have left behind. */
#define DROP_LEFT_NS MU_NS_PER_SEC

/* How long a copy may take that is to go. */
#define LOSE_NS (10 * MU_NS_PER_SEC)

/*
 * While the command reads the copy: has it been killed, or must it go? What is
 * read from here on is worth nothing, and the command must see that first.
 */
static bool
is_lost(struct keeping *keeping)
{
	struct mu_keeper_work *work = keeping->work;
	bool is_short = mu_room_is_short(&keeping->room);

	if (!is_short && !mu_process_copy_was_killed(&work->copy))
		return false;
	if (is_short || keeping->room.tight)
		work->loss.status =
		    mu_room_refuse(&keeping->room, &work->loss.why);
	else
		work->loss.status =
		    mu_why(&work->loss.why, MU_ERR_HELPER_DIED, MU_COPY_KILLED);
	__atomic_store_n(&work->loss.lost, true, __ATOMIC_RELEASE);
	mu_process_copy_end(&work->copy, mu_sys_now_ns() + LOSE_NS);
	return true;
}

/* Where room is short the program can be faster than a watch that waits. */
static void
watch_copy(struct keeping *keeping)
{
	struct mu_urgency urgency = { .raised = false };

	if (keeping->room.tight)
		mu_urgency_raise(&urgency);
	while (!is_lost(keeping) &&
	    !mu_keeper_line_await_cut(
		keeping->work->line, keeping->room.next_ns))
		continue;
	mu_urgency_drop(&urgency);
}

/* What the command has asked for, unless it is gone already. */
static void
serve(struct keeping *keeping)
{
	if (mu_keeper_line_await_cut(keeping->work->line, 0))
		return;
	keeping->result->status = take(keeping);
	if (say(keeping, MU_KEEPER_TAKEN) && keeping->result->status == MU_OK &&
	    keeping->result->taken == MU_KEEPER_FORK)
		watch_copy(keeping);
}

void
mu_keeper_body(void *arg)
{
	struct mu_keeper_work *work = arg;
	const int keep[] = { work->line, work->alive, work->ended,
		mu_procfs_descriptor() };
	struct keeping keeping = {
		.work = work,
		.asked = &work->asked,
		.result = &work->result,
		.way = work->asked.way,
		.memory = -1,
		.pagemap = -1,
		.copy_memory = -1,
		.copy_pagemap = -1,
		.room = { .headroom = { .meminfo = -1 } },
	};

	mu_keeper_settle("mu-keeper", keep, sizeof(keep) / sizeof(keep[0]));
	serve(&keeping);
	mu_sys_close(&keeping.copy_memory);
	mu_sys_close(&keeping.copy_pagemap);
	mu_room_close(&keeping.room);
	mu_keeper_drop(work);
	mu_process_copy_drop_left(work->asked.target, work->copy.code.back,
	    mu_sys_now_ns() + DROP_LEFT_NS);
	work->done = true;
	mu_sys_exit(0);
}
