/* --doctor: read facts, judge them, print the findings. See doctor.h. */
#include "lib/doctor/doctor.h"

#include "lib/doctor/facts.h"
#include "lib/doctor/findings.h"
#include "lib/term/safe_text.h"

static const char *const grades[] = {
	[MU_FINE] = "ok",
	[MU_WARNING] = "warning",
	[MU_BLOCKER] = "blocker",
};

/* Print the findings of GRADE. Returns their number. */
static size_t
print_grade(const struct mu_findings *findings, enum mu_grade grade, FILE *out)
{
	const struct mu_finding *finding = findings->all;
	char words[4 * sizeof(finding->why.text)];
	size_t count = 0;

	for (; finding < findings->all + findings->count; finding++) {
		if (finding->grade != grade)
			continue;
		/*
		 * Names come from the subject: an escaped byte takes four
		 * characters.
		 */
		fprintf(out, "%-8s %s: %s\n", grades[grade], finding->subject,
		    mu_safe_for_terminal(
			finding->why.text, words, sizeof(words)));
		count++;
	}
	return count;
}

int
mu_doctor(pid_t pid, uint64_t max_pause_ms, FILE *out)
{
	struct mu_findings findings = { .count = 0 };
	struct mu_doctor_machine machine;
	struct mu_doctor_target target;
	size_t blockers, warnings;

	mu_doctor_machine_read(&machine);
	mu_doctor_check_machine(&machine, &findings);
	if (pid != 0) {
		mu_doctor_target_read(&target, pid);
		target.max_pause_ns = max_pause_ms * 1000 * 1000;
		mu_doctor_check_target(&machine, &target, &findings);
	}
	blockers = print_grade(&findings, MU_BLOCKER, out);
	warnings = print_grade(&findings, MU_WARNING, out);
	print_grade(&findings, MU_FINE, out);
	if (blockers > 0)
		fprintf(out, "A check is not possible: %zu blocker%s.\n",
		    blockers, blockers == 1 ? "" : "s");
	else
		fprintf(out, "Nothing stops a check%s.\n",
		    warnings > 0 ? ", but see the warnings" : "");
	return blockers > 0 ? MU_DOCTOR_STOPPED : 0;
}
