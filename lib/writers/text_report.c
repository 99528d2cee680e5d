#include "lib/writers/text_report.h"

#include <string.h>

#include "lib/report/hint.h"
#include "lib/report/text.h"
#include "lib/term/human.h"
#include "lib/term/safe_text.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/leak_text.h"
#include "lib/writers/status_word.h"
#include "lib/writers/verdict_text.h"
#include "mu/status.h"

#define TOTALS_SIZE                                              \
	1024 /* of mu_report_text() without entries: 400 at most \
	      */

static const char *
plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* "Process 4711, /usr/sbin/nginx, glibc 2.36" */
static void
put_subject(FILE *out, const struct mu_report *report)
{
	bool core = report->stop != NULL && strcmp(report->stop, "core") == 0;

	if (report->pid != 0)
		fprintf(out, "%s %d", core ? "Core of process" : "Process",
		    (int)report->pid);
	else
		fputs(core ? "Core" : "Process", out);
	if (report->program[0] != '\0') {
		fputs(", ", out);
		mu_names_text(out, report->program);
	}
	if (report->allocator[0] != '\0') {
		fputs(", ", out);
		mu_names_text(out, report->allocator);
	}
}

/* How it was looked at: ", 12 threads stopped for 3.2 ms (fork), 1 try". */
static void
put_look(FILE *out, const struct mu_report *report)
{
	const struct UnreachableMemoryInfo *info = &report->info;
	size_t threads = info->num_threads;

	if (threads > 0)
		fprintf(out, ", %zu thread%s", threads, plural(threads));
	if (info->pause_ns > 0)
		fprintf(
		    out, " stopped for %s", mu_human_time(info->pause_ns).text);
	if (info->pause_ns > 0 && report->stop != NULL &&
	    report->stop[0] != '\0')
		fprintf(out, " (%s)", report->stop);
	if (info->tries > 0)
		fprintf(out, ", %u %s", info->tries,
		    info->tries == 1 ? "try" : "tries");
	if (info->total_ns > 0)
		fprintf(out, ", %s in all", mu_human_time(info->total_ns).text);
	fputc('\n', out);
}

/* The words of INFO come from names in the subject as well. */
static void
make_safe(struct UnreachableMemoryInfo *info)
{
	char reason[sizeof(info->reason)];

	memcpy(reason, info->reason, sizeof(reason));
	reason[sizeof(reason) - 1] = '\0';
	mu_safe_for_terminal(reason, info->reason, sizeof(info->reason));
}

/* What mu_report_text() writes before the entries; its first line has the
 * totals. */
static void
put_totals(FILE *out, const struct UnreachableMemoryInfo *info,
    const struct mu_style *style)
{
	const struct mu_entries none = { .count = 0 };
	struct UnreachableMemoryInfo totals = *info;
	char buffer[TOTALS_SIZE] = "";
	struct mu_text text = { buffer, sizeof(buffer), 0 };
	size_t first;

	totals.num_reported = totals.num_entries = 0;
	totals.unreported_leaks = 0;
	make_safe(&totals);
	mu_report_text(&text, &totals, &none, false, NULL);
	first = strcspn(buffer, "\n");
	fprintf(out, "%s%.*s%s%s", style->bold, (int)first, buffer, style->off,
	    buffer + first);
}

static void
put_entries(
    FILE *out, const struct mu_report *report, const struct mu_shown *shown)
{
	struct mu_entries_at at;
	const struct Leak *leak;

	mu_entries_open(&at, &report->entries);
	while ((leak = mu_entries_next(&at)) != NULL) {
		if (mu_report_is_unsampled(&report->info, leak))
			continue;
		mu_leak_text(
		    out, leak, shown->contents, &report->names, &shown->style);
		fputc('\n', out);
	}
}

static void
put_rest(FILE *out, const struct mu_report *report)
{
	char buffer[512] = "";
	struct mu_text text = { buffer, sizeof(buffer), 0 };

	mu_report_rest(&text, &report->info, &report->entries);
	if (text.length > 0)
		fprintf(out, "%s\n", buffer);
}

/* The stacks were not recorded: only a new run of the program can show them. */
static void
put_hint(FILE *out, const struct mu_report *report)
{
	char buffer[256] = "";
	struct mu_text text = { buffer, sizeof(buffer), 0 };
	size_t least, most;

	if (!mu_hint_sizes(&report->info, &report->entries, &least, &most))
		return;
	mu_hint_command(&text, least, most);
	fprintf(out, "%s\n", buffer);
}

/* Why frames and types have no names. */
static void
put_names(FILE *out, const struct mu_report *report)
{
	if (report->names_note[0] == '\0')
		return;
	fputs("Names are incomplete: ", out);
	mu_names_text(out, report->names_note);
	fputc('\n', out);
}

bool
mu_text_report(
    FILE *out, const struct mu_report *report, const struct mu_shown *shown)
{
	put_subject(out, report);
	put_look(out, report);
	if (!mu_exit_judged(&report->info)) {
		/* Android's first line; programs look for it. */
		fprintf(out, "%sFailed to get unreachable memory%s\n",
		    shown->style.bold, shown->style.off);
		mu_text_report_failure(out, report);
		fputc('\n', out);
		return true;
	}
	mu_verdict_text(out, &report->usage, &shown->style);
	put_totals(out, &report->info, &shown->style);
	put_entries(out, report, shown);
	put_rest(out, report);
	put_names(out, report);
	put_hint(out, report);
	return true;
}

void
mu_text_report_failure(FILE *out, const struct mu_report *report)
{
	struct UnreachableMemoryInfo safe = report->info;
	const char *cure = mu_status_word_cure(safe.status);

	make_safe(&safe);
	fprintf(out, "not checked: %s%s%s",
	    mu_status_name((enum mu_status)safe.status),
	    safe.reason[0] != '\0' ? ": " : "", safe.reason);
	if (cure[0] != '\0' && report->cure == 0)
		fprintf(out, "; %s", cure);
}

const struct mu_writer mu_writer_text = {
	.name = "text",
	.for_people = true,
	.write = mu_text_report,
};
