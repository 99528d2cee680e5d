/*
 * Runs in: the command.
 */
#include "lib/helpers/keeper.h"

#include <sched.h>
#include <signal.h>

#include "heapwalk/subject/workers.h"
#include "lib/helpers/keeper_drop.h"
#include "lib/helpers/keeper_socket.h"
#include "lib/helpers/oom_score.h"
#include "lib/helpers/priority.h"
#include "mu/range.h"
#include "mu/sort.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

#define STACK_SIZE ((size_t)256 << 10)
#define ARENA_LIMIT ((size_t)1 << 30)

/*
 * Size of the shared memory: registers of 1024 threads and 65530 mappings need
 * about 10 MiB, and memory that is read besides a copy needs its own size. Only
 * reserved, and smaller if the address space is limited.
 */
#define WORK_MAX ((size_t)64 << 30)
#define WORK_MIN ((size_t)16 << 20)
#define WORK_ARENA ((size_t)64 << 10) /* offset of the arena */

_Static_assert(sizeof(struct mu_keeper_work) <= WORK_ARENA, "no overlap");

/* How long the command waits for keeper and watchdog to end. */
#define END_NS (2 * MU_NS_PER_SEC)

#define WINDOW_PART 3 /* the window is at most a third of keeper->limit */
#define WHOLE_PART 2

/* How long after the deadline the command waits for keeper and watchdog. */
#define LATE_NS (5 * MU_NS_PER_SEC)

static bool
map_work(struct mu_keeper *keeper)
{
	struct mu_keeper_work *work;
	size_t size = WORK_MAX;
	long at;

	do
		at = mu_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE);
	while (mu_sys_failed(at) && (size /= 2) >= WORK_MIN);
	if (mu_sys_failed(at))
		return false;
	keeper->work = work = (struct mu_keeper_work *)at;
	work->size = size;
	work->asked = *keeper;
	mu_arena_open_in(
	    &work->arena, (char *)at + WORK_ARENA, size - WORK_ARENA);
	at = mu_sys_map_stack(STACK_SIZE);
	keeper->stack = mu_sys_failed(at) ? NULL : (char *)at;
	return keeper->stack != NULL;
}

/*
 * Start a child with separate memory and descriptors, and without an exit
 * signal.
 */
static long
start(struct mu_keeper *keeper, void (*body)(void *))
{
	return mu_arch_clone(CLONE_UNTRACED, keeper->stack + STACK_SIZE, NULL,
	    body, keeper->work);
}

/* Start the watchdog first, so that it exists before it is needed. */
static long
start_both(struct mu_keeper *keeper, int line, const int *life, int ended)
{
	struct mu_keeper_work *work = keeper->work;
	long pid;

	work->socket = line;
	work->life = life[0];
	work->alive = life[1];
	work->ended = ended;
	pid = start(keeper, mu_watchdog_body);
	if (pid < 0)
		return pid;
	keeper->watchdog = (pid_t)pid;
	pid = start(keeper, mu_keeper_body);
	if (pid > 0)
		keeper->pid = work->keeper = (pid_t)pid;
	return pid;
}

/*
 * Returns 0 or -errno. The command closes its copies of LINE[1], LIFE and
 * ENDED[1].
 */
static long
open_and_start(struct mu_keeper *keeper)
{
	int sockets[2] = { -1, -1 }, life[2] = { -1, -1 },
	    ended[2] = { -1, -1 };
	long error;

	error = mu_keeper_socket_open(sockets);
	if (error == 0)
		error = mu_sys2(SYS_pipe2, (long)life, O_CLOEXEC);
	if (error == 0)
		error = mu_sys2(SYS_pipe2, (long)ended, O_CLOEXEC);
	if (error == 0)
		error = start_both(keeper, sockets[1], life, ended[1]);
	keeper->socket = sockets[0];
	keeper->ended = ended[0];
	mu_sys_close(&sockets[1]);
	mu_sys_close(&life[0]);
	mu_sys_close(&life[1]);
	mu_sys_close(&ended[1]);
	return error < 0 ? error : 0;
}

/*
 * How much of a copy is in the command's memory at a time. If the process has
 * little room and the command is not limited with it, everything is read at
 * once (0) and the copy ends before the search. The command may have little
 * room, too: its limit is three quarters of that, and tables take half of it.
 */
static size_t
window_of(const struct mu_keeper *keeper)
{
	size_t most = keeper->limit / WINDOW_PART;

	if (keeper->result.tight)
		return keeper->result.apart ? 0 : MU_REMOTE_LITTLE;
	if (keeper->window != 0)
		return keeper->window;
	/*
	 * The window is never smaller than the least; a smaller value is raised
	 * to it.
	 */
	return most < MU_REMOTE_WINDOW ? most + 1 : MU_REMOTE_WINDOW;
}

/* Memory of the process that may be read at once; 0: do not try. */
static size_t
whole_of(const struct mu_keeper *keeper)
{
	size_t most = keeper->limit / WHOLE_PART;

	if (most > MU_REMOTE_WHOLE)
		most = MU_REMOTE_WHOLE;
	return keeper->window == 0 && !keeper->result.tight &&
		keeper->result.private <= most
	    ? most
	    : 0;
}

static enum mu_status
open_with(struct mu_keeper *keeper, const struct mu_remote_source *source,
    size_t limit)
{
	return mu_remote_memory_open(&keeper->snap.memory, &keeper->remote,
	    source, keeper->snap.mappings, keeper->snap.num_mappings, limit,
	    &keeper->arena, &keeper->result.why);
}

/* Shared memory that the process has not touched is known only now. */
static enum mu_status
open_copied(struct mu_keeper *keeper, struct mu_remote_source *source)
{
	size_t whole = whole_of(keeper);

	if (whole > 0) {
		if (open_with(keeper, source, whole) == MU_OK)
			return MU_OK;
		mu_remote_memory_close(&keeper->snap.memory);
	}
	source->window = window_of(keeper);
	return open_with(keeper, source, keeper->limit);
}

/* Open what is read: the copy, or the target itself. */
static enum mu_status
open_remote(struct mu_keeper *keeper, bool copied)
{
	const struct mu_shared_pages *shared = &keeper->result.shared;
	struct mu_remote_source source = {
		.memory = copied ? keeper->copy_memory : keeper->memory,
		.pagemap = copied ? keeper->copy_pagemap : keeper->pagemap,
		.shared_pagemap = keeper->pagemap,
		.pid = keeper->work->snap.threads[0].tid,
		.live = keeper->memory,
		.still = copied ? 0 : keeper->work->snap.threads[0].tid,
		.page_size = keeper->page_size,
	};
	enum mu_status status;

	if (copied) {
		source.parts = shared->parts;
		source.num_parts = shared->num_parts;
		source.has_parts = shared->max_parts > 0;
	}
	keeper->snap = keeper->work->snap;
	if (source.memory < 0 || source.pagemap < 0)
		return mu_why(&keeper->result.why, MU_ERR_RESOURCES,
		    "no descriptors for the memory of process %d",
		    keeper->target);
	if (copied)
		status = open_copied(keeper, &source);
	else
		status = open_with(keeper, &source, keeper->limit);
	if (copied)
		keeper->snap.memory.skipped_pages += shared->unread;
	keeper->remote.deadline_ns = keeper->deadline_ns;
	return status;
}

static void
note_descriptors(struct mu_keeper *keeper, const int *fds)
{
	keeper->memory = fds[0];
	keeper->pagemap = fds[1];
	keeper->copy_memory = fds[2];
	keeper->copy_pagemap = fds[3];
}

struct urgent {
	struct mu_workers *workers;
	mu_worker_body *body;
	void *ctx;
};

static void
urgent_body(void *arg, unsigned worker)
{
	const struct urgent *urgent = arg;
	struct mu_priority priority = { .raised = false };

	if (worker > 0)
		mu_priority_raise(&priority);
	urgent->body(urgent->ctx, worker);
	mu_priority_restore(&priority);
}

/* The calling thread has a raised priority already. */
static void
run_urgently(
    struct mu_workers *workers, unsigned count, mu_worker_body *body, void *ctx)
{
	struct urgent urgent = { workers->own, body, ctx };

	mu_workers_run(urgent.workers, count, urgent_body, &urgent);
}

/* Read all memory that is needed while the target is stopped. */
static enum mu_status
read_now(struct mu_keeper *keeper)
{
	enum mu_status status = open_remote(keeper, false);
	struct mu_workers urgent = {
		.count = mu_workers_count(keeper->workers),
		.run = run_urgently,
		.own = keeper->workers,
	};

	keeper->remote.workers = &urgent;
	if (status == MU_OK &&
	    !mu_remote_memory_fill(&keeper->snap.memory, keeper->work->stop_ns))
		keeper->work->read_ns = keeper->remote.needed_ns + 1;
	keeper->remote.workers = keeper->workers;
	mu_keeper_socket_send(keeper->socket, MU_KEEPER_WAS_READ, NULL, 0);
	return status;
}

/*
 * Receive the keeper's next message. A keeper that is stopped, or late, is
 * killed.
 */
static enum mu_keeper_message
hear(struct mu_keeper *keeper, int *fds)
{
	uint64_t late_ns = keeper->deadline_ns + LATE_NS, now;
	enum mu_keeper_message message;

	do {
		now = mu_sys_now_ns();
		message = mu_keeper_socket_receive(
		    keeper->socket, fds, now + MU_KEEPER_LOOK_NS);
		if (message != MU_KEEPER_TIMEOUT)
			continue;
		mu_keeper_kill_stopped(keeper->pid);
		if (now >= late_ns)
			mu_sys_kill(keeper->pid, SIGKILL);
	} while (message == MU_KEEPER_TIMEOUT);
	return message;
}

static enum mu_status
not_read_in_time(struct mu_keeper *keeper)
{
	return mu_why(&keeper->result.why, MU_ERR_TIMEOUT,
	    "process %d was not read in time" MU_CURE
	    "give it more time (--timeout), or see whether the file"
	    " systems of its files answer",
	    keeper->target);
}

/*
 * If the process ended during the reading, the result is not used: memory that
 * could not be read looks like zeros. The copy never runs: it is in a ptrace
 * stop until it is killed, and then stays, with its memory, until the keeper
 * has reported that.
 */
static void
note_loss(struct mu_keeper *keeper)
{
	const struct mu_keeper_loss *loss = &keeper->work->loss;
	pid_t pid = keeper->work->copy.pid;

	if (keeper->result.status != MU_OK)
		return;
	if (__atomic_load_n(&loss->lost, __ATOMIC_ACQUIRE)) {
		keeper->result.why = loss->why;
		keeper->lost = loss->status;
	} else if (keeper->result.method_used == MU_KEEPER_FORK &&
	    mu_proc_state(pid, pid) != 't')
		keeper->lost = mu_why(
		    &keeper->result.why, MU_ERR_HELPER_DIED, MU_COPY_KILLED);
	else if (keeper->remote.late)
		keeper->lost = not_read_in_time(keeper);
}

/*
 * The process itself is read for memory that the copy does not have, and if
 * there is no copy. Its memory is gone if it has ended or executed another
 * program.
 */
static void
note_gone(struct mu_keeper *keeper)
{
	if (keeper->result.status != MU_OK || keeper->lost != MU_OK ||
	    !keeper->remote.gone)
		return;
	if (mu_proc_is_over(keeper->target))
		keeper->lost = mu_why(&keeper->result.why, MU_ERR_TARGET_GONE,
		    "process %d ended while it was read", keeper->target);
	else
		keeper->lost =
		    mu_why(&keeper->result.why, MU_ERR_HEAP_INCONSISTENT,
			"process %d executed another program while it was"
			" read" MU_CURE "ask again",
			keeper->target);
}

/* Close the pipe to the keeper, so that the copy may end. */
static void
release_copy(struct mu_keeper *keeper)
{
	if (keeper->socket >= 0)
		note_loss(keeper);
	note_gone(keeper);
	mu_sys_close(&keeper->socket);
	mu_sys_close(&keeper->copy_memory);
	mu_sys_close(&keeper->copy_pagemap);
}

/*
 * Read all written memory at once; later only unmodified pages of files are
 * read. If memory is short the copy ends now, and these pages are read from the
 * process itself.
 */
static enum mu_status
read_copy(struct mu_keeper *keeper)
{
	bool in_time;

	keeper->remote.workers = keeper->workers;
	in_time =
	    mu_remote_memory_fill(&keeper->snap.memory, keeper->deadline_ns);
	if (keeper->result.tight) {
		release_copy(keeper);
		keeper->remote.source.memory = keeper->memory;
		keeper->remote.source.pagemap = keeper->pagemap;
	}
	if (keeper->lost == MU_OK && !in_time)
		return not_read_in_time(keeper);
	return keeper->lost;
}

static enum mu_status
open_copy(struct mu_keeper *keeper)
{
	enum mu_status status = open_remote(keeper, true);

	return status == MU_OK && keeper->remote.source.window == 0
	    ? read_copy(keeper)
	    : status;
}

/* The keeper may die at any moment: then the line is cut. */
static enum mu_status
attend(struct mu_keeper *keeper)
{
	int fds[MU_KEEPER_SOCKET_FDS], late[MU_KEEPER_SOCKET_FDS];
	enum mu_status status = MU_OK;
	enum mu_keeper_message message;
	struct mu_why why;
	size_t i;

	message = hear(keeper, fds);
	note_descriptors(keeper, fds);
	if (message == MU_KEEPER_READ_NOW) {
		status = read_now(keeper);
		message = hear(keeper, late);
		/* Descriptors that are open already are sent again. */
		for (i = 0; i < MU_KEEPER_SOCKET_FDS; i++)
			mu_sys_close(&late[i]);
	}
	/* hear() has killed a keeper that is late. */
	if (message != MU_KEEPER_TAKEN &&
	    mu_sys_now_ns() >= keeper->deadline_ns)
		return not_read_in_time(keeper);
	if (message != MU_KEEPER_TAKEN)
		return mu_why(&keeper->result.why, MU_ERR_HELPER_DIED,
		    "the keeper was killed" MU_CURE "was memory short?");
	why = keeper->result.why;
	keeper->result = keeper->work->result;
	if (status != MU_OK) {
		keeper->result.why = why;
		return status;
	}
	/* From now on process_vm_readv() might read another program. */
	keeper->remote.source.still = 0;
	if (keeper->result.status == MU_OK &&
	    keeper->result.method_used == MU_KEEPER_FORK)
		return open_copy(keeper);
	return keeper->result.status;
}

enum mu_status
mu_keeper_take(struct mu_keeper *keeper)
{
	struct mu_priority priority;
	long error;

	keeper->memory = keeper->pagemap = -1;
	keeper->copy_memory = keeper->copy_pagemap = -1;
	keeper->socket = keeper->ended = -1;
	mu_arena_open(&keeper->arena, ARENA_LIMIT);
	if (!map_work(keeper))
		return mu_why(
		    &keeper->result.why, MU_ERR_NO_MEMORY, "no memory");
	error = open_and_start(keeper);
	if (error < 0) {
		/* mu_keeper_end() uses this: no remote memory is open. */
		keeper->result.status = mu_why(&keeper->result.why,
		    mu_status_from_errno((int)-error),
		    error == -EAGAIN
			? "user %d may start no more processes" MU_CURE "raise"
			  " RLIMIT_NPROC or the cgroup's pids.max"
			: "user %d cannot start the keeper (errno %ld)",
		    (int)mu_sys0(SYS_geteuid), -error);
		return keeper->result.status;
	}
	keeper->oom_score = mu_oom_score();
	mu_oom_score_set(MU_OOM_FIRST);
	mu_priority_raise(&priority);
	keeper->result.status = attend(keeper);
	mu_priority_restore(&priority);
	return keeper->result.status;
}

bool
mu_keeper_may_ask(const struct mu_keeper *keeper)
{
	return keeper->socket >= 0 && !keeper->result.tight &&
	    keeper->result.method_used == MU_KEEPER_FORK;
}

bool
mu_keeper_ask(struct mu_keeper *keeper)
{
	struct mu_shared_pages *shared = &keeper->result.shared;
	int fds[MU_KEEPER_SOCKET_FDS];

	if (!mu_keeper_socket_send(keeper->socket, MU_KEEPER_ASK, NULL, 0) ||
	    hear(keeper, fds) != MU_KEEPER_ASKED)
		return false;
	*shared = keeper->work->result.shared;
	mu_sort(shared->parts + shared->first_new,
	    shared->num_parts - shared->first_new, sizeof(*shared->parts),
	    mu_range_compare);
	return shared->unasked == 0;
}

void
mu_keeper_release_copy(struct mu_keeper *keeper)
{
	release_copy(keeper);
	if (keeper->result.status == MU_OK && keeper->snap.memory.ctx != NULL)
		mu_remote_memory_detach(&keeper->snap.memory);
}

/*
 * Keeper and watchdog hold the other end of the pipe until they end. If both
 * were killed, the command has the copy reaped.
 */
static void
await_end(struct mu_keeper *keeper)
{
	uint64_t end_ns = mu_sys_now_ns() + END_NS;
	bool gone;

	do {
		gone = mu_keeper_socket_await_close(
		    keeper->ended, mu_sys_now_ns() + MU_KEEPER_LOOK_NS);
		if (!gone) {
			mu_keeper_kill_stopped(keeper->pid);
			mu_keeper_kill_stopped(keeper->watchdog);
		}
	} while (!gone && mu_sys_now_ns() < end_ns);
	if (!gone)
		return;
	if (keeper->pid != 0)
		mu_sys_wait(keeper->pid, NULL, MU_WALL);
	if (keeper->watchdog != 0)
		mu_sys_wait(keeper->watchdog, NULL, MU_WALL);
	if (!keeper->work->done)
		mu_keeper_drop_left(keeper->work);
}

void
mu_keeper_end(struct mu_keeper *keeper)
{
	if (keeper->work == NULL)
		return;
	mu_keeper_release_copy(keeper);
	if (keeper->pid != 0 || keeper->watchdog != 0)
		await_end(keeper);
	if (keeper->pid != 0)
		mu_oom_score_set(keeper->oom_score);
	keeper->pid = keeper->watchdog = 0;
	mu_remote_memory_close(&keeper->snap.memory);
	mu_sys_close(&keeper->ended);
	mu_sys_close(&keeper->memory);
	mu_sys_close(&keeper->pagemap);
	mu_arena_close(&keeper->arena);
	if (keeper->stack != NULL)
		mu_sys_munmap(keeper->stack, STACK_SIZE);
	keeper->stack = NULL;
	mu_sys_munmap(keeper->work, keeper->work->size);
	keeper->work = NULL;
}
