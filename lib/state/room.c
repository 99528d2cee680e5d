#include "lib/state/room.h"

#include <string.h>

#include "heapwalk/memory/forked.h"
#include "heapwalk/memory/remote_window.h"
#include "heapwalk/subject/lines.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"

#define MIB ((size_t)1 << 20)

/* Stacks and tables of a small search. */
#define OWN (2 * MIB)

/*
 * Memory that must stay free while there is a copy. A thread that writes to all
 * of its memory makes the kernel copy 1 to 2 GB/s, until the watch gets a CPU
 * on a busy machine, and while the copy's memory is being freed (30 ms per
 * gigabyte). A process that runs less has written less by then. No more than
 * all of the private memory can be copied.
 *
 * A process that wakes up in the meantime can be faster than the watch. Then
 * the OOM killer takes the copy, which it prefers, and the process waits until
 * the copy's memory is free. This is exact if the copy stops at
 * PTRACE_EVENT_EXIT. A sweeper has no tracer, and exit_mmap() sets MMF_OOM_SKIP
 * before it frees the last 40 MB: the OOM killer may then kill the program,
 * too. See tests/README.md, "Full memory groups".
 */
#define RESERVE_TRACED (2 * MIB)
#define RESERVE_UNTRACED (16 * MIB)
#define RESERVE (64 * MIB)
#define RESERVE_PART 16 /* one part in so many of the private memory */

/*
 * One part in so many of the private memory, which is at most the heap: what
 * the tables of a search take, and the least with which it completes
 * (mu_graph_make() reads again from memory what it cannot store).
 */
#define TABLES_PART 8
#define LEAST_TABLES_PART 25

/* A mapping in a copy: vm_area_struct, two anon_vma_chains, an anon_vma. */
#define BYTES_A_MAPPING 512

/* How long to observe how much CPU time the process uses. */
#define ACTIVE_NS (20 * 1000 * 1000ull)
#define QUIET (MU_ROOM_ACTIVE / 16)

/* CPUCLOCK_SCHED of a process, include/linux/posix-timers.h */
#define CPU_CLOCK(pid) ((long)(~(unsigned)(pid) << 3 | 2))

/* Check again before the fastest writer has used half of the rest. */
#define BYTES_PER_US 8192 /* twice the highest rate seen */
#define LOOK_MIN_NS (100 * 1000ull)
#define LOOK_MAX_NS (20 * 1000 * 1000ull)

/*
 * Tasks that the process's cgroups must still allow: a copy takes one while it
 * exists.
 */
#define SPARE_TASKS 16

#define PREFERRED "1000" /* OOM_SCORE_ADJ_MAX */

static size_t
less(size_t a, size_t b)
{
	return a > b ? a - b : 0;
}

static size_t
reserve_of(const struct mu_room *room)
{
	size_t reserve = RESERVE + room->private / RESERVE_PART;
	size_t floor = room->traced ? RESERVE_TRACED : RESERVE_UNTRACED;

	reserve = reserve / MU_ROOM_ACTIVE * room->active;
	if (reserve > room->private)
		reserve = room->private;
	return reserve > floor ? reserve : floor;
}

/* The part of READER that is charged to the process's cgroups. */
static size_t
reader_of(const struct mu_room *room, size_t reader)
{
	return room->apart ? 0 : room->own + reader;
}

size_t
mu_room_need(const struct mu_room *room)
{
	return room->tables + reserve_of(room) + reader_of(room, room->reader) +
	    room->private + room->shared;
}

/*
 * Without a tracer, everything that may be written must fit; the watch is only
 * a second line of defence.
 */
static size_t
least_for(const struct mu_room *room)
{
	size_t written =
	    room->traced ? 0 : room->private / MU_ROOM_ACTIVE * room->active;

	return room->tables + reserve_of(room) +
	    reader_of(room, room->reader_least) + written;
}

void
mu_room_open(struct mu_room *room, pid_t pid)
{
	char status[MU_PROC_STATUS_SIZE];

	mu_proc_status_read(pid, 0, status, sizeof(status));
	mu_room_open_with(room, pid, status);
}

void
mu_room_open_with(struct mu_room *room, pid_t pid, const char *status)
{
	*room = (struct mu_room) {
		.pid = pid,
		.own = OWN,
		.active = MU_ROOM_ACTIVE,
		.left = SIZE_MAX,
	};
	mu_headroom_open(&room->headroom, pid);
	room->tables = mu_proc_status_bytes(status, "\nVmPTE:");
	room->private = mu_proc_status_bytes(status, "\nRssAnon:");
	room->shared = mu_proc_status_bytes(status, "\nRssShmem:");
	room->pooled = mu_proc_status_bytes(status, "\nHugetlbPages:");
}

void
mu_room_add_reader(struct mu_room *room)
{
	struct mu_headroom own;

	mu_headroom_open(&own, (pid_t)mu_sys0(SYS_getpid));
	room->traced = true;
	room->reader = (room->private <= MU_REMOTE_WHOLE ? room->private
							 : MU_REMOTE_WINDOW) +
	    room->private / TABLES_PART;
	room->reader_least =
	    (room->private < MU_REMOTE_LITTLE ? room->private
					      : MU_REMOTE_LITTLE) +
	    room->private / LEAST_TABLES_PART;
	room->apart = !mu_headroom_shares(&own, &room->headroom);
	mu_headroom_close(&own);
}

/* A reader in another cgroup only takes memory of the machine. */
static void
look(struct mu_room *room, size_t enough)
{
	size_t machine = mu_headroom_left_of_machine(&room->headroom);

	room->left = mu_headroom_left_in_groups(&room->headroom, enough);
	if (room->apart && machine != SIZE_MAX)
		machine = less(machine, room->own + room->reader);
	if (machine < room->left)
		room->left = machine;
}

static bool
count_lines(void *ctx, const char *lines, size_t length)
{
	size_t *count = ctx, i;

	for (i = 0; i < length; i++)
		*count += lines[i] == '\n';
	return false;
}

/* The list of mappings is long where it matters. */
static void
add_mappings(struct mu_room *room)
{
	size_t count = 0;
	char path[64];

	mu_text_format(path, sizeof(path), "/proc/%d/maps", room->pid);
	mu_lines_search(path, count_lines, &count);
	room->tables += count * BYTES_A_MAPPING;
}

/*
 * CPU time of all threads, ns. A seccomp filter may permit this for the own
 * process only.
 */
static bool
read_cpu(const struct mu_room *room, uint64_t *ns)
{
	struct timespec time = { 0 };
	long clock = mu_sys0(SYS_getpid) == room->pid ? CLOCK_PROCESS_CPUTIME_ID
						      : CPU_CLOCK(room->pid);

	if (room->pid <= 0 ||
	    mu_sys2(SYS_clock_gettime, clock, (long)&time) < 0)
		return false;
	*ns = (uint64_t)time.tv_sec * MU_NS_PER_SEC + (uint64_t)time.tv_nsec;
	return true;
}

struct runners {
	pid_t pid, self;
	bool any;
};

static bool
visit_thread(void *ctx, int tid)
{
	struct runners *runners = ctx;

	runners->any =
	    tid != runners->self && mu_proc_state(runners->pid, tid) == 'R';
	return !runners->any;
}

/* On a busy machine a thread with much to do may not get a CPU for a while. */
static bool
wants_cpu(const struct mu_room *room)
{
	struct runners runners = { room->pid, mu_sys_gettid(), false };
	char path[32];

	mu_text_format(path, sizeof(path), "/proc/%d/task", room->pid);
	mu_proc_numbers(path, visit_thread, &runners);
	return runners.any;
}

static void
note_activity(struct mu_room *room)
{
	uint64_t begin, end, begin_ns = mu_sys_now_ns(), span_ns;

	if (!read_cpu(room, &begin) || wants_cpu(room))
		return;
	mu_sys_sleep_ns(ACTIVE_NS);
	if (wants_cpu(room) || !read_cpu(room, &end))
		return;
	span_ns = mu_sys_now_ns() - begin_ns;
	if (end - begin < span_ns)
		room->active =
		    (unsigned)((end - begin) * MU_ROOM_ACTIVE / span_ns);
}

/*
 * For a process that hardly runs, what it might write in the worst case says
 * little about what a check needs.
 */
static void
note_need(struct mu_room *room, bool preferred)
{
	room->need = preferred && room->active < QUIET ? least_for(room)
						       : mu_room_need(room);
}

/* Without smaps, assume that all of it is private. */
static bool
is_pool_shared(const struct mu_room *room)
{
	struct mu_forked forked;

	return room->pooled > 0 &&
	    (!mu_forked_find(&forked, room->pid) || forked.pooled);
}

/*
 * Conditions that forbid a copy of another process, whatever memory there is.
 */
static enum mu_status
judge_other(const struct mu_room *room, struct mu_why *why)
{
	size_t tasks = mu_headroom_tasks_of(room->pid);

	if (tasks < SPARE_TASKS)
		return mu_why(why, MU_ERR_RESOURCES,
		    "the container of process %d may start only %zu more"
		    " threads, of which a copy would take one" MU_CURE
		    "raise the"
		    " cgroup's pids.max",
		    room->pid, tasks);
	if (room->headroom.unseen)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "the memory cgroup of process %d cannot be seen from this"
		    " container, nor how much memory it has left" MU_CURE
		    "check from"
		    " outside",
		    room->pid);
	return MU_OK;
}

/* SPARE bytes more are left than must be. */
static void
plan_look(struct mu_room *room, size_t spare)
{
	uint64_t now = mu_sys_now_ns(), nap_ns = LOOK_MAX_NS;

	if (spare / 2 / BYTES_PER_US < LOOK_MAX_NS / 1000)
		nap_ns = spare / 2 / BYTES_PER_US * 1000;
	room->next_ns = now + (nap_ns > LOOK_MIN_NS ? nap_ns : LOOK_MIN_NS);
}

enum mu_status
mu_room_judge(struct mu_room *room, bool preferred, struct mu_why *why)
{
	size_t most = mu_room_need(room);
	enum mu_status status = MU_OK;

	if (is_pool_shared(room))
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "process %d has private huge pages (MAP_HUGETLB), and a"
		    " fork could cost it one" MU_CURE
		    "only reading it from outside"
		    " (memunreachable -p) is safe",
		    room->pid);
	if (room->traced)
		status = judge_other(room, why);
	if (status != MU_OK)
		return status;
	look(room, most);
	room->tight = room->left < most;
	room->next_ns = 0;
	if (!room->tight) {
		plan_look(room, room->left - most);
		return MU_OK;
	}
	preferred = preferred && !room->headroom.kills_all;
	if (preferred) {
		add_mappings(room);
		if (room->left < least_for(room)) {
			note_activity(room);
			look(room, most);
		}
		if (room->left >= least_for(room))
			return MU_OK;
	}
	note_need(room, preferred);
	return mu_room_refuse(room, why);
}

static int
open_score(pid_t pid, int flags)
{
	char path[64];

	mu_text_format(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	return mu_procfs_open(path, flags);
}

bool
mu_room_can_prefer(pid_t pid)
{
	int fd = open_score(pid, O_RDWR);
	char score[16] = PREFERRED;

	if (fd >= 0)
		mu_sys_read(fd, score, sizeof(score));
	mu_sys_close(&fd);
	return strncmp(score, PREFERRED, strlen(PREFERRED)) != 0;
}

/* Only for the copy, which shares its memory with no other process. */
void
mu_room_prefer(pid_t copy)
{
	int fd = open_score(copy, O_WRONLY);

	if (fd >= 0)
		mu_sys_write(fd, PREFERRED, strlen(PREFERRED));
	mu_sys_close(&fd);
}

bool
mu_room_is_short(struct mu_room *room)
{
	size_t reserve = reserve_of(room);

	if (mu_sys_now_ns() < room->next_ns)
		return false;
	room->left = mu_headroom_left(&room->headroom, reserve);
	if (room->left < reserve) {
		room->need = mu_room_need(room);
		return true;
	}
	plan_look(room, room->left - reserve);
	return false;
}

enum mu_status
mu_room_refuse(const struct mu_room *room, struct mu_why *why)
{
	size_t in_groups =
	    mu_headroom_left_in_groups(&room->headroom, SIZE_MAX);
	size_t need = room->need != 0 ? room->need : mu_room_need(room);

	return mu_why(why, MU_ERR_NO_MEMORY,
	    "the %s has %zu MiB left, a check needs about %zu MiB",
	    in_groups <= room->left || in_groups < need ? "container"
							: "machine",
	    room->left / MIB, (need + MIB - 1) / MIB);
}

void
mu_room_close(struct mu_room *room)
{
	mu_headroom_close(&room->headroom);
}
