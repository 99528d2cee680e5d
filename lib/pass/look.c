#include "lib/pass/look.h"

#include <gnu/libc-version.h>
#include <linux/capability.h>
#include <string.h>

#include "lib/driver/driver.h"
#include "lib/pass/in_place.h"
#include "lib/pass/own_image.h"
#include "lib/pass/stop_method.h"
#include "lib/pass/tracer_capture.h"
#include "lib/pipe/answer.h"
#include "lib/pipe/candidates.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/caller.h"
#include "lib/state/gap_sync.h"
#include "lib/state/library.h"
#include "lib/state/sweeper_end.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/sharer.h"

/*
 * A thread can be stopped where no lock protects it: between a counter and the
 * munmap() that it counts (munmap_chunk), or inside malloc if the program takes
 * no lock at all. A moment later it is elsewhere.
 */
#define MAX_TRIES 20
#define MAX_TRIES_FOR_FULL 4 /* a partial answer is available */
#define MAX_TRIES_FOR_BLOCKED 5
#define MAX_TRIES_FOR_STOP 5 /* the program was stopped each time */

/*
 * Delay before the second look. A pointer that is hidden for a moment (encoded
 * for a compare-and-swap, in a pipe between two threads) is visible again by
 * then.
 */
#define CONFIRM_NS (50 * MU_NS_PER_MS)

/*
 * Delay between tries, times their number. A thread that lost its CPU in the
 * middle of such a step gets it back after tens of ms if others wait.
 */
#define NAP_NS MU_NS_PER_MS
#define NAP_FOR_FULL_NS (10 * MU_NS_PER_MS)
#define NAP_FOR_STOP_NS (20 * MU_NS_PER_MS)

/* Parse "2.36". */
static void
read_release(struct mu_snapshot *self)
{
	const char *text = gnu_get_libc_version();

	for (; *text >= '0' && *text <= '9'; text++)
		self->glibc_major =
		    self->glibc_major * 10 + (unsigned)(*text - '0');
	if (*text != '.')
		return;
	for (text++; *text >= '0' && *text <= '9'; text++)
		self->glibc_minor =
		    self->glibc_minor * 10 + (unsigned)(*text - '0');
}

/* Fill in what finding libc's arenas needs: mappings and memory. */
static enum mu_status
look_at_self(struct mu_image *image)
{
	struct mu_snapshot *self = &image->stop.self;
	enum mu_status status;

	*self = (struct mu_snapshot) { .pid = image->job.pid,
		.program_heaps = image->snap.program_heaps,
		.num_program_heaps = image->snap.num_program_heaps };
	/*
	 * A leader that has ended shows no mappings; then we are not the
	 * leader.
	 */
	status = mu_mappings_read(image->job.tid, &self->mappings,
	    &self->num_mappings, &image->job.arena, &image->job.why);
	if (status != MU_OK)
		return status;
	read_release(self);
	self->libc_address = (uintptr_t)gnu_get_libc_version;
	self->malloc_address = mu_malloc_address();
	mu_memory_self_open(&self->memory, &image->stop.self_memory,
	    self->mappings, self->num_mappings);
	return MU_OK;
}

/*
 * Signals stay blocked while malloc is frozen: a handler that allocates would
 * wait for the thread it interrupted. Every stop method freezes late and thaws
 * early; after a failure it is thawed here.
 */
static enum mu_status
take_image(struct mu_image *image)
{
	enum mu_status status;
	mu_sigmask mask;

	/*
	 * Logged here and not by the collector, which a full pipe would block
	 * with malloc frozen.
	 */
	mu_log(&image->job.log, MU_LOG_STEP,
	    "collecting thread info for process %d...", image->job.pid);
	if (!mu_sys_block_signals(&mask)) {
		mu_sys_close(&image->sweeper.pipe_write);
		return mu_why(&image->job.why, MU_ERR_NO_PERMISSION,
		    "signals cannot be blocked" MU_CURE "by a seccomp filter?");
	}
	image->stop.blocked_signals = mask;
	/* Signals are blocked, so no handler can start a thread now. */
	image->stop.alone = !image->stop.filtered && mu_sharer_none();
	mu_caller_note_stack(image);
	status = look_at_self(image);
	if (status == MU_OK)
		status = mu_allocator_find(image);
	if (status == MU_OK)
		status = mu_stop_method_run(image);
	mu_allocator_thaw(image);
	mu_sys_restore_signals(&mask);
	/* The sweeper has its own copy; close ours to see end of file. */
	mu_sys_close(&image->sweeper.pipe_write);
	if (status == MU_OK)
		mu_log(&image->job.log, MU_LOG_STEP, "collection thread done");
	return status;
}

void
mu_look_drop(struct mu_pass *pass, struct UnreachableMemoryInfo *info)
{
	mu_results_drop(mu_pass_results(pass), &pass->result.entries);
	FreeUnreachableMemoryInfo(info);
}

static enum mu_status
receive(struct mu_pass *pass, struct UnreachableMemoryInfo *info)
{
	struct mu_references *references = pass->request->references;
	struct mu_image *image = &pass->image;
	enum mu_status status, kept;

	if (references != NULL)
		return mu_why_pipe_receive(
		    image, references, &pass->result, info);
	status = mu_leak_pipe_receive(
	    image, mu_pass_results(pass), &pass->result, info);
	if ((image->query.look != MU_LOOK_FIRST && !image->query.blocks) ||
	    !mu_status_usable(status))
		return status;
	kept = mu_candidates_receive(image, info->num_leaks);
	if (kept == MU_OK)
		return status;
	/* A process that was not checked has no totals. */
	mu_look_drop(pass, info);
	return kept;
}

/*
 * Before anything is stopped: check that there is room for an image. If one is
 * hardly needed this is done during the search.
 */
static enum mu_status
find_room(struct mu_image *image)
{
	char status[MU_PROC_STATUS_SIZE];

	image->stop.filtered =
	    mu_proc_own_status(status, sizeof(status)) <= 0 ||
	    mu_proc_status_filtered(status);
	image->stop.traced =
	    mu_proc_status_number(status, "\nTracerPid:", 0, 10) != 0;
	image->stop.locked = mu_proc_status_bytes(status, "\nVmLck:") > 0;
	image->stop.may_be_urgent =
	    mu_proc_status_has_cap(status, CAP_SYS_NICE);
	image->stop.single =
	    mu_proc_status_number(status, "\nThreads:", 0, 10) == 1;
	mu_copy_budget_describe(&image->sweeper.budget, image->job.pid, status);
	image->sweeper.has_room = image->sweeper.answered = false;
	if (!mu_in_place_is_quick(image))
		return mu_own_image_find_room(image);
	mu_in_place_reserve_room(image);
	return MU_OK;
}

/* The subject of the driver. */
struct self {
	struct mu_pass *pass;
	struct UnreachableMemoryInfo *info;
	enum mu_log_level level; /* saved level of the pass's log */
};

/* Called in each look: ask for what the program has registered. */
static enum mu_status
begin(void *subject, struct mu_why *why)
{
	struct self *self = subject;
	struct mu_pass *pass = self->pass;

	pass->image.job.log.level = self->level;
	return mu_registry_collect(&mu_library.registry, &pass->image.snap,
	    &pass->image.job.arena, &pass->image.job.log, why);
}

static void
look_once(void *subject, struct mu_look *look)
{
	struct self *self = subject;
	struct mu_pass *pass = self->pass;
	struct mu_image *image = &pass->image;
	enum mu_status status;

	status = find_room(image);
	if (status == MU_OK)
		status = mu_sweeper_open_pipe(&image->sweeper, &image->job.why);
	if (status == MU_OK)
		status = take_image(image);
	if (status == MU_OK)
		status = receive(pass, self->info);
	mu_sweeper_reap(&image->sweeper,
	    mu_status_usable(status) ? image->job.deadline_ns : 0);
	mu_sys_close(&image->sweeper.pipe_read);
	mu_sys_close(&image->sweeper.pipe_write);
	mu_copy_budget_close(&image->sweeper.budget);
	look->status = status;
	look->why = image->job.why;
	look->num_leaks = self->info->num_leaks;
	look->doubtful = image->query.look == MU_LOOK_FIRST &&
	    mu_look_checked(look) && look->num_leaks > 0;
}

static bool
worth_another(struct mu_pass *pass, enum mu_status status, unsigned tries)
{
	if (mu_gap_sync_needs_retry(&pass->image))
		return tries < MAX_TRIES;
	/*
	 * A thread that blocks all signals may be ending, while setuid() waits
	 * for it and we wait for setuid().
	 */
	if (pass->image.stop.blocked)
		return tries < MAX_TRIES_FOR_BLOCKED;
	if (status == MU_ERR_TIMEOUT)
		return pass->image.stop.expired && tries < MAX_TRIES_FOR_STOP;
	if (status == MU_PARTIAL)
		return pass->result.transient && tries < MAX_TRIES_FOR_FULL;
	/* No deviation is accepted, not even a thread inside tcache_put(). */
	if (status == MU_ERR_UNKNOWN_GLIBC)
		return pass->image.stop.heaps.inferred_from != 0 &&
		    tries < MAX_TRIES_FOR_FULL;
	return status == MU_ERR_HEAP_INCONSISTENT && tries < MAX_TRIES;
}

/* Prepare for another try; keep what the program registered. */
static void
forget(void *subject)
{
	struct self *self = subject;
	struct mu_pass *pass = self->pass;
	struct mu_snapshot snap = pass->image.snap;

	mu_tracer_capture_end(&pass->image);
	mu_look_drop(pass, self->info);
	if (pass->request->references != NULL)
		mu_references_drop(pass->request->references);
	pass->image.snap = (struct mu_snapshot) {
		.root_regions = snap.root_regions,
		.num_root_regions = snap.num_root_regions,
		.root_values = snap.root_values,
		.num_root_values = snap.num_root_values,
		.program_heaps = snap.program_heaps,
		.num_program_heaps = snap.num_program_heaps,
	};
}

static uint64_t
nap_ns(enum mu_status status)
{
	if (status == MU_ERR_TIMEOUT)
		return NAP_FOR_STOP_NS;
	return status == MU_PARTIAL ? NAP_FOR_FULL_NS : NAP_NS;
}

static bool
again(void *subject, const struct mu_look *look, struct mu_tries *tries)
{
	struct self *self = subject;
	struct mu_log *log = &self->pass->image.job.log;

	if (!worth_another(self->pass, look->status, ++tries->tries))
		return false;
	mu_log(log, tries->tries == 1 ? MU_LOG_STEP : MU_LOG_DEBUG,
	    "try %u: %s", tries->tries, look->why.text);
	/* Log the steps once, not for each try. */
	if (self->level == MU_LOG_STEP)
		log->level = MU_LOG_INFO;
	tries->nap_ns = tries->tries * nap_ns(look->status);
	return true;
}

/* Take over the leaks of the first look, which the sweeper has sent. */
static enum mu_status
remember(void *subject, const struct mu_look *look, struct mu_why *why)
{
	struct self *self = subject;
	struct mu_pass *pass = self->pass;

	(void)look;
	pass->image.job.log.level = self->level;
	if (mu_sys_now_ns() + CONFIRM_NS >= pass->image.job.deadline_ns) {
		mu_look_drop(pass, self->info);
		return mu_why(why, MU_ERR_TIMEOUT,
		    "no time to look again (confirm=1) at %zu allocations that"
		    " seem unreachable",
		    pass->image.query.num_candidates);
	}
	mu_log(&pass->image.job.log, MU_LOG_STEP,
	    "looking again at %zu unreachable allocations",
	    pass->image.query.num_candidates);
	pass->image.query.look = MU_LOOK_SECOND;
	return MU_OK;
}

enum mu_status
mu_look(struct mu_pass *pass, struct UnreachableMemoryInfo *info)
{
	static const struct mu_look_ops ops = {
		.begin = begin,
		.look = look_once,
		.again = again,
		.remember = remember,
		.forget = forget,
	};
	struct self self = { pass, info, pass->image.job.log.level };
	struct mu_driver driver = {
		.ops = &ops,
		.subject = &self,
		.deadline_ns = pass->image.job.deadline_ns,
		.confirm_ns = CONFIRM_NS,
	};

	if ((mu_library.options.confirm || pass->request->confirm) &&
	    pass->request->references == NULL)
		pass->image.query.look = MU_LOOK_FIRST;
	mu_driver_run(&driver);
	pass->image.job.log.level = self.level;
	pass->image.job.why = driver.look.why;
	return driver.look.status;
}
