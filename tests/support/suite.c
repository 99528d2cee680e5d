/*
 * The main() of test programs.
 */
#include "tests/support/suite.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#define TIMEOUT 240 /* of a test that hangs, s */

static struct suite_line *first;
static const struct suite none;

/*
 * Files in the order in which they are linked, lines in theirs: constructors
 * have no certain order.
 */
void
suite_add(struct suite_line *line)
{
	struct suite_line **place = &first;
	bool found = false, same;

	for (; *place != NULL; place = &(*place)->next) {
		same = strcmp((*place)->file, line->file) == 0;
		if (found && !same)
			break;
		if (same && (*place)->line > line->line)
			break;
		found |= same;
	}
	line->next = *place;
	*place = line;
}

/* Tests with equal surroundings: of LINE and those behind it. */
static TCase *
add_case(
    Suite *suite, const struct suite *options, const struct suite_line *line)
{
	const char *slash = strrchr(line->file, '/');
	TCase *tcase = tcase_create(slash != NULL ? slash + 1 : line->file);
	bool whole = line->suite != NULL || line->test != NULL;

	tcase_set_timeout(
	    tcase, options->timeout != 0 ? options->timeout : TIMEOUT);
	tcase_add_checked_fixture(tcase, whole ? options->setup : line->setup,
	    whole ? options->teardown : line->teardown);
	suite_add_tcase(suite, tcase);
	return tcase;
}

static Suite *
make_suite(void)
{
	Suite *suite = suite_create(program_invocation_short_name);
	const struct suite *options = &none;
	const char *file = "";
	struct suite_line *line;
	TCase *tcase = NULL;

	for (line = first; line != NULL; line = line->next) {
		if (line->test == NULL || strcmp(file, line->file) != 0) {
			if (strcmp(file, line->file) != 0)
				options =
				    line->suite != NULL ? line->suite : &none;
			tcase = add_case(suite, options, line);
			file = line->file;
		}
		if (line->test != NULL)
			tcase_add_loop_test(
			    tcase, line->test, line->from, line->to);
	}
	return suite;
}

bool
suite_is_filtered(void)
{
	return prctl(PR_GET_SECCOMP) != 0;
}

size_t
suite_rounds(const char *environment, size_t usual)
{
	const char *value = getenv(environment);

	return value != NULL ? strtoul(value, NULL, 10) : usual;
}

int
main(int argc, char **argv)
{
	const struct suite_line *line;
	const char *unfiltered = NULL;
	bool has_tests = false;
	int status = -1;

	for (line = first; line != NULL && status < 0; line = line->next)
		if (line->suite != NULL && line->suite->play != NULL)
			status = line->suite->play(argc, argv);
	if (status >= 0)
		return status;
	for (line = first; line != NULL; line = line->next) {
		if (line->suite != NULL && line->suite->begin != NULL)
			line->suite->begin();
		has_tests |= line->test != NULL;
		if (line->suite != NULL && line->suite->unfiltered != NULL)
			unfiltered = line->suite->unfiltered;
	}
	if (unfiltered != NULL && suite_is_filtered()) {
		printf("SKIPPED: %s: under a seccomp filter there is not %s\n",
		    program_invocation_short_name, unfiltered);
		return 77;
	}
	if (!has_tests) {
		printf("SKIPPED: no test for this CPU\n");
		return 77;
	}
	return suite_run(make_suite());
}
