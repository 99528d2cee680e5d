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

#define TOTALS_SIZE 1024 /* of mu_report() without entries: 400 at most */

static const char *
plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* "Process 4711, /usr/sbin/nginx, glibc 2.36" */
static void
put_subject(FILE *out, const struct mu_answer *answer)
{
	bool core = answer->stop != NULL && strcmp(answer->stop, "core") == 0;

	if (answer->pid != 0)
		fprintf(out, "%s %d", core ? "Core of process" : "Process",
		    (int)answer->pid);
	else
		fputs(core ? "Core" : "Process", out);
	if (answer->program[0] != '\0') {
		fputs(", ", out);
		mu_names_text(out, answer->program);
	}
	if (answer->allocator[0] != '\0') {
		fputs(", ", out);
		mu_names_text(out, answer->allocator);
	}
}

/* How it was looked at: ", 12 threads stopped for 3.2 ms (fork), 1 try". */
static void
put_look(FILE *out, const struct mu_answer *answer)
{
	const struct UnreachableMemoryInfo *info = &answer->info;
	size_t threads = info->num_threads;

	if (threads > 0)
		fprintf(out, ", %zu thread%s", threads, plural(threads));
	if (info->pause_ns > 0)
		fprintf(
		    out, " stopped for %s", mu_human_time(info->pause_ns).text);
	if (info->pause_ns > 0 && answer->stop != NULL &&
	    answer->stop[0] != '\0')
		fprintf(out, " (%s)", answer->stop);
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

/* What mu_report() writes before the entries; its first line has the totals. */
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
	mu_report(&text, &totals, &none, false, NULL);
	first = strcspn(buffer, "\n");
	fprintf(out, "%s%.*s%s%s", style->bold, (int)first, buffer, style->off,
	    buffer + first);
}

static void
put_entries(FILE *out, const struct mu_text_report *report,
    const struct mu_answer *answer)
{
	struct mu_entries_at at;
	const struct Leak *leak;

	mu_entries_open(&at, &answer->entries);
	while ((leak = mu_entries_next(&at)) != NULL) {
		if (mu_report_is_unsampled(&answer->info, leak))
			continue;
		mu_leak_text(out, leak, report->contents, &report->names,
		    &report->style);
		fputc('\n', out);
	}
}

static void
put_rest(FILE *out, const struct mu_answer *answer)
{
	char buffer[512] = "";
	struct mu_text text = { buffer, sizeof(buffer), 0 };

	mu_report_rest(&text, &answer->info, &answer->entries);
	if (text.length > 0)
		fprintf(out, "%s\n", buffer);
}

/* The stacks were not recorded: only a new run of the program can show them. */
static void
put_hint(FILE *out, const struct mu_answer *answer)
{
	char buffer[256] = "";
	struct mu_text text = { buffer, sizeof(buffer), 0 };
	size_t least, most;

	if (!mu_hint_sizes(&answer->info, &answer->entries, &least, &most))
		return;
	mu_hint_command(&text, least, most);
	fprintf(out, "%s\n", buffer);
}

/* Why frames and types have no names. */
static void
put_names(FILE *out, const struct mu_answer *answer)
{
	if (answer->names_note[0] == '\0')
		return;
	fputs("Names are incomplete: ", out);
	mu_names_text(out, answer->names_note);
	fputc('\n', out);
}

void
mu_text_report(FILE *out, const struct mu_text_report *report,
    const struct mu_answer *answer)
{
	put_subject(out, answer);
	put_look(out, answer);
	if (!mu_exit_judged(&answer->info)) {
		/* Android's first line; programs look for it. */
		fprintf(out, "%sFailed to get unreachable memory%s\n",
		    report->style.bold, report->style.off);
		mu_text_report_failure(out, &answer->info);
		fputc('\n', out);
		return;
	}
	mu_verdict_text(out, &answer->usage, &report->style);
	put_totals(out, &answer->info, &report->style);
	put_entries(out, report, answer);
	put_rest(out, answer);
	put_names(out, answer);
	put_hint(out, answer);
}

void
mu_text_report_failure(FILE *out, const struct UnreachableMemoryInfo *info)
{
	struct UnreachableMemoryInfo safe = *info;
	const char *cure = mu_status_word_cure(info->status);

	make_safe(&safe);
	fprintf(out, "not checked: %s%s%s",
	    mu_status_name((enum mu_status)info->status),
	    safe.reason[0] != '\0' ? ": " : "", safe.reason);
	/* The reason's own cure is behind a semicolon, and knows better. */
	if (cure[0] != '\0' && strchr(safe.reason, ';') == NULL)
		fprintf(out, "; %s", cure);
}
