/*
 * A saved look as a subject: see check.h. Its heap and roots were found when it
 * was saved; everything else is as for a process.
 */
#include <bsd/string.h>
#include <stdlib.h>
#include <string.h>

#include "lib/check/naming.h"
#include "lib/check/outside.h"
#include "lib/look/read.h"

struct mu_saved_look {
	const struct mu_check *check;
	struct mu_look_file file;
};

/* It knows which blocks were lost, perhaps at two looks. */
static enum mu_status
take(void *subject, struct mu_check_look *look)
{
	struct mu_saved_look *saved = subject;
	const struct mu_look_outcome *outcome = &saved->file.outcome;
	enum mu_status status =
	    mu_look_file_open(&saved->file, saved->check->look,
		mu_analysis_limit(saved->check, &look->analysis.cgroups, 2),
		&look->why);

	if (status != MU_OK)
		return status;
	mu_analysis_expect(
	    &look->analysis, saved->file.lost, saved->file.num_lost);
	look->snap = &saved->file.snap;
	look->pause_ns = outcome->pause_ns;
	if (outcome->status == MEMUNREACHABLE_COMPLETE)
		return MU_OK;
	strlcpy(look->why.text, outcome->reason, sizeof(look->why.text));
	look->why.cure = (unsigned short)outcome->cure;
	return MU_PARTIAL;
}

static void
note(void *subject, struct mu_check_look *look)
{
	(void)subject;
	(void)look;
}

static void
describe(const void *subject, struct mu_report *report)
{
	const struct mu_saved_look *saved = subject;
	const struct mu_look_outcome *outcome = &saved->file.outcome;

	report->stop = outcome->stop;
	report->pid = outcome->pid;
	report->info.num_threads = saved->file.snap.num_threads;
	strlcpy(report->program, outcome->program, sizeof(report->program));
}

static void
source_of(
    void *subject, struct mu_symbols_source *source, struct mu_rights *rights)
{
	struct mu_saved_look *saved = subject;

	*rights = (struct mu_rights) { .uid = 0 };
	*source = (struct mu_symbols_source) { .kept = &saved->file.names };
}

static void
name_addresses(void *subject, struct mu_report *report, uint64_t deadline_ns)
{
	struct mu_saved_look *saved = subject;
	struct mu_symbols_source source;
	struct mu_rights rights;

	source_of(subject, &source, &rights);
	mu_naming_ask(report, &source, &rights, deadline_ns);
	strlcpy(report->names_note, saved->file.outcome.names_note,
	    sizeof(report->names_note));
}

enum mu_status
mu_check_look_file(const struct mu_check *check, struct mu_report *report)
{
	static const struct mu_subject_ops ops = {
		.take = take,
		.note = note,
		.describe = describe,
		.source = source_of,
		.name = name_addresses,
	};
	struct mu_saved_look *saved = calloc(1, sizeof(*saved));
	enum mu_status status;

	if (saved == NULL) {
		*report = (struct mu_report) { .stop = "" };
		return MU_ERR_NO_MEMORY;
	}
	saved->check = check;
	status = mu_check_run(check, saved, &ops, report);
	report->look = saved;
	return status;
}

void
mu_saved_look_close(struct mu_saved_look *saved)
{
	if (saved == NULL)
		return;
	mu_look_file_close(&saved->file);
	free(saved);
}
