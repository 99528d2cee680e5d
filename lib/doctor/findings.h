/* The findings of --doctor, as text for the user. */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include <stddef.h>

#include "mu/status.h"

enum mu_grade {
	MU_FINE,
	MU_WARNING, /* an answer, but limited or at a price */
	MU_BLOCKER, /* no answer */
};

struct mu_finding {
	enum mu_grade grade;
	const char *subject; /* one word, constant */
	struct mu_why why;   /* "cause; cure" */
};

#define MU_FINDINGS_MAX 32 /* more than are possible */

struct mu_findings {
	struct mu_finding all[MU_FINDINGS_MAX];
	size_t count;
};

struct mu_doctor_machine;
struct mu_doctor_target;

/* Append a finding. */
void mu_finding_add(struct mu_findings *findings, enum mu_grade grade,
    const char *subject, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Pure: depends only on the facts. */
void mu_doctor_check_machine(
    const struct mu_doctor_machine *machine, struct mu_findings *findings);
void mu_doctor_check_target(const struct mu_doctor_machine *machine,
    const struct mu_doctor_target *target, struct mu_findings *findings);
void mu_doctor_check_files(const struct mu_doctor_machine *machine,
    const struct mu_doctor_target *target, struct mu_findings *findings);

#endif
