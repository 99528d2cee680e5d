/*
 * Workflow commands of GitHub Actions: an annotation for each group of lost
 * blocks. "%", line ends and, in properties, ":" and "," are escaped as
 * actions/toolkit does (packages/core/src/command.ts).
 */
#include <string.h>

#include "lib/term/safe_text.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/findings.h"
#include "lib/writers/writer.h"

#define TEXT 4096

static void
put_escaped(const struct mu_out *out, const char *text, const char *escaped)
{
	char safe[TEXT];
	const char *c = mu_safe_for_terminal(text, safe, sizeof(safe));

	for (; *c != '\0'; c++) {
		if (strchr(escaped, *c) != NULL)
			mu_put(out, "%%%02X", (unsigned char)*c);
		else
			mu_put(out, "%c", *c);
	}
}

static void
put_property(const struct mu_out *out, const char *text)
{
	put_escaped(out, text, "%:,");
}

static void
put_finding(const struct mu_out *out, const struct mu_finding *finding)
{
	mu_put(out, "::%s ", finding->known ? "notice" : "error");
	if (finding->source.file[0] != '\0') {
		mu_put(out, "file=");
		put_property(out, finding->source.file);
		mu_put(out, ",");
		if (finding->source.line > 0)
			mu_put(out, "line=%u,", finding->source.line);
	}
	mu_put(out, "title=Lost memory::");
	put_escaped(out, finding->what, "%");
	mu_put(out, " (");
	put_escaped(out, finding->key, "%");
	mu_put(out, ")\n");
}

static bool
write_commands(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	const struct UnreachableMemoryInfo *info = &report->info;
	struct mu_findings findings;
	const struct mu_finding *finding;

	mu_findings_open(&findings, report, shown->source_root);
	while ((finding = mu_findings_next(&findings)) != NULL)
		put_finding(out, finding);
	if (info->status == MEMUNREACHABLE_COMPLETE)
		return true;
	mu_put(out, "::%s title=", mu_exit_checked(info) ? "warning" : "error");
	put_property(out, mu_report_name(report));
	mu_put(out,
	    " was not%s checked::", mu_exit_checked(info) ? " completely" : "");
	put_escaped(out, info->reason, "%");
	mu_put(out, "\n");
	return true;
}

const struct mu_writer mu_writer_github = {
	.name = "github",
	.write = write_commands,
};
