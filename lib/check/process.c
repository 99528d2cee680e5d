/*
 * The check of a running process: see check.h.
 *
 * Malloc cannot be frozen from outside: a thread may be stopped in the middle
 * of it. Then the heap contradicts itself, and the check is tried again.
 */
#include "lib/check/process.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heapwalk/heaps/table/table.h"
#include "lib/check/may_be_in_malloc.h"
#include "lib/check/naming.h"
#include "lib/check/other_check.h"
#include "lib/check/process_gaps.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

#define MAX_TRIES 50
#define MAX_TRIES_CALM 6     /* when no thread can have been in malloc */
#define MAX_PEEKS 500        /* stops without a copy; then a lock may be held */
#define MAX_TRIES_FOR_FULL 6 /* a partial answer is available */
#define MAX_TRIES_FOR_STOP 4 /* the process was stopped each time */
#define MAX_PAUSE_NS (200 * MU_NS_PER_MS)
#define NAP_NS (2 * MU_NS_PER_MS)
#define NAP_MAX_NS (100 * MU_NS_PER_MS)
#define PEEK_NAP_NS MU_NS_PER_MS
#define PEEK_NS (5 * MU_NS_PER_SEC) /* after the first such stop */

static const enum mu_keeper_method methods[] = {
	[MU_CHECK_STOP_AUTO] = MU_KEEPER_AUTO,
	[MU_CHECK_STOP_FORK] = MU_KEEPER_FORK,
	[MU_CHECK_STOP_READ] = MU_KEEPER_READ,
};

static void
unlock(void *subject)
{
	struct mu_snapshot *snap = &((struct mu_process *)subject)->keeper.snap;

	mu_remote_memory_unlock(
	    &snap->memory, snap->mappings, snap->num_mappings);
}

static void
drop(void *subject)
{
	mu_keeper_end(&((struct mu_process *)subject)->keeper);
}

static void
remember_locks(struct mu_process *process, const struct mu_check_look *look)
{
	const struct mu_heap *heap = &look->analysis.search.heap;

	if (heap->num_locks > MU_PROCESS_LOCKS)
		return;
	process->num_locks = heap->num_locks;
	memcpy(process->locks, heap->locks,
	    heap->num_locks * sizeof(*heap->locks));
}

/* Memory was too short to make or keep a copy, or the copy was killed. */
static void
note_no_copy(struct mu_process *process, const struct mu_check_look *look)
{
	const struct mu_keeper *keeper = &process->keeper;

	process->lost =
	    keeper->lost != MU_OK && keeper->lost != MU_ERR_HEAP_INCONSISTENT;
	if (keeper->result.no_room.text[0] != '\0') {
		process->no_copy = MU_ERR_NO_MEMORY;
		process->no_copy_why = keeper->result.no_room;
	} else if (keeper->lost == MU_ERR_NO_MEMORY) {
		process->no_copy = MU_ERR_NO_MEMORY;
		process->no_copy_why = look->why;
	} else if (keeper->lost == MU_ERR_HELPER_DIED) {
		process->no_copy = mu_why(&process->no_copy_why,
		    MU_ERR_HELPER_DIED, "the copy was killed");
	}
}

static void
set_keeper(struct mu_process *process, struct mu_check_look *look)
{
	const struct mu_check *check = look->check;

	process->keeper = (struct mu_keeper) {
		.target = check->pid,
		.method = process->method,
		.deadline_ns = look->deadline_ns,
		.max_pause_ns = check->max_pause_ns != 0 ? check->max_pause_ns
							 : MAX_PAUSE_NS,
		.limit = mu_analysis_limit(check, &look->analysis.cgroups, 3),
		.cgroups = &look->analysis.cgroups,
		.window = check->window,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
		.locks = process->locks,
		.num_locks = process->num_locks,
		.workers = &look->analysis.threads.workers,
		.ask_stacks = process->ask_stacks,
		.ask_wiped = process->ask_wiped,
		.copied_ns = process->copied_ns,
		.late_copies = process->late_copies,
		.late = process->late,
		.expected = process->expected,
		.kept = process->kept,
		.keep_all = check->reach.words.unaligned ||
		    check->reach.words.tags != 0,
	};
}

uint64_t
mu_process_cpu_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 ||
	    clock_gettime(clock, &time) != 0)
		return 0;
	return (uint64_t)time.tv_sec * MU_NS_PER_SEC + (uint64_t)time.tv_nsec;
}

/*
 * Why the memory could not be opened: a sanitizer maps more than there is
 * address space for.
 */
static enum mu_status
not_taken(
    const struct mu_snapshot *snap, enum mu_status status, struct mu_why *why)
{
	const char *file = NULL;

	if (status == MU_ERR_NO_MEMORY && snap->num_mappings > 0)
		file = mu_heaps_other_file(snap);
	return file == NULL
	    ? status
	    : mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		  "this process uses another allocator (%s)", file);
}

/* BEFORE_NS is the CPU time of the process before it was stopped. */
static void
note_program(struct mu_process *process, const struct mu_program_id *id,
    struct mu_check_look *look, uint64_t before_ns)
{
	bool known = process->program_id.at != 0;

	look->execed =
	    known && memcmp(&process->program_id, id, sizeof(*id)) != 0;
	process->program_id = *id;
	if (known && !look->execed) {
		process->ran_ns = before_ns > process->seen_ns
		    ? before_ns - process->seen_ns
		    : 0;
		return;
	}
	process->ran_ns = 0;
	process->seen_ns = mu_process_cpu_ns(process->pid);
}

static enum mu_status
take(void *subject, struct mu_check_look *look)
{
	struct mu_process *process = subject;
	struct mu_keeper *keeper = &process->keeper;
	const struct mu_keeper_result *result = &keeper->result;
	uint64_t before_ns = mu_process_cpu_ns(process->pid);
	enum mu_status status;

	process->wiped_wanted = process->stacks_wanted = process->lost = false;
	set_keeper(process, look);
	mu_check_progress(look->check, MU_CHECK_STEP_STOP);
	status = mu_keeper_take(keeper);
	look->why = result->why;
	if (result->pause_ns > look->pause_ns)
		look->pause_ns = result->pause_ns;
	note_no_copy(process, look);
	process->late_copies += result->copied_long;
	mu_late_threads_add(&process->late, result->late);
	if (result->copied_long && result->copy_ns > process->copied_ns)
		process->copied_ns = result->copy_ns;
	if (status != MU_OK)
		return not_taken(&keeper->snap, status, &look->why);
	note_program(process, &result->program, look, before_ns);
	keeper->snap.only_moment = process->any_moment;
	keeper->snap.no_headers = true; /* see may_be_in_malloc.h */
	keeper->snap.reach = look->check->reach;
	keeper->snap.knows_stacks = process->ask_stacks && result->unasked == 0;
	look->may_be_in_malloc = mu_may_be_in_malloc(&keeper->snap);
	keeper->remote.workers = &look->analysis.threads.workers;
	look->snap = &keeper->snap;
	return MU_OK;
}

/*
 * Blocks are read to interpret the search, so the copy is released only
 * afterwards.
 */
static void
note(void *subject, struct mu_check_look *look)
{
	struct mu_process *process = subject;
	struct mu_keeper *keeper = &process->keeper;

	if (!process->any_moment)
		remember_locks(process, look);
	mu_process_gaps_note(process, look);
	if (mu_check_doubtful(look))
		mu_analysis_keep_lost(&look->analysis);
	mu_keeper_release_copy(keeper);
	if (keeper->lost == MU_OK) {
		mu_process_gaps_others(process, look);
		return;
	}
	process->wiped_wanted = process->stacks_wanted = false;
	look->changing = false;
	process->num_locks = 0;
	look->status = keeper->lost;
	look->why = keeper->result.why;
	note_no_copy(process, look);
}

static bool
worth_another(struct mu_process *process, const struct mu_check_look *look,
    unsigned tries)
{
	const struct mu_keeper_result *result = &process->keeper.result;

	if (look->status == MU_ERR_ALREADY_TRACED)
		return tries < MAX_TRIES &&
		    mu_other_check_await(process->pid, look->deadline_ns);
	if (result->stopped_long)
		return tries < MAX_TRIES_FOR_STOP;
	if (process->stacks_wanted) {
		process->ask_stacks = true;
		return true;
	}
	if (process->wiped_wanted) {
		process->ask_wiped = true;
		return true;
	}
	/* A second copy would be killed, too. */
	if (process->lost && process->method == MU_KEEPER_AUTO) {
		process->method = MU_KEEPER_READ;
		return true;
	}
	if (look->status == MU_PARTIAL)
		return look->analysis.search.heap.transient &&
		    tries < MAX_TRIES_FOR_FULL;
	return (look->status == MU_ERR_HEAP_INCONSISTENT ||
		   look->status == MU_ERR_UNKNOWN_GLIBC) &&
	    tries < (look->may_be_in_malloc ? MAX_TRIES : MAX_TRIES_CALM);
}

static bool
again(void *subject, struct mu_check_look *look, struct mu_tries *tries)
{
	struct mu_process *process = subject;

	if (process->keeper.result.locked) {
		tries->nap_ns = PEEK_NAP_NS;
		if (process->peek_until_ns == 0)
			process->peek_until_ns = mu_sys_now_ns() + PEEK_NS;
		if (++tries->peeks == MAX_PEEKS ||
		    mu_sys_now_ns() >= process->peek_until_ns) {
			process->any_moment = true;
			process->num_locks = 0;
		}
		return true;
	}
	tries->nap_ns = ++tries->tries * NAP_NS;
	if (tries->nap_ns > NAP_MAX_NS)
		tries->nap_ns = NAP_MAX_NS;
	return worth_another(process, look, tries->tries);
}

static bool
misses(
    const void *subject, const struct mu_check_look *look, struct mu_why *why)
{
	return mu_process_gaps_doubt(subject, look, why);
}

/*
 * If something was tried instead of a copy, its reason alone does not explain
 * the failure.
 */
static void
explain(const void *subject, struct mu_check_look *look)
{
	const struct mu_process *process = subject;

	if (process->any_moment && look->status == MU_ERR_HEAP_INCONSISTENT) {
		mu_why_drop_cure(&look->why);
		mu_why_cure(&look->why,
		    "its threads are inside malloc nearly all of the time: ask"
		    " again when it does less");
	}
	if (process->no_copy != MU_OK &&
	    (look->status == MU_ERR_TIMEOUT ||
		look->status == MU_ERR_NO_MEMORY) &&
	    strcmp(process->no_copy_why.text, look->why.text) != 0) {
		mu_why_after(&look->why, &process->no_copy_why, "; ");
		look->status = process->no_copy;
	}
}

static void
describe(const void *subject, struct mu_report *report)
{
	const struct mu_process *process = subject;
	const struct mu_keeper *keeper = &process->keeper;

	report->pid = process->pid;
	memcpy(report->program, process->program, sizeof(report->program));
	report->stop = keeper->result.method_used == MU_KEEPER_FORK ? "fork"
	    : keeper->result.method_used == MU_KEEPER_READ          ? "read"
								    : "";
	report->info.num_threads = keeper->snap.num_threads;
	report->info.stop = MEMUNREACHABLE_STOP_PTRACE;
}

static void
source_of(
    void *subject, struct mu_symbols_source *source, struct mu_rights *rights)
{
	const struct mu_process *process = subject;
	pid_t tid = mu_proc_living(process->pid);

	*source = (struct mu_symbols_source) {
		.pid = tid,
		.debug = process->debug,
		.cgroups = process->keeper.cgroups,
	};
	*rights = mu_rights_of_process(tid);
}

/*
 * Done last: by then the process is released, and so is the memory of which the
 * helper would have a copy.
 */
static void
name_addresses(void *subject, struct mu_report *report, uint64_t deadline_ns)
{
	struct mu_symbols_source source;
	struct mu_rights rights;

	source_of(subject, &source, &rights);
	mu_naming_ask(report, &source, &rights, deadline_ns);
}

enum mu_status
mu_check_process(const struct mu_check *check, struct mu_report *report)
{
	static const struct mu_subject_ops ops = {
		.take = take,
		.unlock = unlock,
		.note = note,
		.drop = drop,
		.again = again,
		.misses = misses,
		.explain = explain,
		.describe = describe,
		.source = source_of,
		.name = name_addresses,
	};
	struct mu_process process = {
		.pid = check->pid,
		.debug = check->debug,
		.method = methods[check->stop],
	};

	mu_proc_program(mu_proc_living(check->pid), process.program,
	    sizeof(process.program));
	return mu_check_run(check, &process, &ops, report);
}
