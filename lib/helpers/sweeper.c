/*
 * The sweeper runs on a copy of the collector's stack, in a process where every
 * other thread has vanished in the middle of its work: locks may be held by
 * threads that do not exist, so no malloc, no stdio, and nothing of libc that
 * locks. Its mappings are made in its own image.
 */
#include "lib/helpers/sweeper.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "lib/helpers/image.h"
#include "lib/helpers/image_drop.h"
#include "lib/helpers/sweep.h"
#include "lib/helpers/sweeper_limits.h"
#include "lib/pipe/answer.h"
#include "lib/pipe/candidates.h"
#include "lib/report/recorder_here.h"
#include "lib/state/caller.h"
#include "lib/state/gap_sync.h"
#include "lib/state/image.h"
#include "lib/state/library.h"
#include "mu/sort.h"
#include "mu/sys.h"
#include "ptrace/live/kernel_values.h"
#include "ptrace/live/snapshot.h"

/*
 * Bytes of entries that fit into any pipe after the header: it may have a
 * single page (pipe-user-pages-soft in pipe(7)).
 */
#define ANSWER_AT_ONCE ((size_t)2048)

#define QUICK_BYTES ((size_t)16 << 20) /* searched in 6 ms mostly */

struct own_ranges {
	struct mu_range *ranges;
	size_t count, max;
};

/*
 * Memory that the library itself has mapped, which holds no pointers of the
 * program.
 */

static void
add_own(void *ctx, struct mu_range range)
{
	struct own_ranges *own = ctx;

	if (own->ranges != NULL && own->count < own->max)
		own->ranges[own->count] = range;
	own->count++;
}

/*
 * A request about a block keeps its address in our frames; exclude these, up to
 * the program's frames. Empty if leaks are asked for.
 */
static struct mu_range
own_frames(const struct mu_image *image)
{
	struct mu_range frames = { image->frames_begin, image->frames_begin };

	if (image->query.references && image->caller != NULL &&
	    image->caller->sp > frames.begin)
		frames.end = image->caller->sp;
	return frames;
}

static void
visit_own(struct mu_image *image, struct own_ranges *own)
{
	const struct mu_watch *watch = &mu_library.watch;

	mu_arena_each(&image->job.arena, add_own, own);
	mu_arena_each(&mu_library.registry.arena, add_own, own);
	mu_results_each(&mu_library.results, add_own, own);
	add_own(own, mu_gap_sync_range(image));
	add_own(own, own_frames(image));
	add_own(own, image->own_stack);
	add_own(own,
	    (struct mu_range) { (uintptr_t)image->stack,
		(uintptr_t)image->stack + image->stack_size });
	add_own(own,
	    (struct mu_range) { (uintptr_t)watch->stack,
		(uintptr_t)watch->stack + watch->stack_size });
}

static int
by_begin(const void *a, const void *b)
{
	const struct mu_range *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/*
 * Into image->snap.own, in memory of TABLES, by address. Counted first, then
 * filled: nothing changes in an image.
 */
static enum mu_status
own_memory_list(struct mu_image *image, struct mu_arena *tables)
{
	struct own_ranges own = { 0 };

	visit_own(image, &own);
	own.ranges = mu_arena_alloc(tables, own.count, sizeof(*own.ranges));
	if (own.ranges == NULL)
		return mu_why(&image->job.why, MU_ERR_NO_MEMORY,
		    "no memory for the sweeper's tables");
	own.max = own.count;
	own.count = 0;
	visit_own(image, &own);
	mu_sort(own.ranges, own.count, sizeof(*own.ranges), by_begin);
	image->snap.own = own.ranges;
	image->snap.num_own = own.count;
	return MU_OK;
}

static void
describe(struct mu_image *image, struct mu_sweep *sweep)
{
	struct mu_snapshot *snap = &image->snap;

	snap->pid = image->job.pid;
	snap->glibc_major = image->stop.self.glibc_major;
	snap->glibc_minor = image->stop.self.glibc_minor;
	snap->libc_address = image->stop.self.libc_address;
	mu_malloc_probe_store(&mu_library.malloc_probe, snap);
	snap->recorded = (uintptr_t)&memunreachable_recorded;
	snap->unrecorded = snap->recorded == 0;
	snap->reach = image->query.reach;
	mu_memory_self_open(
	    &snap->memory, &sweep->self, snap->mappings, snap->num_mappings);
}

/*
 * 0: as many as there are CPUs. Starting a thread takes 0.15 ms, as long as the
 * search of a small heap.
 */
static size_t
wanted_workers(const struct mu_image *image)
{
	return image->sweeper.budget.private < MU_SWEEPER_SMALL
	    ? 1
	    : mu_library.options.workers;
}

static enum mu_status
look_at_memory(struct mu_image *image, struct mu_sweep *sweep)
{
	struct mu_snapshot *snap = &image->snap;

	snap->workers = &sweep->threads.workers;
	if (!mu_memory_self_look(&snap->memory, sweep->pages))
		mu_log(&image->job.log, MU_LOG_DEBUG, "no /proc/self/pagemap");
	else if (image->sweeper.budget.private < MU_SWEEPER_SMALL)
		mu_memory_self_ask_at_once(&snap->memory);
	return own_memory_list(image, &sweep->tables);
}

/*
 * The guard comes first: our own mappings must not take the place of memory
 * that is missing in this image (MADV_DONTFORK).
 */
static enum mu_status
open_image(struct mu_image *image, struct mu_sweep *sweep)
{
	enum mu_status status;

	status = mu_image_read(image);
	if (status != MU_OK)
		return status;
	describe(image, sweep);
	image->snap.memory.fresh = true;
	status = mu_gap_sync_fill(image, &sweep->missing);
	if (status != MU_OK)
		return status;
	/* All threads run again. */
	mu_sweeper_limits_yield();
	mu_sweeper_limits_limit(&sweep->tables, image->sweeper.budget.left);
	/*
	 * The OOM killer loses sight of a process that it has killed when its
	 * first thread ends, while another one still frees the memory
	 * (css_task_iter_advance() in kernel/cgroup/cgroup.c skips dying
	 * leaders), and then kills the program, too.
	 */
	mu_worker_threads_open(&sweep->threads,
	    image->sweeper.budget.tight ? 1 : wanted_workers(image));
	status = look_at_memory(image, sweep);
	if (status == MU_OK && image->sweeper.budget.tight)
		mu_image_drop_on_signal(image);
	return status;
}

/*
 * The memory is the program's: nothing of it is changed, and nothing is mapped
 * that would remain if we were killed. The list of mappings was read while the
 * program was stopped, and is still valid.
 */
static enum mu_status
open_in_place(struct mu_image *image, struct mu_sweep *sweep)
{
	const struct mu_threads none = { .pid = image->job.pid };
	struct mu_snapshot *snap = &image->snap;
	struct mu_kernel_files files;
	enum mu_status status;

	mu_kernel_files_open(&files, image->job.tid);
	files.ours = image->sweeper.pipe_write;
	status = mu_snapshot_live(
	    snap, &none, &files, &sweep->tables, &image->job.why);
	mu_kernel_files_close(&files);
	if (status != MU_OK)
		return status;
	snap->mappings = image->stop.self.mappings;
	snap->num_mappings = image->stop.self.num_mappings;
	describe(image, sweep);
	/* Others must not wait for a long search, as for that of an image. */
	if (image->sweeper.budget.private > QUICK_BYTES)
		mu_sweeper_limits_yield();
	mu_worker_threads_open_on(
	    &sweep->threads, wanted_workers(image), sweep->stacks);
	sweep->threads.workers.between = sweep->calls->step;
	sweep->threads.workers.ctx = sweep->calls->ctx;
	status = look_at_memory(image, sweep);
	*sweep->calls->pagemap = sweep->pages->pagemap;
	if (status == MU_OK &&
	    (snap->memory.blind ||
		mu_memory_self_any_locked(
		    &snap->memory, snap->mappings, snap->num_mappings)))
		status = mu_why(&image->job.why, MU_ERR_NO_PERMISSION,
		    "memory that is closed cannot be read in place");
	/* What was written so far is small, and the tables are not. */
	if (status == MU_OK)
		sweep->calls->await_room(sweep->calls->ctx);
	return status;
}

static void
log_step(const struct mu_image *image, enum mu_search_step step)
{
	const struct mu_log *log = &image->job.log;

	switch (step) {
	case MU_SEARCH_LISTED:
		mu_log(log, MU_LOG_STEP, "searching done");
		mu_log(log, MU_LOG_STEP,
		    "sweeping process %d for unreachable memory",
		    image->job.pid);
		break;
	case MU_SEARCH_MARKED:
		mu_log(log, MU_LOG_STEP, "sweeping done");
		break;
	case MU_SEARCH_FOLD:
		mu_log(log, MU_LOG_STEP, "folding related leaks");
		break;
	case MU_SEARCH_FOLDED:
		mu_log(log, MU_LOG_STEP, "folding done");
		break;
	case MU_SEARCH_LIST:
	case MU_SEARCH_ROOTED:
	case MU_SEARCH_LINKED:
	case MU_SEARCH_READ:
		break;
	}
}

/* Only an image of our own is modified. */
static void
report_step(struct mu_search *search, enum mu_search_step step)
{
	struct mu_image *image = search->ctx;
	struct mu_snapshot *snap = search->snap;

	log_step(image, step);
	if (step == MU_SEARCH_LISTED)
		mu_memory_self_unlock(
		    &snap->memory, snap->mappings, snap->num_mappings);
	else if (step == MU_SEARCH_READ)
		mu_image_drop_heap(image, &search->heap.blocks);
}

static void
report_step_in_place(struct mu_search *search, enum mu_search_step step)
{
	const struct mu_in_place_calls *calls = search->ctx;

	(void)step;
	if (calls->step != NULL)
		calls->step(calls->ctx);
}

static void
log_usage(const struct mu_log *log, const struct mu_heap_usage *usage)
{
	mu_log(log, MU_LOG_DEBUG,
	    "heap: %zu KiB: %zu bytes reachable, %zu unreachable, %zu free "
	    "(%zu of them at the ends of heaps), %zu headers and the like, "
	    "%zu unproven; %zu KiB of it mmapped: %s",
	    mu_usage_held(usage) / 1024, usage->live_reachable,
	    usage->live_unreachable, usage->free_held, mu_usage_top(usage),
	    usage->overhead, usage->unproven, usage->mmapped / 1024,
	    mu_verdict_name(mu_usage_verdict(usage)));
}

static void
find_referrers(struct mu_image *image, struct mu_sweep *sweep)
{
	struct mu_search *search = &sweep->search;
	struct mu_why why = { .text = "" };

	mu_search_note_status(search,
	    mu_referrers_find(&sweep->referrers, ~image->query.hidden,
		&search->graph, &search->roots, &image->snap, own_frames(image),
		&sweep->tables, image->job.deadline_ns, &why),
	    &why);
}

static enum mu_status
open_memory(struct mu_image *image, struct mu_sweep *sweep)
{
	return image->in_place ? open_in_place(image, sweep)
			       : open_image(image, sweep);
}

static void
sweep_memory(struct mu_image *image, struct mu_sweep *sweep)
{
	struct mu_search *search = &sweep->search;

	*search = (struct mu_search) {
		.snap = &image->snap,
		.tables = &sweep->tables,
		.begin_ns = image->job.begin_ns,
		.deadline_ns = image->job.deadline_ns,
		.limit =
		    image->query.look == MU_LOOK_FIRST ? 0 : image->query.limit,
		.contents = image->query.contents,
		.by = image->query.by,
		.list = true,
		.keep = image->query.references || image->query.words ||
		    image->query.num_known > 0,
		.filter = image->query.filter,
		.step = image->in_place ? report_step_in_place : report_step,
		.ctx =
		    image->in_place ? (void *)(uintptr_t)sweep->calls : image,
		.again = image->query.look == MU_LOOK_SECOND,
		.candidates = image->query.candidates,
		.num_candidates = image->query.num_candidates,
		.known = image->query.known,
		.num_known = image->query.num_known,
		.known_stay = image->query.words,
	};
	mu_log(&image->job.log, MU_LOG_STEP,
	    "searching process %d for allocations", image->job.pid);
	if (!mu_search_note_status(
		search, open_memory(image, sweep), &image->job.why) ||
	    !mu_search_mark(search))
		return;
	if (image->query.references)
		find_referrers(image, sweep);
	else if (mu_search_fold(search))
		log_usage(&image->job.log, &search->heap.usage);
}

static bool
sends_candidates(const struct mu_image *image)
{
	return image->query.look == MU_LOOK_FIRST || image->query.blocks;
}

static bool
send(struct mu_image *image, const struct mu_sweep *sweep)
{
	const struct mu_search *search = &sweep->search;
	enum mu_status status = search->status;
	int fd = image->sweeper.pipe_write;

	if (image->query.references)
		return mu_why_pipe_send(
		    fd, status, &search->why, &search->heap, &sweep->referrers);
	if (!mu_leak_pipe_send(
		fd, status, &search->why, &search->heap, &search->leaks))
		return false;
	return !sends_candidates(image) || !mu_status_usable(status) ||
	    mu_candidates_send(fd, &search->heap.blocks,
		image->query.words ? &image->snap.memory : NULL);
}

void
mu_sweeper_begin(const struct mu_image *image)
{
	mu_sys2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	if (mu_sys0(SYS_getppid) != image->job.pid)
		mu_sys_exit(2);
	mu_sys2(SYS_prctl, PR_SET_NAME, (long)"mu-sweeper");
	mu_sys2(SYS_setpgid, 0, 0);
	mu_sweeper_limits_begin();
}

bool
mu_sweeper_in_place(const struct mu_image *shared, void *memory, size_t size,
    const struct mu_in_place_calls *calls)
{
	struct mu_image image = *shared; /* a copy, so that changes stay ours */
	struct mu_pages pages;
	struct mu_sweep sweep = { .pages = &pages };
	size_t bytes, stacks;

	stacks = wanted_workers(&image) == 1 ? 0 : MU_WORKERS_STACKS;
	image.in_place = true;
	image.job.deadline_ns = calls->until_ns;
	sweep.stacks = memory;
	sweep.calls = calls;
	mu_arena_open_on(&sweep.tables, (char *)memory + stacks, size - stacks);
	sweep_memory(&image, &sweep);
	mu_sweep_note_missing(&image, &sweep);
	if (sweep.search.status != MU_OK)
		return false;
	/* Waking the program takes as long as a small search. */
	bytes = sends_candidates(&image) ? SIZE_MAX
					 : sweep.search.leaks.entries.size;
	return (bytes <= ANSWER_AT_ONCE ||
		   calls->large_answer(calls->ctx, bytes)) &&
	    send(&image, &sweep);
}

void
mu_sweeper(struct mu_image *image)
{
	struct mu_pages pages;
	struct mu_sweep sweep = { .pages = &pages };
	bool sent;

	mu_sweeper_begin(image);
	sweep_memory(image, &sweep);
	mu_sweeper_limits_explain(
	    &sweep.tables, sweep.search.status, &sweep.search.why);
	mu_log(&image->job.log, MU_LOG_DEBUG,
	    "tables: %zu KiB of at most %zu KiB", sweep.tables.used / 1024,
	    sweep.tables.limit / 1024);
	mu_sweep_note_all(image, &sweep);
	sent = send(image, &sweep);
	mu_image_drop(image);
	mu_sys_exit(sent ? 0 : 3);
}
