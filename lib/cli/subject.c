#include "lib/cli/subject.h"

/* In the order in which messages name them. */
static const struct subject {
	enum mu_cli_subject subject;
	const char *words;
} subjects[] = {
	{ MU_CLI_PROCESS, "-p PID" },
	{ MU_CLI_DOCTOR, "--doctor" },
	{ MU_CLI_CORE, "--core FILE" },
	{ MU_CLI_HEAP_DUMP, "--heap-dump FILE" },
	{ MU_CLI_DIFF, "--diff A B" },
	{ MU_CLI_LEAKTRACER, "--leaktracer FILE" },
	{ MU_CLI_SYMBOLIZE, "--symbolize" },
	{ MU_CLI_COMMAND, "-- COMMAND" },
};

#define NUM_SUBJECTS (sizeof(subjects) / sizeof(*subjects))

static bool
is_wanted(const struct mu_cli_options *options, bool doctor,
    enum mu_cli_subject subject)
{
	switch (subject) {
	case MU_CLI_PROCESS:
		return options->pid != 0 && !doctor;
	case MU_CLI_DOCTOR:
		return doctor;
	case MU_CLI_CORE:
		return options->core != NULL;
	case MU_CLI_HEAP_DUMP:
		return options->heap_dump != NULL;
	case MU_CLI_DIFF:
		return options->diff_before != NULL;
	case MU_CLI_LEAKTRACER:
		return options->leaktracer != NULL;
	case MU_CLI_SYMBOLIZE:
		return options->symbolize;
	default:
		return options->command != NULL;
	}
}

enum mu_status
mu_cli_subject_choose(
    struct mu_cli_options *options, bool doctor, struct mu_why *why)
{
	const struct subject *subject, *chosen = NULL;

	for (subject = subjects; subject < subjects + NUM_SUBJECTS; subject++) {
		if (!is_wanted(options, doctor, subject->subject))
			continue;
		if (chosen != NULL)
			return mu_why(why, MU_ERR_ARGUMENT,
			    "%s and %s: one of them at a time", chosen->words,
			    subject->words);
		chosen = subject;
	}
	if (chosen == NULL)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "nothing to look at" MU_CURE "give -p PID, --core FILE or"
		    " -- COMMAND");
	options->subject = chosen->subject;
	if (options->subject == MU_CLI_DIFF && options->diff_after == NULL)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "--diff needs two heap dumps, the earlier one first");
	return MU_OK;
}

void
mu_cli_subject_words(struct mu_text *text, unsigned wanted)
{
	size_t i;

	for (i = 0; i < NUM_SUBJECTS; i++) {
		if (wanted & 1u << subjects[i].subject)
			mu_text_add(text, "%s%s",
			    text->length > 0 ? " or " : "", subjects[i].words);
	}
}
