/*
 * The whole sequence of a pass, in the thread that asked for it.
 *
 * Runs in: original. Uses no malloc, no errno.
 */
#include "lib/pass.h"

#include <gnu/libc-version.h>
#include <string.h>
#include <sys/auxv.h>

#include "heapwalk/memory_self.h"
#include "lib/allocator_freeze.h"
#include "lib/collector.h"
#include "lib/leak_pipe.h"
#include "lib/library.h"
#include "lib/log_sink.h"
#include "lib/report/text.h"
#include "lib/sweeper.h"
#include "mu/sys.h"
#include "ptrace/mappings.h"

#define NS_PER_MS 1000000ull

/* Registers of 1024 threads and 65530 mappings need about 10 MiB. */
#define ARENA_LIMIT ((size_t)1 << 30)

/*
 * A thread can be caught where no lock holds it: between a counter and the
 * munmap() it counts (munmap_chunk), or inside malloc when the program takes
 * no lock at all. A moment later it is somewhere else.
 */
#define MAX_TRIES 20
#define MAX_TRIES_FOR_FULL 3 /* a partial answer is one */

static void
begin(struct mu_pass *pass, const struct mu_request *request)
{
	const struct mu_options *options = &mu_library.options;
	bool silent =
	    request->voice != MU_VOICE_FULL && options->verbosity == 0;

	*pass = (struct mu_pass) {
		.request = request,
		.pid = mu_sys_getpid(),
		.tid = mu_sys_gettid(),
		.begin_ns = mu_sys_now_ns(),
		.pipe_read = -1,
		.pipe_write = -1,
		.log = { .fd = -1, .syslog_fd = -1 },
	};
	pass->deadline_ns = pass->begin_ns + options->timeout * NS_PER_MS;
	mu_arena_open(&pass->arena, ARENA_LIMIT);
	mu_log_sink_open(&pass->log, options, silent);
}

static void
end(struct mu_pass *pass)
{
	mu_sweeper_reap(pass, 0);
	mu_sys_close(&pass->pipe_read);
	mu_sys_close(&pass->pipe_write);
	if (pass->stack != NULL)
		mu_sys_munmap(pass->stack, pass->stack_size);
	mu_log_sink_close(&pass->log);
	mu_arena_close(&pass->arena);
}

/* "2.36" */
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

/* What finding libc's arenas needs: mappings, and memory to be read. */
static enum mu_status
look_at_self(struct mu_pass *pass)
{
	struct mu_snapshot *self = &pass->self;
	enum mu_status status;

	*self = (struct mu_snapshot) { .pid = pass->pid };
	/* A leader that has ended shows none; we are no leader then. */
	status = mu_mappings_read(pass->tid, &self->mappings,
	    &self->num_mappings, &pass->arena, &pass->why);
	if (status != MU_OK)
		return status;
	read_release(self);
	self->libc_address = (uintptr_t)gnu_get_libc_version;
	mu_memory_self_open(&self->memory, &pass->self_memory, self->mappings,
	    self->num_mappings);
	return MU_OK;
}

static enum mu_status
open_pipe(struct mu_pass *pass)
{
	int ends[2] = { -1, -1 };
	long error = mu_sys2(SYS_pipe2, (long)ends, O_CLOEXEC);

	if (error < 0)
		return mu_why(&pass->why, mu_status_from_errno((int)-error),
		    "cannot make a pipe (errno %ld)", -error);
	pass->pipe_read = ends[0];
	pass->pipe_write = ends[1];
	return MU_OK;
}

/*
 * Signals stay blocked while malloc is frozen: a handler that allocates would
 * wait for the thread it interrupted.
 */
static enum mu_status
take_image(struct mu_pass *pass)
{
	enum mu_status status;
	mu_sigmask mask;

	/* Not from the collector: a full pipe would keep malloc frozen. */
	mu_log(&pass->log, MU_LOG_INFO,
	    "collecting thread info for process %d...", pass->pid);
	mu_sys_block_signals(&mask);
	status = mu_allocator_freeze(pass);
	if (status == MU_OK)
		status = mu_collector_run(pass);
	mu_allocator_thaw(pass);
	mu_sys_restore_signals(&mask);
	/* Ours was a copy; the sweeper's end of file must be seen. */
	mu_sys_close(&pass->pipe_write);
	if (status == MU_OK)
		mu_log(&pass->log, MU_LOG_INFO, "collection thread done");
	return status;
}

static enum mu_status
try_once(struct mu_pass *pass, struct UnreachableMemoryInfo *info)
{
	enum mu_status status;

	status = look_at_self(pass);
	if (status == MU_OK)
		status = open_pipe(pass);
	if (status == MU_OK)
		status = take_image(pass);
	if (status == MU_OK)
		status = mu_leak_pipe_receive(pass, &mu_library.results, info);
	mu_sweeper_reap(pass,
	    status == MU_OK || status == MU_PARTIAL ? pass->deadline_ns : 0);
	mu_sys_close(&pass->pipe_read);
	mu_sys_close(&pass->pipe_write);
	return status;
}

/* Ready for another try; what the program registered stays. */
static void
forget(struct mu_pass *pass, struct UnreachableMemoryInfo *info)
{
	struct mu_snapshot snap = pass->snap;

	FreeUnreachableMemoryInfo(info);
	pass->snap = (struct mu_snapshot) {
		.root_regions = snap.root_regions,
		.num_root_regions = snap.num_root_regions,
		.root_values = snap.root_values,
		.num_root_values = snap.num_root_values,
	};
	pass->locked = NULL;
	pass->max_locked = 0;
}

static bool
worth_another(const struct mu_pass *pass, enum mu_status status, unsigned tries)
{
	if (mu_sys_now_ns() >= pass->deadline_ns)
		return false;
	if (status == MU_PARTIAL)
		return pass->transient && tries < MAX_TRIES_FOR_FULL;
	return status == MU_ERR_HEAP_INCONSISTENT && tries < MAX_TRIES;
}

static enum mu_status
run(struct mu_pass *pass, struct UnreachableMemoryInfo *info)
{
	enum mu_status status;
	unsigned tries = 0;

	status = mu_registry_collect(&mu_library.registry, &pass->snap,
	    &pass->arena, &pass->log, &pass->why);
	if (status != MU_OK)
		return status;
	for (;;) {
		status = try_once(pass, info);
		if (!worth_another(pass, status, ++tries))
			return status;
		mu_log(&pass->log, MU_LOG_DEBUG, "try %u: %s", tries,
		    pass->why.words);
		forget(pass, info);
		mu_sys_sleep_ns(tries * NS_PER_MS);
	}
}

static void
log_line(const struct mu_log *log, const struct UnreachableMemoryInfo *info)
{
	char line[256];
	struct mu_text text = { line, sizeof(line), 0 };

	mu_report_summary(&text, info);
	mu_log(log, MU_LOG_ERROR, "%s", line);
}

static void
log_leaks(const struct mu_log *log, const struct UnreachableMemoryInfo *info,
    bool contents)
{
	char block[4096];
	size_t i;

	for (i = 0; i < info->num_reported; i++) {
		struct mu_text text = { block, sizeof(block), 0 };

		mu_report_leak(&text, &info->leaks[i], contents);
		mu_log_text(log, MU_LOG_ERROR, block,
		    text.length < sizeof(block) ? text.length
						: sizeof(block) - 1);
	}
}

/* MU-24, lines 9 and following; or why there are none. */
static void
log_outcome(struct mu_pass *pass, const struct UnreachableMemoryInfo *info)
{
	const struct mu_request *request = pass->request;
	bool judged = info->status == MEMUNREACHABLE_COMPLETE ||
	    info->status == MEMUNREACHABLE_PARTIAL;
	bool clean =
	    info->status == MEMUNREACHABLE_COMPLETE && info->num_leaks == 0;

	if (request->voice == MU_VOICE_LEAKS && !clean && pass->log.silent)
		mu_log_sink_open(&pass->log, &mu_library.options, false);
	if (!judged) {
		mu_log(&pass->log, MU_LOG_ERROR,
		    "unreachable memory detection failed: %s: %s",
		    mu_status_name((enum mu_status)info->status), info->reason);
		return;
	}
	if (request->voice != MU_VOICE_LEAKS)
		mu_log(&pass->log, MU_LOG_INFO,
		    "unreachable memory detection done");
	if (info->status == MEMUNREACHABLE_PARTIAL)
		mu_log(&pass->log, MU_LOG_WARNING, "partial answer: %s",
		    info->reason);
	log_line(&pass->log, info);
	if (request->voice != MU_VOICE_QUIET)
		log_leaks(&pass->log, info, request->log_contents);
	mu_log(&pass->log, MU_LOG_DEBUG,
	    "stopped for %zu us of %zu us in all, threads: %zu",
	    (size_t)(info->pause_ns / 1000), (size_t)(info->total_ns / 1000),
	    pass->snap.num_threads);
}

static void
conclude(struct mu_pass *pass, enum mu_status status,
    struct UnreachableMemoryInfo *info)
{
	info->status = (int)status;
	if (status != MU_OK)
		memcpy(info->reason, pass->why.words, sizeof(info->reason));
	info->pause_ns = pass->pause_ns;
	info->total_ns = mu_sys_now_ns() - pass->begin_ns;
	log_outcome(pass, info);
}

bool
mu_pass_run(
    const struct mu_request *request, struct UnreachableMemoryInfo *info)
{
	enum mu_status status;
	struct mu_pass pass;

	begin(&pass, request);
	status = mu_lock_take(&mu_library.pass_lock, pass.deadline_ns);
	if (status == MU_OK) {
		status = run(&pass, info);
		conclude(&pass, status, info);
		end(&pass);
		mu_lock_release(&mu_library.pass_lock);
	} else {
		mu_why(&pass.why, status,
		    status == MU_ERR_BUSY
			? "asked for from within a pass of the same thread"
			: "another pass did not end in time");
		conclude(&pass, status, info);
		end(&pass);
	}
	return status == MU_OK || status == MU_PARTIAL;
}
