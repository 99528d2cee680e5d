/*
 * A summary in Markdown, for $GITHUB_STEP_SUMMARY, merge requests and the like.
 */
#include <string.h>

#include "lib/term/human.h"
#include "lib/term/safe_text.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/findings.h"
#include "lib/writers/writer.h"

#define TEXT 4096
#define ROWS 50

/* As text, not as markup, and within a cell of a table. */
static void
put_text(const struct mu_out *out, const char *text)
{
	char safe[TEXT];
	const char *c = mu_safe_for_terminal(text, safe, sizeof(safe));

	for (; *c != '\0'; c++) {
		if (strchr("\\`*_{}[]<>()#+-.!|~&@", *c) != NULL)
			mu_put(out, "\\");
		mu_put(out, "%c", *c);
	}
}

static void
put_row(const struct mu_out *out, const struct mu_finding *finding)
{
	mu_put(out, "| %s | %zu | ", mu_human_bytes(finding->bytes).text,
	    finding->blocks);
	put_text(out, finding->key);
	mu_put(out, "%s | ", finding->known ? " *(known)*" : "");
	if (finding->source.file[0] != '\0') {
		put_text(out, finding->source.file);
		if (finding->source.line > 0)
			mu_put(out, ":%u", finding->source.line);
	}
	mu_put(out, " |\n");
}

static void
put_table(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	struct mu_findings findings;
	const struct mu_finding *finding;
	size_t rows;

	mu_put(out, "\n| bytes | blocks | what | where |\n|--:|--:|---|---|\n");
	mu_findings_open(&findings, report, shown->source_root);
	for (rows = 0; (finding = mu_findings_next(&findings)) != NULL; rows++)
		if (rows < ROWS)
			put_row(out, finding);
	if (rows > ROWS)
		mu_put(out, "\n%zu more groups are not listed.\n", rows - ROWS);
}

static bool
write_summary(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	const struct UnreachableMemoryInfo *info = &report->info;

	mu_put(out, "### ");
	put_text(out, mu_report_name(report));
	mu_put(out, ": ");
	if (mu_exit_checked(info) && info->num_leaks == 0)
		mu_put(out, "no memory is lost\n");
	else if (mu_exit_checked(info))
		mu_put(out, "%s lost in %zu block%s\n",
		    mu_human_bytes(info->leak_bytes).text, info->num_leaks,
		    info->num_leaks == 1 ? "" : "s");
	else
		mu_put(out, "not checked\n");
	if (info->status != MEMUNREACHABLE_COMPLETE) {
		mu_put(out, "\n%s: ",
		    mu_exit_checked(info) ? "Partial answer" : "Reason");
		put_text(out, info->reason);
		mu_put(out, "\n");
	}
	if (mu_exit_checked(info) && info->num_leaks > 0)
		put_table(out, report, shown);
	mu_put(out, "\n");
	return true;
}

const struct mu_writer mu_writer_markdown = {
	.name = "markdown",
	.write = write_summary,
};
