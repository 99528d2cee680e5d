/*
 * JUnit's XML: a report is a suite, a group of lost blocks a test case that
 * failed; without any there is one that passed.
 */

#include "lib/report/backtrace.h"
#include "lib/term/entities.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/findings.h"
#include "lib/writers/frame_line.h"
#include "lib/writers/writer.h"

struct totals {
	size_t tests, failures, errors;
};

static void
count(const struct mu_report *report, struct totals *totals)
{
	struct mu_findings findings;
	const struct mu_finding *finding;

	*totals = (struct totals) { .tests = 0 };
	mu_findings_open(&findings, report, NULL);
	while ((finding = mu_findings_next(&findings)) != NULL) {
		totals->tests++;
		totals->failures += !finding->known;
	}
	totals->errors = report->info.status != MEMUNREACHABLE_COMPLETE;
	totals->tests += totals->tests == 0 || totals->errors > 0;
}

static void
put_case(
    const struct mu_out *out, const struct mu_report *report, const char *name)
{
	mu_put(out, "  <testcase classname=\"memunreachable.");
	mu_put_xml(out, mu_report_name(report));
	mu_put(out, "\" name=\"");
	mu_put_xml(out, name);
	mu_put(out, "\" time=\"0\"");
}

static void
put_failure(const struct mu_out *out, const struct mu_report *report,
    const struct mu_finding *finding)
{
	struct mu_entities entities = { out, "&<>" };
	const struct mu_out text = { .put = mu_entities_put, .ctx = &entities };
	const struct LeakBacktrace *stack = &finding->example->backtrace;
	size_t i;

	mu_put(out, "    <failure type=\"lost memory\" message=\"");
	mu_put_xml(out, finding->what);
	mu_put(out, "\">");
	mu_put_xml(out, finding->what);
	mu_put(out, "\n");
	if (finding->source.file[0] != '\0') {
		mu_put_xml(out, finding->source.file);
		mu_put(out, ":%u\n", finding->source.line);
	}
	for (i = 0; i < mu_backtrace_count(stack); i++)
		mu_frame_line(
		    &text, i, mu_backtrace_frame(stack, i), &report->names);
	mu_put(out, "</failure>\n");
}

static void
put_finding(const struct mu_out *out, const struct mu_report *report,
    const struct mu_finding *finding)
{
	put_case(out, report, finding->key);
	if (finding->source.file[0] != '\0') {
		mu_put(out, " file=\"");
		mu_put_xml(out, finding->source.file);
		mu_put(out, "\" line=\"%u\"", finding->source.line);
	}
	if (finding->known) {
		mu_put(out, "/>\n");
		return;
	}
	mu_put(out, ">\n");
	put_failure(out, report, finding);
	mu_put(out, "  </testcase>\n");
}

static void
put_end(const struct mu_out *out, const struct mu_report *report)
{
	put_case(out, report, "the check");
	mu_put(out, ">\n    <error type=\"%s\" message=\"",
	    mu_exit_checked(&report->info) ? "partial answer" : "not checked");
	mu_put_xml(out, report->info.reason);
	mu_put(out, "\"/>\n  </testcase>\n");
}

static bool
write_suite(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	struct mu_findings findings;
	const struct mu_finding *finding;
	struct totals totals;
	bool any = false;

	count(report, &totals);
	mu_put(out, "<testsuite name=\"");
	mu_put_xml(out, mu_report_name(report));
	mu_put(out,
	    "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\""
	    " skipped=\"0\" time=\"%zu.%03zu\">\n",
	    totals.tests, totals.failures, totals.errors,
	    (size_t)(report->info.total_ns / 1000000000),
	    (size_t)(report->info.total_ns / 1000000 % 1000));
	mu_findings_open(&findings, report, shown->source_root);
	for (; (finding = mu_findings_next(&findings)) != NULL; any = true)
		put_finding(out, report, finding);
	if (totals.errors > 0)
		put_end(out, report);
	else if (!any) {
		put_case(out, report, "no memory is lost");
		mu_put(out, "/>\n");
	}
	mu_put(out, "</testsuite>\n");
	return true;
}

const struct mu_writer mu_writer_junit = {
	.name = "junit",
	.head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n",
	.tail = "</testsuites>\n",
	.write = write_suite,
};
