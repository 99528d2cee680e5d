#include "lib/writers/report.h"

#include <string.h>

#include "lib/writers/command_cure.h"

void
mu_report_reason(
    struct mu_report *report, enum mu_status status, const struct mu_why *why)
{
	_Static_assert(sizeof(report->info.reason) == sizeof(why->text),
	    "a reason is as long as its words");

	report->info.status = (int)status;
	memcpy(report->info.reason, why->text, sizeof(why->text));
	report->cure = why->cure;
}

/* The index may come from the program that was checked: verify it. */
const char *
mu_report_remedy(const struct mu_report *report)
{
	const char *reason = report->info.reason;

	if (report->cure == 0)
		return mu_command_cure(report->info.status);
	return report->cure < strnlen(reason, sizeof(report->info.reason))
	    ? reason + report->cure
	    : "";
}
