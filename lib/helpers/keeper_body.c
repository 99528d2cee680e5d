/*
 * The work of the keeper: see keeper.h.
 *
 * Runs in: the keeper. It is a copy of a process with threads, in which libc
 * locks may be held for ever: raw system calls only.
 */
#include "lib/helpers/keeper_keeping.h"

#include "lib/helpers/copy_pause.h"
#include "lib/helpers/keeper_line.h"
#include "lib/helpers/urgency.h"
#include "lib/helpers/worker_threads.h"
#include "lib/state/room.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/process_copy_end.h"
#include "ptrace/live/refusal.h"
#include "ptrace/live/threads.h"

/*
 * Stack that is touched before the stop, and arena per thread and in all: if
 * memory ran out during the stop the keeper would die there.
 */
#define STACK_TOUCHED ((size_t)64 << 10)
#define ARENA_OF_THREAD ((size_t)2 << 10)
#define ARENA_TOUCHED ((size_t)256 << 10)

/*
 * Memory for what is read besides a copy. Then a byte takes 0.2 to 0.5 ns, but
 * 1.3 to 7.6 if the pages must be allocated first (2 cores of a virtual
 * machine, Linux 6.18). No more is read than fits into a stop at the best rate.
 */
#define BEST_RATE 4 /* bytes a ns; of each further reader a quarter of that */

/*
 * For so much more threads are started, and so many: memory has no more. Two
 * were seen to read 4.8 bytes a ns.
 */
#define READ_BY_MORE ((size_t)32 << 20)
#define READERS_MAX 4

/* The part that is read if it does not all fit into the stop. */
#define LITTLE ((size_t)16 << 20)

/* Before the stop: find out what is needed and how long it takes. */

/* The bytes to be read besides a copy. */
static size_t
expect_beside(struct mu_keeping *keeping)
{
	struct mu_shared_pages *shared = &keeping->result->shared;
	uint64_t most = keeping->asked->max_pause_ns * BEST_RATE;
	unsigned readers = mu_workers_count(keeping->asked->workers);
	size_t beside;

	if (readers > READERS_MAX)
		readers = READERS_MAX;
	most += most / 4 * (readers - 1);
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
touch_arena(struct mu_keeping *keeping, size_t num_threads)
{
	mu_arena_touch(&keeping->work->arena,
	    ARENA_TOUCHED + num_threads * ARENA_OF_THREAD +
		expect_beside(keeping));
}

static void
be_urgent(void *ctx, unsigned worker)
{
	struct mu_urgency urgency;

	(void)ctx;
	if (worker > 0)
		mu_urgency_raise(&urgency);
}

/* Start threads and raise their priority before the stop. */
static void
start_readers(struct mu_keeping *keeping)
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

/* Before the stop: check that there is room for a copy. */
static void
find_room(struct mu_keeping *keeping)
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

void
mu_keeping_list_shared(struct mu_keeping *keeping)
{
	struct mu_keeper_work *work = keeping->work;
	pid_t tid = mu_proc_living(keeping->asked->target);
	size_t limit = work->size / 2;

	/* Reading it needs as much memory again. */
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
 * No copy can be made, for the reason in STATUS: read the process directly, or
 * give up. If reading takes too long as well, a copy that takes too long is
 * better.
 */
static enum mu_status
avoid_copy(struct mu_keeping *keeping, enum mu_status status)
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
foresee_copy(struct mu_keeping *keeping, size_t num_threads)
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

/* Choose the method, or refuse if the stop would be too long. */
static enum mu_status
foresee(struct mu_keeping *keeping, size_t num_threads)
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

/* Allocate all memory and threads that the stop needs. */
static void
prepare(struct mu_keeping *keeping, size_t num_threads)
{
	touch_arena(keeping, num_threads);
	start_readers(keeping);
	touch_stack();
}

static int
open_file(pid_t pid, const char *name)
{
	char path[64];

	mu_text_format(path, sizeof(path), "/proc/%d/%s", pid, name);
	return mu_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
}

enum mu_status
mu_keeping_open_target(struct mu_keeping *keeping)
{
	pid_t tid = mu_proc_living(keeping->asked->target);
	int error;

	mu_sys_close(&keeping->memory);
	mu_sys_close(&keeping->pagemap);
	keeping->memory = open_file(tid, "mem");
	keeping->pagemap = open_file(tid, "pagemap");
	mu_program_id_read(&keeping->result->program, tid, keeping->memory);
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

/* ESRCH: it has no memory any more. */
static enum mu_status
tell_unread(struct mu_keeping *keeping, int error)
{
	if (error == ESRCH || error == ENOENT)
		return mu_why(
		    &keeping->result->why, MU_ERR_HELPER_DIED, MU_COPY_KILLED);
	return mu_why(&keeping->result->why, MU_ERR_NO_PERMISSION,
	    "the copy's memory may not be read (errno %d)", error);
}

/* The copy never runs, so this can be done after the stop. */
static enum mu_status
open_copy(struct mu_keeping *keeping)
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
	status = mu_keeping_read_mappings(keeping, pid);
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

static enum mu_status
take(struct mu_keeping *keeping)
{
	struct mu_kernel_files files;
	struct mu_threads threads;
	enum mu_status status;

	status = mu_keeping_open_target(keeping);
	if (status != MU_OK)
		return status;
	find_room(keeping);
	mu_kernel_files_open(&files, mu_proc_living(keeping->asked->target));
	status = mu_threads_prepare(&threads, keeping->asked->target, 0,
	    &keeping->work->arena, &keeping->result->why);
	if (status == MU_OK) {
		mu_keeping_list_shared(keeping);
		status = foresee(keeping, threads.count);
	}
	if (status == MU_OK) {
		threads.code.at.back =
		    mu_remote_code_back(mu_proc_living(keeping->asked->target));
		prepare(keeping, threads.count);
		status = mu_keeping_stop_and_take(keeping, &threads, &files);
	}
	mu_kernel_files_close(&files);
	if (status == MU_OK && keeping->result->taken == MU_KEEPER_FORK)
		status = open_copy(keeping);
	return status;
}

/* Time to remove copies that earlier checks have left behind. */
#define DROP_LEFT_NS MU_NS_PER_SEC

/* Time for a copy that is being ended. */
#define LOSE_NS (10 * MU_NS_PER_SEC)

/*
 * Called while the command reads the copy: true if the copy was killed or must
 * end. What is read from then on is invalid, and the command must learn that
 * first.
 */
static bool
is_lost(struct mu_keeping *keeping)
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

/* If memory is short the program can be faster than a watch that sleeps. */
static void
watch_copy(struct mu_keeping *keeping)
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

/* Serve the command's requests until it is gone. */
static void
serve(struct mu_keeping *keeping)
{
	if (mu_keeper_line_await_cut(keeping->work->line, 0))
		return;
	keeping->result->status = take(keeping);
	if (mu_keeping_say(keeping, MU_KEEPER_TAKEN) &&
	    keeping->result->status == MU_OK &&
	    keeping->result->taken == MU_KEEPER_FORK)
		watch_copy(keeping);
}

void
mu_keeper_body(void *arg)
{
	struct mu_keeper_work *work = arg;
	const int keep[] = { work->line, work->alive, work->ended,
		mu_procfs_descriptor() };
	struct mu_keeping keeping = {
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
