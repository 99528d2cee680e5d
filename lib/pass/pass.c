/*
 * The sequence of a pass, in the thread that asked for it.
 *
 * Runs in: original.
 */
#include "lib/pass/pass.h"

#include <string.h>

#include "lib/pass/info.h"
#include "lib/pass/look.h"
#include "lib/pipe/candidates.h"
#include "lib/state/gap_sync.h"
#include "lib/state/library.h"
#include "lib/state/log_sink.h"
#include "lib/state/sweeper_end.h"
#include "mu/procfs.h"
#include "mu/sys.h"

/* Stack for the asking thread; the deepest path takes about 20 KiB. */
#define STACK_SIZE (((size_t)256 << 10) + MU_STACK_GUARD)

/*
 * Registers of 1024 threads and 65530 mappings need about 10 MiB. The rest is
 * room for the tables of a search in place (lib/pass/in_place.c).
 */
#define ARENA_LIMIT ((size_t)9 << 30)

struct mu_results *
mu_pass_results(const struct mu_pass *pass)
{
	return pass->request->entries != NULL ? &mu_library.results : NULL;
}

static struct mu_query
want(const struct mu_request *request)
{
	return (struct mu_query) {
		.limit = request->limit,
		.contents = request->contents,
		.by =
		    request->groups != NULL ? request->groups->by : MU_BY_BLOCK,
		.blocks = request->unreachable != NULL,
		.words = request->unreachable != NULL &&
		    request->unreachable->with_words,
		.references = request->references != NULL,
		.hidden = request->references != NULL
		    ? request->references->hidden
		    : 0,
		.reach = mu_options_reach(&mu_library.options),
		.known = request->since != NULL ? request->since->blocks : NULL,
		.num_known = request->since != NULL ? request->since->count : 0,
	};
}

static void
begin(struct mu_pass *pass, const struct mu_request *request)
{
	const struct mu_options *options = &mu_library.options;
	struct mu_job *job = &pass->image.job;
	bool silent = request->log_policy != MU_LOG_POLICY_FULL &&
	    options->verbosity == 0;

	*pass = (struct mu_pass) {
		.request = request,
		.image = {
			.job = {
				.pid = mu_sys_getpid(),
				.tid = mu_sys_gettid(),
				.begin_ns = mu_sys_now_ns(),
				.log = { .fd = -1, .syslog_fd = -1 },
			},
			.stop = {
				.at_end = request->at_end,
				.brief = request->brief,
				.hold = request->hold,
			},
			.caller = request->caller,
			.uncopied = { .memory = -1, .pagemap = -1 },
			.query = want(request),
			.sweeper = {
				.pipe_read = -1,
				.pipe_write = -1,
				.budget = { .headroom = { .meminfo = -1 } },
			},
		},
	};
	job->deadline_ns = job->begin_ns + options->timeout * MU_NS_PER_MS;
	pass->image.sweeper.deadline_ns = job->deadline_ns;
	mu_arena_open(&job->arena, ARENA_LIMIT);
	mu_log_sink_open(&job->log, options, silent);
}

/*
 * Another thread may fork a child at any moment: see lib/state/under_way.h. To
 * wipe memory just before it is unmapped takes as long as the unmapping.
 */
static void
drop_stack(struct mu_pass *pass)
{
	char *stack = pass->image.stack;

	if (stack == NULL)
		return;
	if (!pass->image.stop.alone)
		mu_sys_wipe(stack + MU_STACK_GUARD,
		    pass->image.stack_size - MU_STACK_GUARD);
	pass->image.stack = NULL;
	mu_sys_munmap(stack, pass->image.stack_size);
}

static void
end(struct mu_pass *pass)
{
	mu_sweeper_reap(&pass->image.sweeper, 0);
	mu_sys_close(&pass->image.sweeper.pipe_read);
	mu_sys_close(&pass->image.sweeper.pipe_write);
	drop_stack(pass);
	mu_results_drop(mu_pass_results(pass), &pass->result.entries);
	mu_gap_sync_close(&pass->image);
	mu_log_sink_close(&pass->image.job.log);
	if (pass->image.stop.abandoned)
		return;
	if (!pass->image.stop.alone)
		mu_arena_wipe(&pass->image.job.arena);
	mu_arena_close(&pass->image.job.arena);
}

/*
 * Keep the entries in the requested form; otherwise they are for the log only.
 */
static enum mu_status
keep_entries(struct mu_pass *pass, struct UnreachableMemoryInfo *info)
{
	struct mu_entries *entries = &pass->result.entries;

	if (!pass->request->array || entries->count == 0)
		return MU_OK;
	info->leaks = mu_results_new(
	    &mu_library.results, entries->count, pass->result.num_more);
	if (info->leaks == NULL)
		return mu_why(&pass->image.job.why, MU_ERR_NO_MEMORY,
		    "no memory for %zu leaks", entries->count);
	mu_entries_unpack(entries, info->leaks);
	mu_results_drop(mu_pass_results(pass), entries);
	return MU_OK;
}

/* Called after the entries were logged. */
static void
hand_over(struct mu_pass *pass)
{
	if (pass->request->entries == NULL)
		return;
	*pass->request->entries = pass->result.entries;
	pass->result.entries = (struct mu_entries) { .count = 0 };
}

static enum mu_status
run(struct mu_pass *pass, struct UnreachableMemoryInfo *info)
{
	enum mu_status status, kept;

	if (pass->image.job.pid <= 0 || pass->image.job.tid <= 0)
		return mu_why(&pass->image.job.why, MU_ERR_NO_PERMISSION,
		    "getpid() or gettid() is refused" MU_CURE
		    "by a seccomp filter?");
	status = mu_procfs_enter(&pass->image.job.why);
	if (status != MU_OK)
		return status;
	if (mu_library.filter == NULL)
		mu_library.filter = mu_words_choose();
	pass->image.query.filter = mu_library.filter;
	status = mu_look(pass, info);
	mu_procfs_leave();
	if (!mu_status_usable(status))
		return status;
	if (pass->request->usage != NULL)
		*pass->request->usage = pass->result.usage;
	if (pass->request->groups != NULL)
		*pass->request->groups = pass->result.groups;
	kept = mu_candidates_keep(&pass->image, pass->request->unreachable);
	if (kept == MU_OK)
		kept = keep_entries(pass, info);
	if (kept == MU_OK)
		return status;
	mu_look_drop(pass, info);
	return kept;
}

/* A call, and its result. */
struct call {
	const struct mu_request *request;
	struct UnreachableMemoryInfo *info;
	uintptr_t sp; /* where our frames on the caller's stack end */
	struct mu_range stack;
	size_t slot; /* slot in mu_library.under_way */
	bool alone;  /* as in struct mu_stop */
	bool checked;
};

/* When the wait for the lock of another pass ends. */
static uint64_t
lock_until(const struct mu_image *image)
{
	uint64_t brief_ns = mu_sys_now_ns() + MU_STOP_BRIEF_NS;

	return image->stop.brief && brief_ns < image->job.deadline_ns
	    ? brief_ns
	    : image->job.deadline_ns;
}

static void
answer(void *arg)
{
	struct call *call = arg;
	enum mu_status status;
	struct mu_pass pass;

	begin(&pass, call->request);
	pass.image.frames_begin = call->sp;
	pass.image.own_stack = call->stack;
	if (mu_range_size(pass.image.own_stack) > 0)
		call->slot =
		    mu_under_way_add(&mu_library.under_way, &pass.image);
	status = mu_lock_take(&mu_library.pass_lock, lock_until(&pass.image));
	if (status == MU_OK) {
		mu_under_way_drop_inherited(&mu_library.under_way, &pass.image);
		status = run(&pass, call->info);
		mu_info_fill(&pass, status, call->info);
		hand_over(&pass);
		end(&pass);
		mu_lock_release(&mu_library.pass_lock);
	} else {
		mu_why(&pass.image.job.why, status,
		    status == MU_ERR_BUSY
			? "asked for from within a pass of the same thread"
			: "another pass did not end in time");
		mu_info_fill(&pass, status, call->info);
		end(&pass);
	}
	call->alone = pass.image.stop.alone;
	call->checked = mu_status_usable(status);
}

/*
 * Runs on a separate stack: a pass needs about 20 KiB, and the caller may
 * have PTHREAD_STACK_MIN, or a coroutine's stack.
 */
bool
mu_pass_run(
    const struct mu_request *request, struct UnreachableMemoryInfo *info)
{
	struct call call = {
		.request = request,
		.info = info,
		.sp = mu_arch_sp(),
	};
	long stack = mu_sys_map_stack(STACK_SIZE);

	if (mu_sys_failed(stack)) {
		answer(&call);
		return call.checked;
	}
	call.stack.begin = (uintptr_t)stack;
	call.stack.end = call.stack.begin + STACK_SIZE;
	mu_arch_call_on((void *)call.stack.end, answer, &call);
	/*
	 * If the stack stays mapped the next pass searches it, and it contains
	 * addresses of leaks.
	 */
	if (!call.alone)
		mu_under_way_wipe(call.stack);
	mu_under_way_remove(&mu_library.under_way, call.slot);
	mu_sys_munmap((void *)call.stack.begin, STACK_SIZE);
	return call.checked;
}
