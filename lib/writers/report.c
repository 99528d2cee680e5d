#include "lib/writers/report.h"

#include <string.h>

void
mu_report_reason(
    struct mu_report *report, enum mu_status status, const struct mu_why *why)
{
	_Static_assert(sizeof(report->info.reason) == sizeof(why->words),
	    "a reason is as long as its words");

	report->info.status = (int)status;
	memcpy(report->info.reason, why->words, sizeof(why->words));
	report->cure = why->cure;
}
