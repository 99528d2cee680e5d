/*
 * The whole sequence of a pass, in the thread that asked for it.
 *
 * Runs in: original. Uses no malloc, no errno.
 */
#include "lib/pass.h"

#include <string.h>

#include "lib/left_out.h"
#include "lib/library.h"
#include "lib/log_sink.h"
#include "lib/look.h"
#include "lib/report/text.h"
#include "lib/sweeper.h"
#include "lib/why_pipe.h"
#include "mu/sys.h"

#define NS_PER_MS 1000000ull

/* Registers of 1024 threads and 65530 mappings need about 10 MiB. */
#define ARENA_LIMIT ((size_t)1 << 30)

/*
 * How long after the first look the second comes. A pointer that is nowhere to
 * be seen for a moment (encoded for a compare-and-swap, in a pipe between two
 * threads) is back by then.
 */
#define CONFIRM_NS (50 * NS_PER_MS)

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
	pass->reach = mu_options_reach(options);
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
	mu_left_out_close(pass);
	mu_log_sink_close(&pass->log);
	if (!pass->abandoned)
		mu_arena_close(&pass->arena);
}

static void
sleep_until(uint64_t end_ns)
{
	uint64_t now;

	/* A signal's handler may cut it short. */
	while ((now = mu_sys_now_ns()) < end_ns)
		mu_sys_sleep_ns(end_ns - now);
}

/*
 * Nothing is reported that was not lost in both looks. What the first could
 * not judge the second need not know of.
 */
static enum mu_status
look_twice(struct mu_pass *pass, struct UnreachableMemoryInfo *info)
{
	enum mu_status first, second;
	struct mu_why why;
	uint64_t again_ns;

	pass->turn = MU_TURN_FIRST;
	first = mu_look(pass, info);
	if ((first != MU_OK && first != MU_PARTIAL) || info->num_leaks == 0)
		return first;
	why = pass->why;
	mu_look_forget(pass, info);
	again_ns = mu_sys_now_ns() + CONFIRM_NS;
	if (again_ns >= pass->deadline_ns)
		return mu_why(&pass->why, MU_ERR_TIMEOUT,
		    "no time to look again (confirm=1) at %zu allocations that"
		    " seem unreachable",
		    pass->num_suspects);
	mu_log(&pass->log, MU_LOG_INFO,
	    "looking again at %zu unreachable allocations", pass->num_suspects);
	sleep_until(again_ns);
	pass->turn = MU_TURN_SECOND;
	second = mu_look(pass, info);
	if (second != MU_OK || first == MU_OK)
		return second;
	pass->why = why;
	return first;
}

static enum mu_status
run(struct mu_pass *pass, struct UnreachableMemoryInfo *info)
{
	bool twice =
	    mu_library.options.confirm && pass->request->references == NULL;

	mu_left_out_open(pass);
	return twice ? look_twice(pass, info) : mu_look(pass, info);
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

static const char *
stop_words(int stop)
{
	switch (stop) {
	case MEMUNREACHABLE_STOP_PTRACE:
		return "by ptrace";
	case MEMUNREACHABLE_STOP_SIGNAL:
		return "by signal";
	default:
		return "by nothing";
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
	else if (info->reason[0] != '\0')
		mu_log(&pass->log, MU_LOG_WARNING, "%s", info->reason);
	if (request->references != NULL)
		mu_log(&pass->log, MU_LOG_INFO, "%zu references",
		    request->references->total);
	else
		log_line(&pass->log, info);
	if (request->voice != MU_VOICE_QUIET)
		log_leaks(&pass->log, info, request->log_contents);
	mu_log(&pass->log, MU_LOG_DEBUG,
	    "stopped %s for %zu us of %zu us in all, threads: %zu, tries: %u,"
	    " blocks: %zu, bytes: %zu",
	    stop_words(info->stop), (size_t)(info->pause_ns / 1000),
	    (size_t)(info->total_ns / 1000), info->num_threads, info->tries,
	    info->num_allocations, info->allocation_bytes);
}

/*
 * An answer that was made with other references than usual says so, as whoever
 * reads it may not know of the options.
 */
static void
note_reach(struct UnreachableMemoryInfo *info)
{
	size_t length = strlen(info->reason);
	char words[160];
	struct mu_text text = { words, sizeof(words), 0 };

	mu_options_reach_words(&mu_library.options, &text);
	if (text.length > 0)
		mu_text_format(info->reason + length,
		    sizeof(info->reason) - length, "%sby option: %s",
		    length > 0 ? "; " : "", words);
}

/* The sweeper came to the same: it reads the same libc by the same table. */
static void
note_inferred(const struct mu_pass *pass, struct UnreachableMemoryInfo *info)
{
	size_t length = strlen(info->reason);

	if (pass->glibc.inferred_from != 0)
		mu_text_format(info->reason + length,
		    sizeof(info->reason) - length,
		    "%sthe heap layout of glibc %u.%u was inferred from that "
		    "of 2.%u",
		    length > 0 ? "; " : "", pass->self.glibc_major,
		    pass->self.glibc_minor, pass->glibc.inferred_from);
}

static void
conclude(struct mu_pass *pass, enum mu_status status,
    struct UnreachableMemoryInfo *info)
{
	info->status = (int)status;
	if (status != MU_OK)
		memcpy(info->reason, pass->why.words, sizeof(info->reason));
	if (status == MU_OK || status == MU_PARTIAL) {
		note_inferred(pass, info);
		note_reach(info);
	}
	info->num_threads = pass->snap.num_threads;
	info->stop = pass->stop;
	info->tries = pass->tries;
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
