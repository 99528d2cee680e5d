/*
 * GitLab's code quality: an array with an issue for each group of lost blocks.
 * An issue must have a path: without a line it is the program's.
 */

#include "lib/writers/exit_status.h"
#include "lib/writers/findings.h"
#include "lib/writers/json_values.h"
#include "lib/writers/writer.h"

static json_t *
location(const char *path, unsigned line)
{
	json_t *object = json_object(), *lines = json_object();
	bool ok = true;

	ok &= mu_json_set(object, "path", mu_json_text(path));
	ok &= mu_json_set(lines, "begin", json_integer(line > 0 ? line : 1));
	ok &= mu_json_set(object, "lines", lines);
	return mu_json_done(object, ok);
}

static json_t *
issue(const char *words, const char *check, const char *print,
    const char *severity, json_t *location)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= mu_json_set(object, "description", mu_json_text(words));
	ok &= mu_json_set(object, "check_name", json_string(check));
	ok &= mu_json_set(object, "fingerprint", json_string(print));
	ok &= mu_json_set(object, "severity", json_string(severity));
	ok &= mu_json_set(object, "location", location);
	return mu_json_done(object, ok);
}

/* ISSUE is released. */
static bool
put_issue(const struct mu_out *out, const struct mu_shown *shown, json_t *issue)
{
	if (shown->written != NULL && (*shown->written)++ > 0)
		mu_put(out, ",\n");
	return mu_json_put(out, issue, 0);
}

static json_t *
finding_issue(const struct mu_report *report, const struct mu_finding *finding)
{
	const struct mu_source_line *source = &finding->source;

	return issue(finding->what, "lost-memory", finding->print,
	    finding->known ? "info" : "major",
	    source->file[0] != '\0' ? location(source->file, source->line)
				    : location(mu_report_name(report), 1));
}

static bool
write_issues(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	const struct UnreachableMemoryInfo *info = &report->info;
	struct mu_findings findings;
	const struct mu_finding *finding;
	bool ok = true;

	mu_findings_open(&findings, report, shown->source_root);
	while (ok && (finding = mu_findings_next(&findings)) != NULL)
		ok = put_issue(out, shown, finding_issue(report, finding));
	if (info->status == MEMUNREACHABLE_COMPLETE)
		return ok;
	return ok &&
	    put_issue(out, shown,
		issue(info->reason,
		    mu_exit_checked(info) ? "partial-answer" : "not-checked",
		    mu_report_name(report),
		    mu_exit_checked(info) ? "minor" : "critical",
		    location(mu_report_name(report), 1)));
}

const struct mu_writer mu_writer_gitlab = {
	.name = "gitlab",
	.head = "[\n",
	.tail = "\n]\n",
	.write = write_issues,
};
