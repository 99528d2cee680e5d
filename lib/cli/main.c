/*
 * The main function: parse the options, do what they ask for, return an exit
 * status.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/check/privsep.h"
#include "lib/cli/answer.h"
#include "lib/cli/files.h"
#include "lib/cli/frame_filter.h"
#include "lib/compare/compare.h"
#include "lib/doctor/doctor.h"
#include "lib/state/variables.h"
#include "lib/term/safe_text.h"
#include "lib/view/view.h"
#include "lib/watch/subject.h"
#include "lib/watch/watch.h"
#include "lib/writers/exit_status.h"

#define STACK_NEEDED ((size_t)256 << 10) /* a check uses up to 70 KiB */

static int
examine_process(void *ctx, FILE *out)
{
	const struct mu_cli_options *options = ctx;

	return mu_doctor(options->pid, options->max_pause_ms, out);
}

#define EXAMINE_NS (10 * MU_NS_PER_SEC)

/* --doctor */
static int
examine(const struct mu_cli_options *options, struct mu_output *output)
{
	struct mu_why why = { .text = "" };
	int status;

	if (options->pid == 0)
		status = mu_doctor(0, options->max_pause_ms, output->text);
	else
		status = mu_privsep_run(options->pid, EXAMINE_NS,
		    examine_process, (void *)options, output->text, NULL, &why);
	if (status < 0 || mu_output_commit(output, &why) != MU_OK)
		status = mu_cli_complain(MU_EXIT_UNCHECKED, &why);
	return status;
}

/* --diff of saved looks and of reports in JSON */
static int
compare(const struct mu_cli_options *options, struct mu_output *output)
{
	const char *const paths[] = { options->diff_before,
		options->diff_after };
	struct mu_style style = mu_cli_style(output, options);
	struct mu_why why = { .text = "" };
	struct mu_check wanted;
	enum mu_status status;

	mu_cli_fill_check(&wanted, options);
	wanted.progress = NULL;
	if (options->html != NULL || options->symbols != NULL)
		status = mu_why(&why, MU_ERR_ARGUMENT,
		    "--html and --symbols are for heap dumps");
	else
		status = mu_compare(
		    paths, options->limit, &wanted, &style, output->text, &why);
	if (!mu_status_usable(status))
		return mu_cli_complain(MU_EXIT_UNCHECKED, &why);
	if (status == MU_PARTIAL)
		mu_cli_complain(MU_EXIT_PARTIAL, &why);
	if (mu_output_commit(output, &why) != MU_OK)
		return mu_cli_complain(MU_EXIT_UNCHECKED, &why);
	return status == MU_OK ? MU_EXIT_CLEAN : MU_EXIT_PARTIAL;
}

/* --heap-dump, --diff, --leaktracer: files that recorders wrote */
static int
view(const struct mu_cli_options *options, struct mu_output *output)
{
	struct mu_style style = mu_cli_style(output, options);
	struct mu_why why = { .text = "" };
	int status = (int)mu_view(options, &style, output->text, &why);

	if (status == MU_EXIT_UNCHECKED)
		return mu_cli_complain(status, &why);
	if (status == MU_EXIT_PARTIAL)
		mu_cli_complain(status, &why);
	if (mu_output_commit(output, &why) != MU_OK)
		status = mu_cli_complain(MU_EXIT_UNCHECKED, &why);
	return status;
}

/* --symbolize: written as it arrives, without the output buffer. */
static int
filter(const struct mu_cli_options *options)
{
	struct mu_why why = { .text = "" };

	if (mu_frame_filter(options, stdout, &why) == MU_OK)
		return MU_EXIT_CLEAN;
	return mu_cli_complain(MU_EXIT_UNCHECKED, &why);
}

/* watch */
static int
watch(const struct mu_cli_options *options)
{
	struct mu_check wanted;

	mu_cli_fill_check(&wanted, options);
	return mu_watch(options, &wanted);
}

static int
look(const struct mu_cli_options *options)
{
	struct mu_output output;
	struct mu_why why = { .text = "" };
	int status;

	if (mu_output_open(&output, options->output, &why) != MU_OK)
		return mu_cli_complain(MU_EXIT_UNCHECKED, &why);
	switch (options->subject) {
	case MU_CLI_COMMAND:
		status = mu_cli_check_command(options, &output);
		break;
	case MU_CLI_DOCTOR:
		status = examine(options, &output);
		break;
	case MU_CLI_DIFF:
		status = mu_past_is(options->diff_before) &&
			mu_past_is(options->diff_after)
		    ? compare(options, &output)
		    : view(options, &output);
		break;
	case MU_CLI_HEAP_DUMP:
	case MU_CLI_LEAKTRACER:
		status = view(options, &output);
		break;
	default:
		status = mu_cli_check(options, &output);
		break;
	}
	mu_output_close(&output);
	return status;
}

static int
look_with_files(struct mu_cli_options *options)
{
	struct mu_cli_files files;
	struct mu_why why = { .text = "" };
	int status;

	if (mu_cli_files_open(&files, options, &why) != MU_OK)
		status = mu_cli_complain(MU_EXIT_UNCHECKED, &why);
	else
		status = mu_cli_files_commit(&files, options, look(options));
	mu_cli_files_close(&files, options);
	return status;
}

/*
 * A process that exceeds its stack limit is killed by SIGSEGV without a
 * message.
 */
static enum mu_status
judge_stack(struct mu_why *why)
{
	struct rlimit stack;

	if (getrlimit(RLIMIT_STACK, &stack) != 0 ||
	    stack.rlim_cur >= STACK_NEEDED)
		return MU_OK;
	return mu_why(why, MU_ERR_NO_MEMORY,
	    "the stack may have %zu KiB here, and %zu are needed" MU_CURE
	    "raise "
	    "RLIMIT_STACK (ulimit -s)",
	    (size_t)stack.rlim_cur / 1024, STACK_NEEDED / 1024);
}

/* -p NAME */
static enum mu_status
find_process(struct mu_cli_options *options, struct mu_why *why)
{
	const struct mu_watch_search *search = &options->watch.search;
	struct mu_watch_subject subject;
	bool found;

	if (search->name == NULL || options->watch.wanted)
		return MU_OK;
	found = mu_watch_subject_find(&subject, search, 0);
	options->pid = subject.pid;
	mu_watch_subject_close(&subject);
	if (!found)
		return mu_why(why, MU_ERR_TARGET_GONE,
		    "no process has the name %s",
		    mu_safe_argument(search->name).text);
	if (subject.same_name == 1)
		return MU_OK;
	return mu_why(why, MU_ERR_ARGUMENT,
	    "%zu processes have the name %s" MU_CURE
	    "give the number of one, such as -p %d, the oldest",
	    subject.same_name, mu_safe_argument(search->name).text,
	    subject.pid);
}

/* --help, --version */
static int
end_words(struct mu_why *why)
{
	if (mu_output_flush(stdout))
		return MU_EXIT_CLEAN;
	mu_why(why, MU_ERR_ARGUMENT, "cannot write standard output: %s",
	    strerror(errno));
	return mu_cli_complain(MU_EXIT_UNCHECKED, why);
}

int
main(int argc, char **argv)
{
	static struct mu_cli_options options;
	char buffer[4096] = "";
	struct mu_text warnings = { buffer, sizeof(buffer), 0 };
	struct mu_why why = { .text = "" };

	mu_variables_warn(environ, &warnings);
	if (mu_cli_options_parse(&options,
		secure_getenv("MEMUNREACHABLE_OPTIONS"), &warnings, argc, argv,
		&why) != MU_OK)
		return mu_cli_complain(MU_EXIT_USAGE, &why);
	/* In a COMMAND the library logs this itself. */
	if (options.subject == MU_CLI_PROCESS || options.subject == MU_CLI_CORE)
		fputs(buffer, stderr);
	/*
	 * A write beyond RLIMIT_FSIZE should fail as on a full disk. A COMMAND
	 * would inherit this; mu_command_run() blocks signals.
	 */
	if (options.subject != MU_CLI_COMMAND)
		signal(SIGXFSZ, SIG_IGN);
	if (judge_stack(&why) != MU_OK || find_process(&options, &why) != MU_OK)
		return mu_cli_complain(MU_EXIT_UNCHECKED, &why);
	switch (options.subject) {
	case MU_CLI_HELP:
		mu_cli_help(stdout, options.help_all);
		return end_words(&why);
	case MU_CLI_VERSION:
		mu_cli_version(stdout);
		return end_words(&why);
	case MU_CLI_SYMBOLIZE:
		return filter(&options);
	case MU_CLI_WATCH:
		return watch(&options);
	default:
		return look_with_files(&options);
	}
}
