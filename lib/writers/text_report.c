#include "lib/writers/text_report.h"

#include <string.h>

#include "lib/report/hint.h"
#include "lib/term/human.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/explained_text.h"
#include "lib/writers/groups_text.h"
#include "lib/writers/leaks_text.h"
#include "lib/writers/verdict_text.h"
#include "mu/status.h"

static const char *
plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* "Process 4711, /usr/sbin/nginx, glibc 2.36" */
static void
put_subject(const struct mu_out *out, const struct mu_report *report)
{
	bool core = report->stop != NULL && strcmp(report->stop, "core") == 0;

	if (report->pid != 0)
		mu_put(out, "%s %d", core ? "Core of process" : "Process",
		    (int)report->pid);
	else
		mu_put(out, core ? "Core" : "Process");
	if (report->program[0] != '\0') {
		mu_put(out, ", ");
		mu_put_safe(out, report->program);
	}
	if (report->allocator[0] != '\0') {
		mu_put(out, ", ");
		mu_put_safe(out, report->allocator);
	}
}

/* How the check was made: ", 12 threads stopped for 3.2 ms (fork), 1 try". */
static void
put_look(const struct mu_out *out, const struct mu_report *report)
{
	const struct UnreachableMemoryInfo *info = &report->info;
	size_t threads = info->num_threads;

	if (threads > 0)
		mu_put(out, ", %zu thread%s", threads, plural(threads));
	if (info->pause_ns > 0)
		mu_put(
		    out, " stopped for %s", mu_human_time(info->pause_ns).text);
	if (info->pause_ns > 0 && report->stop != NULL &&
	    report->stop[0] != '\0')
		mu_put(out, " (%s)", report->stop);
	if (info->tries > 0)
		mu_put(out, ", %u %s", info->tries,
		    info->tries == 1 ? "try" : "tries");
	if (info->total_ns > 0)
		mu_put(out, ", %s in all", mu_human_time(info->total_ns).text);
	mu_put(out, "\n");
}

/* No stacks were recorded: only a new run of the program can show them. */
static void
put_hint(const struct mu_out *out, const struct mu_report *report)
{
	char buffer[256] = "";
	struct mu_text text = { buffer, sizeof(buffer), 0 };
	size_t least, most;

	if (!mu_hint_sizes(&report->info, &report->entries, &least, &most))
		return;
	if (report->no_recorder)
		mu_text_add(&text,
		    MU_HINT_BEGIN "the recorder cannot go into a program that"
				  " is static or has no glibc");
	else
		mu_hint_command(&text, least, most);
	mu_put(out, "%s\n", buffer);
}

/* Why frames and types have no names. */
static void
put_names(const struct mu_out *out, const struct mu_report *report)
{
	if (report->names_note[0] == '\0')
		return;
	mu_put(out, "Names are incomplete: ");
	mu_put_safe(out, report->names_note);
	mu_put(out, "\n");
}

static void
put_lost(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	bool more;

	if (report->groups.count > 0) {
		mu_groups_text(out, report, shown);
		more = mu_leaks_text_sampled(out, report);
	} else {
		mu_leaks_text_entries(out, report, shown);
		more = mu_leaks_text_rest(out, report);
	}
	if (more)
		mu_put(out, "\n");
}

bool
mu_text_report(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	put_subject(out, report);
	put_look(out, report);
	if (!mu_exit_checked(&report->info)) {
		/* Android's first line; programs search for it. */
		mu_put(out, "%sFailed to get unreachable memory%s\n",
		    shown->style.bold, shown->style.off);
		mu_text_report_failure(out, report);
		mu_put(out, "\n");
		return true;
	}
	mu_verdict_text(out, &report->usage, &shown->style);
	mu_leaks_text_totals(out, report, shown);
	put_lost(out, report, shown);
	if (report->explained != NULL)
		mu_explained_text(out, report->explained, shown);
	put_names(out, report);
	put_hint(out, report);
	return true;
}

void
mu_text_report_failure(const struct mu_out *out, const struct mu_report *report)
{
	const struct UnreachableMemoryInfo *info = &report->info;

	mu_put(out, "not checked: %s%s",
	    mu_status_name((enum mu_status)info->status),
	    info->reason[0] != '\0' ? ": " : "");
	mu_put_safe(out, info->reason);
	if (report->cure == 0 && mu_report_remedy(report)[0] != '\0')
		mu_put(out, "; %s", mu_report_remedy(report));
}

const struct mu_writer mu_writer_text = {
	.name = "text",
	.for_people = true,
	.write = mu_text_report,
};
