/*
 * Before the stop: what it will need, and how long it will take.
 */
#include "lib/helpers/copy_pause.h"
#include "lib/helpers/keeper_keeping.h"
#include "lib/helpers/urgency.h"
#include "lib/helpers/worker_threads.h"
#include "lib/state/room.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/proc.h"

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

/* What is read of that which does not fit into the stop. */
#define LITTLE ((size_t)16 << 20)

/* What will be read beside a copy. */
static size_t
expect_beside(struct mu_keeping *keeping)
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
touch_arena(struct mu_keeping *keeping, size_t num_threads)
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

void
mu_keeping_find_room(struct mu_keeping *keeping)
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

/* Before the stop: what would make it long. */
enum mu_status
mu_keeping_foresee(struct mu_keeping *keeping, size_t num_threads)
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

void
mu_keeping_prepare(struct mu_keeping *keeping, size_t num_threads)
{
	touch_arena(keeping, num_threads);
	start_readers(keeping);
	touch_stack();
}
