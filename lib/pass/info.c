#include "lib/pass/info.h"

#include <string.h>

#include "lib/pass/log_leaks.h"
#include "lib/pipe/answer.h"
#include "lib/report/hint.h"
#include "lib/state/library.h"
#include "lib/state/log_sink.h"
#include "lib/writers/leaks_text.h"
#include "mu/sys.h"

static void
log_line(const struct mu_log *log, const struct UnreachableMemoryInfo *info)
{
	char line[256];
	struct mu_text text = { line, sizeof(line), 0 };
	struct mu_out out = mu_out_text(&text);

	mu_leaks_text_summary(&out, info);
	mu_log(log, MU_LOG_ERROR, "%s", line);
}

static void
log_hint(const struct mu_pass *pass, const struct UnreachableMemoryInfo *info)
{
	char line[256];
	struct mu_text text = { line, sizeof(line), 0 };
	struct {
		struct mu_log_record head;
		struct mu_log_hint hint;
	} record = {
		.head = { .kind = MU_LOG_RECORD_HINT,
		    .size = sizeof(record.hint) },
	};
	size_t least, most;

	if (!mu_hint_sizes(info, &pass->result.entries, &least, &most))
		return;
	mu_hint_environment(&text, least, most);
	if (!pass->image.job.log.records) {
		mu_log(&pass->image.job.log, MU_LOG_INFO, "%s", line);
		return;
	}
	record.hint = (struct mu_log_hint) { least, most };
	mu_log_record(
	    &pass->image.job.log, MU_LOG_INFO, &record.head, line, text.length);
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

/* Log the report, or why there is none. */
static void
log_outcome(struct mu_pass *pass, const struct UnreachableMemoryInfo *info)
{
	const struct mu_request *request = pass->request;
	bool checked = info->status == MEMUNREACHABLE_COMPLETE ||
	    info->status == MEMUNREACHABLE_PARTIAL;
	bool clean =
	    info->status == MEMUNREACHABLE_COMPLETE && info->num_leaks == 0;

	if (((request->log_policy == MU_LOG_POLICY_LEAKS && !clean) ||
		(request->log_policy == MU_LOG_POLICY_FAILURE && !checked)) &&
	    pass->image.job.log.silent)
		mu_log_sink_open(
		    &pass->image.job.log, &mu_library.options, false);
	if (!checked) {
		mu_log(&pass->image.job.log, MU_LOG_ERROR,
		    "unreachable memory detection failed: %s: %s",
		    mu_status_name((enum mu_status)info->status), info->reason);
		return;
	}
	if (request->log_policy != MU_LOG_POLICY_LEAKS)
		mu_log(&pass->image.job.log, MU_LOG_STEP,
		    "unreachable memory detection done");
	if (info->status == MEMUNREACHABLE_PARTIAL)
		mu_log(&pass->image.job.log, MU_LOG_WARNING,
		    "partial answer: %s", info->reason);
	else if (info->reason[0] != '\0')
		mu_log(
		    &pass->image.job.log, MU_LOG_WARNING, "%s", info->reason);
	if (request->references != NULL)
		mu_log(&pass->image.job.log, MU_LOG_INFO, "%zu references",
		    request->references->total);
	else
		log_line(&pass->image.job.log, info);
	if (request->log_policy >= MU_LOG_POLICY_LEAKS)
		mu_log_leaks(pass, info);
	if (request->log_policy == MU_LOG_POLICY_FULL)
		log_hint(pass, info);
	mu_log(&pass->image.job.log, MU_LOG_DEBUG,
	    "stopped %s for %zu us of %zu us in all, threads: %zu, tries: %u,"
	    " blocks: %zu, bytes: %zu",
	    stop_words(info->stop), (size_t)(info->pause_ns / 1000),
	    (size_t)(info->total_ns / 1000), info->num_threads, info->tries,
	    info->num_allocations, info->allocation_bytes);
}

/*
 * An answer that does not use the default rules for references says so, since
 * the reader may not know of the options.
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

/*
 * The sweeper infers the same release: it reads the same libc with the same
 * table.
 */
static void
note_inferred(const struct mu_pass *pass, struct UnreachableMemoryInfo *info)
{
	size_t length = strlen(info->reason);

	if (pass->image.stop.heaps.inferred_from != 0)
		mu_text_format(info->reason + length,
		    sizeof(info->reason) - length,
		    "%sthe heap layout of glibc %u.%u was inferred from that "
		    "of 2.%u",
		    length > 0 ? "; " : "", pass->image.stop.self.glibc_major,
		    pass->image.stop.self.glibc_minor,
		    pass->image.stop.heaps.inferred_from);
}

/* Add the cause and, if it has no remedy, a general one. */
static void
note_why(const struct mu_pass *pass, enum mu_status status,
    struct UnreachableMemoryInfo *info)
{
	const char *cure = mu_status_cure(status);
	struct mu_why why = pass->image.job.why;

	if (status == MU_ERR_HEAP_INCONSISTENT &&
	    mu_library.exit_thread == pass->image.job.tid)
		cure = MU_OVERRUN;
	if (why.cure == 0 && cure[0] != '\0')
		mu_why_cure(&why, "%s", cure);
	memcpy(info->reason, why.text, sizeof(info->reason));
	if (pass->request->cure != NULL)
		*pass->request->cure = why.cure;
}

void
mu_info_fill(struct mu_pass *pass, enum mu_status status,
    struct UnreachableMemoryInfo *info)
{
	info->status = (int)status;
	if (status != MU_OK)
		note_why(pass, status, info);
	if (mu_status_usable(status)) {
		note_inferred(pass, info);
		note_reach(info);
	}
	info->num_threads = pass->image.snap.num_threads;
	info->stop = pass->image.stop.method;
	info->tries = pass->image.stop.tries;
	info->pause_ns = pass->image.stop.pause_ns;
	info->total_ns = mu_sys_now_ns() - pass->image.job.begin_ns;
	log_outcome(pass, info);
}
