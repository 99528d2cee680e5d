/*
 * The work of the keeper: see keeper.h.
 *
 * Runs in: the keeper. It is a copy of a process with threads, in which libc
 * locks may be held for ever: raw system calls only.
 */
#include "lib/helpers/keeper_self.h"

#include "lib/helpers/copy_pause.h"
#include "lib/helpers/keeper_socket.h"
#include "lib/helpers/priority.h"
#include "lib/helpers/worker_threads.h"
#include "lib/state/copy_budget.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/refusal.h"
#include "ptrace/live/threads.h"
#include "ptrace/remote/process_copy_end.h"

/*
 * Stack that is touched before the stop, and arena per thread, per mapping that
 * is listed then, and in all: if memory ran out during the stop the keeper
 * would die there.
 */
#define STACK_TOUCHED ((size_t)64 << 10)
#define ARENA_OF_THREAD ((size_t)2 << 10)
#define ARENA_OF_MAPPING ((size_t)512)
#define ARENA_TOUCHED ((size_t)256 << 10)

/*
 * Memory for what is read besides a copy. Then a byte takes 0.2 to 0.5 ns, but
 * 1.3 to 7.6 if the pages must be allocated first (2 cores of a virtual
 * machine, Linux 6.18). No more is read than fits into a stop at the best rate.
 */
#define BEST_RATE 4 /* bytes a ns; of each further reader a quarter of that */
#define MOST_RATE 8 /* the same of a reader that keeps only what matters */

/*
 * For so much more threads are started, up to MU_READERS_MAX. Two were seen to
 * read 4.8 bytes a ns, and 8.8 if they keep only what matters.
 */
#define READ_BY_MORE ((size_t)32 << 20)

/* The part that is read if it does not all fit into the stop. */
#define LITTLE ((size_t)16 << 20)

/* Runs before the stop: find out what is needed and how long it takes. */

static unsigned
count_readers(const struct mu_keeper_self *self)
{
	unsigned count = mu_workers_count(self->asked->workers);

	return count < MU_READERS_MAX ? count : MU_READERS_MAX;
}

/*
 * Estimate the bytes to be read besides a copy. Returns how many of them will
 * be kept.
 */
static size_t
expect_beside(struct mu_keeper_self *self)
{
	struct mu_shared_pages *shared = &self->result->shared;
	uint64_t most = self->asked->max_pause_ns * BEST_RATE;
	unsigned readers = count_readers(self);
	size_t beside;

	most += most / 4 * (readers - 1);
	if (self->method == MU_KEEPER_READ)
		return 0;
	beside = mu_shared_pages_expect(shared, MOST_RATE * most / BEST_RATE) +
	    self->forked.dontfork;
	if (!shared->keep_all)
		shared->expected_sifted += self->forked.dontfork_large;
	if (beside < self->asked->expected)
		beside = self->asked->expected;
	shared->expected = beside;
	if (mu_shared_pages_sift(shared, readers, self->asked->kept))
		beside -= shared->expected_sifted;
	if (shared->limit < most)
		most = shared->limit;
	return beside < most ? beside : LITTLE;
}

static void
touch_arena(struct mu_keeper_self *self, size_t num_threads)
{
	size_t mappings =
	    self->method == MU_KEEPER_READ ? self->result->shared.all : 0;

	mu_arena_touch(&self->work->arena,
	    ARENA_TOUCHED + num_threads * ARENA_OF_THREAD +
		mappings * ARENA_OF_MAPPING + expect_beside(self));
}

static void
be_urgent(void *ctx, unsigned worker)
{
	struct mu_priority priority;

	(void)ctx;
	if (worker > 0)
		mu_priority_raise(&priority);
}

/* Start threads and raise their priority before the stop. */
static void
start_readers(struct mu_keeper_self *self)
{
	struct mu_shared_pages *shared = &self->result->shared;
	unsigned count = count_readers(self);

	if (shared->expected < READ_BY_MORE)
		return;
	mu_worker_threads_open(&self->threads, count);
	shared->workers = &self->threads.workers;
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

/* Runs before the stop: check that there is room for a copy. */
static void
find_room(struct mu_keeper_self *self)
{
	struct mu_cgroups_known *known = self->asked->cgroups;
	pid_t target = self->asked->target;

	mu_copy_budget_open(&self->budget, target, known);
	mu_copy_budget_add_reader(&self->budget, known);
	self->has_room = mu_copy_budget_check(&self->budget,
	    mu_copy_budget_can_prefer(target), &self->result->no_room);
	if (self->has_room == MU_OK)
		return;
	self->result->not_forked = self->result->no_room;
	if (self->method == MU_KEEPER_AUTO)
		self->method = MU_KEEPER_READ;
}

void
mu_keeper_list_shared(struct mu_keeper_self *self)
{
	struct mu_keeper_work *work = self->work;
	pid_t tid = mu_proc_living(self->asked->target);
	size_t limit = work->size / 2;

	/* Reading it needs as much memory again. */
	if (self->asked->limit / 3 < limit)
		limit = self->asked->limit / 3;
	self->result->shared = (struct mu_shared_pages) {
		.tid = tid,
		.memory = self->memory,
		.pagemap = self->pagemap,
		.page_size = self->asked->page_size,
		.limit = limit,
		.arena = &work->arena,
		.ask_wiped = self->asked->ask_wiped,
		.keep_all = self->asked->keep_all,
	};
	if (self->method != MU_KEEPER_READ)
		mu_shared_pages_list(&self->result->shared, tid);
}

/*
 * No copy can be made, for the reason in STATUS: read the process directly, or
 * give up. If reading takes too long as well, a copy that takes too long is
 * better.
 */
static enum mu_status
avoid_copy(struct mu_keeper_self *self, enum mu_status status)
{
	if (self->method == MU_KEEPER_FORK ||
	    (status == MU_ERR_TIMEOUT &&
		self->read_ns > self->asked->max_pause_ns)) {
		self->result->why = self->result->not_forked;
		return status;
	}
	self->method = MU_KEEPER_READ;
	return MU_OK;
}

/*
 * A copy was late, perhaps because the machine was busy for a moment: make
 * another one, once, if the process cannot be read instead.
 */
static bool
worth_another_copy(const struct mu_keeper_self *self)
{
	return self->asked->late_copies < 2 &&
	    (self->method == MU_KEEPER_FORK ||
		self->read_ns > self->asked->max_pause_ns);
}

static enum mu_status
foresee_copy(struct mu_keeper_self *self, size_t num_threads)
{
	pid_t target = self->asked->target, tid = mu_proc_living(target);
	struct mu_why *why = &self->result->not_forked;
	uint64_t most = self->asked->max_pause_ns, ns;

	/* smaps would take 3 us for each, under the lock of its memory. */
	ns = mu_copy_pause_ns(num_threads, self->result->shared.all, 0);
	if (ns > most && self->method == MU_KEEPER_AUTO &&
	    self->read_ns <= most)
		return avoid_copy(self, mu_pause_too_long(target, 0, ns, why));
	ns = mu_copy_pause_of(tid, num_threads, self->result->shared.all,
	    self->lender.tid != 0, &self->forked);
	if (ns < self->asked->copied_ns && !worth_another_copy(self))
		ns = self->asked->copied_ns;
	if (self->budget.tight)
		ns *= MU_COPY_MARGIN;
	self->fork_ns = ns;
	ns += mu_copy_pause_beside(most);
	if (mu_pause_is_frozen(tid))
		return avoid_copy(self,
		    mu_why(why, MU_ERR_BUSY,
			"process %d is frozen by its cgroup, as by docker pause,"
			" and makes no system call" MU_CURE "let it run",
			target));
	if (self->forked.watched && mu_pause_fork_waits(tid))
		return avoid_copy(self,
		    mu_why(why, MU_ERR_BUSY,
			"a fork of process %d may wait for ever for a"
			" userfaultfd that watches its memory",
			target));
	if (ns > most)
		return avoid_copy(self, mu_pause_too_long(target, 0, ns, why));
	return MU_OK;
}

/* Choose the method, or refuse if the stop would be too long. */
static enum mu_status
foresee(struct mu_keeper_self *self, struct mu_threads *threads)
{
	struct mu_why *why = &self->result->why;
	pid_t target = self->asked->target;
	enum mu_status status;

	self->bytes = mu_pause_bytes(mu_proc_living(target));
	self->read_ns = mu_pause_read_ns(self->bytes, self->result->shared.all);
	if (self->method != MU_KEEPER_READ) {
		status = foresee_copy(self, threads->count);
		if (status != MU_OK)
			return status;
	}
	if (self->method == MU_KEEPER_READ &&
	    self->read_ns > self->asked->max_pause_ns)
		return mu_pause_too_long(
		    target, self->bytes, 2 * self->read_ns, why);
	status = mu_pause_await_interruptible(
	    target, &threads->filtered, &self->asleep, why);
	if (status == MU_OK && self->asleep.count >= threads->count)
		return mu_pause_sleeps(target, self->asleep.tids[0], why);
	threads->asleep = &self->asleep;
	self->result->asleep = self->asleep.count;
	return status;
}

/* Allocate all memory and threads that the stop needs. */
static void
prepare(struct mu_keeper_self *self, size_t num_threads)
{
	touch_arena(self, num_threads);
	start_readers(self);
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
mu_keeper_open_target(struct mu_keeper_self *self)
{
	pid_t tid = mu_proc_living(self->asked->target);
	int error;

	mu_sys_close(&self->memory);
	mu_sys_close(&self->pagemap);
	self->memory = open_file(tid, "mem");
	self->pagemap = open_file(tid, "pagemap");
	mu_program_id_read(&self->result->program, tid, self->memory);
	if (self->memory >= 0 && self->pagemap >= 0)
		return MU_OK;
	error = self->memory < 0 ? -self->memory : -self->pagemap;
	if (error == ENOENT)
		return mu_why(&self->result->why, MU_ERR_TARGET_GONE,
		    "there is no process %d", self->asked->target);
	if (error == ESRCH)
		return mu_why(&self->result->why, MU_ERR_ARGUMENT,
		    "process %d has no memory: it has ended and was not waited"
		    " for, or is a thread of the kernel",
		    self->asked->target);
	return mu_refusal(self->asked->target, self->asked->target, error,
	    &self->result->why);
}

/* ESRCH: it has no memory any more. */
static enum mu_status
report_unread(struct mu_keeper_self *self, int error)
{
	if (error == ESRCH || error == ENOENT)
		return mu_why(
		    &self->result->why, MU_ERR_HELPER_DIED, MU_COPY_KILLED);
	return mu_why(&self->result->why, MU_ERR_NO_PERMISSION,
	    "the copy's memory may not be read (errno %d)", error);
}

/* The copy never runs, so this can be done after the stop. */
static enum mu_status
open_copy(struct mu_keeper_self *self)
{
	pid_t pid = self->work->copy.pid;
	enum mu_status status = MU_OK;

	mu_shared_pages_take_rest(&self->result->shared);
	if (!self->budget.tight && !self->parted)
		status = mu_process_copy_await_stop(&self->work->copy,
		    self->asked->deadline_ns, &self->result->why);
	if (status != MU_OK)
		return status;
	if (!self->parted) {
		mu_process_copy_name(
		    &self->work->copy, self->asked->deadline_ns);
		mu_process_copy_leave_files(
		    &self->work->copy, self->asked->deadline_ns);
	}
	self->copy_memory = open_file(pid, "mem");
	self->copy_pagemap = open_file(pid, "pagemap");
	if (self->copy_memory < 0 || self->copy_pagemap < 0)
		return report_unread(self,
		    self->copy_memory < 0 ? -self->copy_memory
					  : -self->copy_pagemap);
	status = mu_keeper_read_mappings(self, pid, 0);
	if (status == MU_OK &&
	    !mu_shared_pages_merge(&self->result->shared,
		&self->work->snap.mappings, &self->work->snap.num_mappings))
		status = mu_why(&self->result->why, MU_ERR_NO_MEMORY,
		    "no memory for what a copy does not have");
	if (status == MU_OK)
		mu_shared_pages_complete(&self->result->shared,
		    self->work->snap.mappings, self->work->snap.num_mappings,
		    &self->work->copy, self->copy_memory,
		    self->asked->deadline_ns);
	return status;
}

static enum mu_status
take(struct mu_keeper_self *self)
{
	struct mu_kernel_files files;
	struct mu_threads threads;
	enum mu_status status;

	status = mu_keeper_open_target(self);
	if (status != MU_OK)
		return status;
	find_room(self);
	if (mu_priority_may_be_above())
		mu_lender_open(&self->lender);
	mu_kernel_files_open(&files, mu_proc_living(self->asked->target));
	status = mu_threads_prepare(&threads, self->asked->target, 0,
	    &self->work->arena, &self->result->why);
	if (status == MU_OK) {
		mu_keeper_list_shared(self);
		status = foresee(self, &threads);
	}
	if (status == MU_OK) {
		threads.code.at.back =
		    mu_remote_code_back(mu_proc_living(self->asked->target));
		prepare(self, threads.count);
		status = mu_keeper_stop_and_take(self, &threads, &files);
	}
	mu_kernel_files_close(&files);
	if (status == MU_OK && self->result->method_used == MU_KEEPER_FORK)
		status = open_copy(self);
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
is_lost(struct mu_keeper_self *self)
{
	struct mu_keeper_work *work = self->work;
	bool is_short = mu_copy_budget_is_short(&self->budget);

	if (!is_short && !mu_process_copy_was_killed(&work->copy))
		return false;
	if (is_short || self->budget.tight)
		work->loss.status =
		    mu_copy_budget_refuse(&self->budget, &work->loss.why);
	else
		work->loss.status =
		    mu_why(&work->loss.why, MU_ERR_HELPER_DIED, MU_COPY_KILLED);
	__atomic_store_n(&work->loss.lost, true, __ATOMIC_RELEASE);
	mu_process_copy_end(&work->copy, mu_sys_now_ns() + LOSE_NS);
	return true;
}

static bool
answer(struct mu_keeper_self *self)
{
	mu_shared_pages_again(&self->result->shared, self->work->snap.mappings,
	    self->work->snap.num_mappings, &self->work->copy, self->copy_memory,
	    self->asked->deadline_ns);
	return mu_keeper_socket_send(
	    self->work->socket, MU_KEEPER_ASKED, NULL, 0);
}

/* False if the command needs the copy no more. */
static bool
attend(struct mu_keeper_self *self)
{
	int fds[MU_KEEPER_SOCKET_FDS];

	switch (mu_keeper_socket_receive(
	    self->work->socket, fds, self->budget.next_ns)) {
	case MU_KEEPER_TIMEOUT:
		return true;
	case MU_KEEPER_ASK:
		return answer(self);
	default:
		return false;
	}
}

/* If memory is short the program can be faster than a watch that sleeps. */
static void
watch_copy(struct mu_keeper_self *self)
{
	struct mu_priority priority = { .raised = false };

	if (self->budget.tight)
		mu_priority_raise(&priority);
	while (!is_lost(self) && attend(self))
		continue;
	mu_priority_restore(&priority);
}

/* Serve the command's requests until it is gone. */
static void
serve(struct mu_keeper_self *self)
{
	if (mu_keeper_socket_await_close(self->work->socket, 0))
		return;
	self->result->status = take(self);
	if (mu_keeper_send(self, MU_KEEPER_TAKEN) &&
	    self->result->status == MU_OK &&
	    self->result->method_used == MU_KEEPER_FORK)
		watch_copy(self);
}

void
mu_keeper_body(void *arg)
{
	struct mu_keeper_work *work = arg;
	const int keep[] = { work->socket, work->alive, work->ended,
		mu_procfs_descriptor() };
	struct mu_keeper_self self = {
		.work = work,
		.asked = &work->asked,
		.result = &work->result,
		.method = work->asked.method,
		.memory = -1,
		.pagemap = -1,
		.copy_memory = -1,
		.copy_pagemap = -1,
		.budget = { .headroom = { .meminfo = -1 } },
	};

	mu_keeper_isolate("mu-keeper", keep, sizeof(keep) / sizeof(keep[0]));
	serve(&self);
	mu_sys_close(&self.copy_memory);
	mu_sys_close(&self.copy_pagemap);
	mu_copy_budget_close(&self.budget);
	mu_keeper_drop(work, &self.lender);
	mu_process_copy_drop_left(work->asked.target, work->copy.code.back,
	    mu_sys_now_ns() + DROP_LEFT_NS);
	work->done = true;
	mu_sys_exit(0);
}
