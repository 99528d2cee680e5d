#include "lib/state/copy_budget.h"

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
#define QUIET (MU_COPY_ACTIVE / 16)

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
reserve_of(const struct mu_copy_budget *budget)
{
	size_t reserve = RESERVE + budget->private / RESERVE_PART;
	size_t floor = budget->traced ? RESERVE_TRACED : RESERVE_UNTRACED;

	reserve = reserve / MU_COPY_ACTIVE * budget->active;
	if (reserve > budget->private)
		reserve = budget->private;
	return reserve > floor ? reserve : floor;
}

/* The part of READER that is charged to the process's cgroups. */
static size_t
reader_of(const struct mu_copy_budget *budget, size_t reader)
{
	return budget->apart ? 0 : budget->own + reader;
}

size_t
mu_copy_budget_need(const struct mu_copy_budget *budget)
{
	return budget->tables + reserve_of(budget) +
	    reader_of(budget, budget->reader) + budget->private +
	    budget->shared;
}

/*
 * Without a tracer, everything that may be written must fit; the watch is only
 * a second line of defence.
 */
static size_t
least_for(const struct mu_copy_budget *budget)
{
	size_t written = budget->traced
	    ? 0
	    : budget->private / MU_COPY_ACTIVE * budget->active;

	return budget->tables + reserve_of(budget) +
	    reader_of(budget, budget->reader_least) + written;
}

void
mu_copy_budget_open(
    struct mu_copy_budget *budget, pid_t pid, struct mu_cgroups_known *known)
{
	char status[MU_PROC_STATUS_SIZE];

	/* The file of a thread that has ended shows no memory. */
	mu_proc_status_read(mu_proc_living(pid), 0, status, sizeof(status));
	mu_copy_budget_describe(budget, pid, status);
	mu_copy_budget_find_limits(budget, known);
}

void
mu_copy_budget_describe(
    struct mu_copy_budget *budget, pid_t pid, const char *status)
{
	*budget = (struct mu_copy_budget) {
		.pid = pid,
		.own = OWN,
		.active = MU_COPY_ACTIVE,
		.left = SIZE_MAX,
		.headroom = { .meminfo = -1 },
	};
	budget->tables = mu_proc_status_bytes(status, "\nVmPTE:");
	budget->private = mu_proc_status_bytes(status, "\nRssAnon:");
	budget->files = mu_proc_status_bytes(status, "\nRssFile:");
	budget->shared = mu_proc_status_bytes(status, "\nRssShmem:");
	budget->pooled = mu_proc_status_bytes(status, "\nHugetlbPages:");
}

void
mu_copy_budget_find_limits(
    struct mu_copy_budget *budget, struct mu_cgroups_known *known)
{
	mu_headroom_close(&budget->headroom);
	mu_headroom_open(&budget->headroom, budget->pid, known);
}

void
mu_copy_budget_add_reader(
    struct mu_copy_budget *budget, struct mu_cgroups_known *known)
{
	struct mu_headroom own;

	mu_headroom_open(&own, (pid_t)mu_sys0(SYS_getpid), known);
	budget->traced = true;
	budget->reader =
	    (budget->private <= MU_REMOTE_WHOLE ? budget->private
						: MU_REMOTE_WINDOW) +
	    budget->private / TABLES_PART;
	budget->reader_least =
	    (budget->private < MU_REMOTE_LITTLE ? budget->private
						: MU_REMOTE_LITTLE) +
	    budget->private / LEAST_TABLES_PART;
	budget->apart = !mu_headroom_shares(&own, &budget->headroom);
	budget->tasks = mu_headroom_tasks_of(budget->pid, known);
	mu_headroom_close(&own);
}

/* A reader in another cgroup only takes memory of the machine. */
static void
look(struct mu_copy_budget *budget, size_t enough)
{
	size_t machine = mu_headroom_left_of_machine(&budget->headroom);

	budget->left = mu_headroom_left_in_groups(&budget->headroom, enough);
	if (budget->apart && machine != SIZE_MAX)
		machine = less(machine, budget->own + budget->reader);
	if (machine < budget->left)
		budget->left = machine;
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
add_mappings(struct mu_copy_budget *budget)
{
	size_t count = 0;
	char path[64];

	mu_text_format(
	    path, sizeof(path), "/proc/%d/maps", mu_proc_living(budget->pid));
	mu_lines_search(path, count_lines, &count);
	budget->tables += count * BYTES_A_MAPPING;
}

/*
 * CPU time of all threads, ns. A seccomp filter may permit this for the own
 * process only.
 */
static bool
read_cpu(const struct mu_copy_budget *budget, uint64_t *ns)
{
	struct timespec time = { 0 };
	long clock = mu_sys0(SYS_getpid) == budget->pid
	    ? CLOCK_PROCESS_CPUTIME_ID
	    : CPU_CLOCK(budget->pid);

	if (budget->pid <= 0 ||
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
wants_cpu(const struct mu_copy_budget *budget)
{
	struct runners runners = { budget->pid, mu_sys_gettid(), false };
	char path[32];

	mu_text_format(path, sizeof(path), "/proc/%d/task", budget->pid);
	mu_proc_numbers(path, visit_thread, &runners);
	return runners.any;
}

static void
note_activity(struct mu_copy_budget *budget)
{
	uint64_t begin, end, begin_ns = mu_sys_now_ns(), span_ns;

	if (!read_cpu(budget, &begin) || wants_cpu(budget))
		return;
	mu_sys_sleep_ns(ACTIVE_NS);
	if (wants_cpu(budget) || !read_cpu(budget, &end))
		return;
	span_ns = mu_sys_now_ns() - begin_ns;
	if (end - begin < span_ns)
		budget->active =
		    (unsigned)((end - begin) * MU_COPY_ACTIVE / span_ns);
}

/*
 * For a process that hardly runs, what it might write in the worst case says
 * little about what a check needs.
 */
static void
note_need(struct mu_copy_budget *budget, bool preferred)
{
	budget->need = preferred && budget->active < QUIET
	    ? least_for(budget)
	    : mu_copy_budget_need(budget);
}

/* Without smaps, assume that all of it is private. */
static bool
is_pool_shared(const struct mu_copy_budget *budget)
{
	struct mu_forked forked;

	return budget->pooled > 0 &&
	    (!mu_forked_find(&forked, mu_proc_living(budget->pid)) ||
		forked.pooled);
}

/*
 * Conditions that forbid a copy of another process, whatever memory there is.
 */
static enum mu_status
judge_other(const struct mu_copy_budget *budget, struct mu_why *why)
{
	if (budget->tasks < SPARE_TASKS)
		return mu_why(why, MU_ERR_RESOURCES,
		    "the container of process %d may start only %zu more"
		    " threads, of which a copy would take one" MU_CURE
		    "raise the"
		    " cgroup's pids.max",
		    budget->pid, budget->tasks);
	if (budget->headroom.unseen)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "the memory cgroup of process %d cannot be seen from this"
		    " container, nor how much memory it has left" MU_CURE
		    "check from"
		    " outside",
		    budget->pid);
	return MU_OK;
}

/* SPARE bytes more are left than must be. */
static void
plan_look(struct mu_copy_budget *budget, size_t spare)
{
	uint64_t now = mu_sys_now_ns(), nap_ns = LOOK_MAX_NS;

	if (spare / 2 / BYTES_PER_US < LOOK_MAX_NS / 1000)
		nap_ns = spare / 2 / BYTES_PER_US * 1000;
	budget->next_ns = now + (nap_ns > LOOK_MIN_NS ? nap_ns : LOOK_MIN_NS);
}

enum mu_status
mu_copy_budget_check(
    struct mu_copy_budget *budget, bool preferred, struct mu_why *why)
{
	size_t most = mu_copy_budget_need(budget);
	enum mu_status status = MU_OK;

	if (is_pool_shared(budget))
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "process %d has private huge pages (MAP_HUGETLB), and a"
		    " fork could cost it one" MU_CURE
		    "only reading it from outside"
		    " (memunreachable -p) is safe",
		    budget->pid);
	if (budget->traced)
		status = judge_other(budget, why);
	if (status != MU_OK)
		return status;
	look(budget, most);
	budget->tight = budget->left < most;
	budget->next_ns = 0;
	if (!budget->tight) {
		plan_look(budget, budget->left - most);
		return MU_OK;
	}
	preferred = preferred && !budget->headroom.kills_all;
	if (preferred) {
		add_mappings(budget);
		if (budget->left < least_for(budget)) {
			note_activity(budget);
			look(budget, most);
		}
		if (budget->left >= least_for(budget))
			return MU_OK;
	}
	note_need(budget, preferred);
	return mu_copy_budget_refuse(budget, why);
}

static int
open_score(pid_t pid, int flags)
{
	char path[64];

	mu_text_format(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	return mu_procfs_open(path, flags);
}

bool
mu_copy_budget_can_prefer(pid_t pid)
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
mu_copy_budget_prefer(pid_t copy)
{
	int fd = open_score(copy, O_WRONLY);

	if (fd >= 0)
		mu_sys_write(fd, PREFERRED, strlen(PREFERRED));
	mu_sys_close(&fd);
}

bool
mu_copy_budget_is_short(struct mu_copy_budget *budget)
{
	size_t reserve = reserve_of(budget);

	if (mu_sys_now_ns() < budget->next_ns)
		return false;
	budget->left = mu_headroom_left(&budget->headroom, reserve);
	if (budget->left < reserve) {
		budget->need = mu_copy_budget_need(budget);
		return true;
	}
	plan_look(budget, budget->left - reserve);
	return false;
}

enum mu_status
mu_copy_budget_refuse(const struct mu_copy_budget *budget, struct mu_why *why)
{
	size_t in_groups =
	    mu_headroom_left_in_groups(&budget->headroom, SIZE_MAX);
	size_t need =
	    budget->need != 0 ? budget->need : mu_copy_budget_need(budget);

	return mu_why(why, MU_ERR_NO_MEMORY,
	    "the %s has %zu MiB left, a check needs about %zu MiB",
	    in_groups <= budget->left || in_groups < need ? "container"
							  : "machine",
	    budget->left / MIB, (need + MIB - 1) / MIB);
}

void
mu_copy_budget_close(struct mu_copy_budget *budget)
{
	mu_headroom_close(&budget->headroom);
}
