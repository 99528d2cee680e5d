#include "lib/doctor/findings.h"

#include <stdarg.h>

#include "mu/text.h"

void
mu_finding_add(struct mu_findings *findings, enum mu_grade grade,
    const char *subject, const char *format, ...)
{
	struct mu_finding *finding;
	va_list args;

	if (findings->count == MU_FINDINGS_MAX)
		return;
	finding = &findings->all[findings->count++];
	finding->grade = grade;
	finding->subject = subject;
	va_start(args, format);
	mu_text_vformat(
	    finding->why.text, sizeof(finding->why.text), format, args);
	va_end(args);
}
