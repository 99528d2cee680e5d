/*
 * The main function: parse the options, check the subject, write the report,
 * return an exit status.
 */
#include <bsd/string.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/check/check.h"
#include "lib/check/privsep.h"
#include "lib/cli/frame_filter.h"
#include "lib/cli/options.h"
#include "lib/cli/progress.h"
#include "lib/command/command.h"
#include "lib/compare/compare.h"
#include "lib/doctor/doctor.h"
#include "lib/look/core_out.h"
#include "lib/look/write.h"
#include "lib/since/baseline.h"
#include "lib/since/since.h"
#include "lib/term/fold.h"
#include "lib/term/new_file.h"
#include "lib/term/output.h"
#include "lib/term/safe_text.h"
#include "lib/view/view.h"
#include "lib/watch/watch.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/leaks_text.h"
#include "lib/writers/text_report.h"
#include "mu/sys.h"

#define STACK_NEEDED ((size_t)256 << 10) /* a check uses up to 70 KiB */

/*
 * For a child that misses its deadline; finding names may take as long as the
 * check.
 */
#define GRACE_NS (60 * MU_NS_PER_SEC)

/*
 * Print the reason on standard error and return STATUS. In one write: err(3)
 * makes three, and a COMMAND may write in between.
 */
static int
complain(int status, const struct mu_why *why)
{
	fprintf(stderr, "memunreachable: %s\n", why->text);
	if (status == MU_EXIT_USAGE)
		fputs("Try 'memunreachable --help' for more information.\n",
		    stderr);
	return status;
}

static struct mu_style
choose_style(
    const struct mu_output *output, const struct mu_cli_options *options)
{
	bool terminal = output->path == NULL && isatty(output->fd);

	return mu_style_choose(
	    options->color, terminal, getenv("NO_COLOR"), getenv("TERM"));
}

static size_t
choose_width(const struct mu_output *output)
{
	return output->path == NULL ? mu_fold_width(output->fd) : 0;
}

/* A check of a process or a core, and how to show the result. */
struct question {
	const struct mu_cli_options *options;
	bool filed; /* the report goes to a file */
	struct mu_style style;
	size_t width; /* columns of the terminal; 0: lines are not folded */
};

static bool
write_report(
    const struct question *question, const struct mu_report *answer, FILE *out)
{
	const struct mu_cli_options *options = question->options;
	const struct mu_writer *writer = options->writer;
	struct mu_fold fold = { .to = mu_out_file(out),
		.width = question->width };
	const struct mu_out to =
	    writer->for_people ? mu_fold_out(&fold) : fold.to;
	const struct mu_shown shown = {
		.contents = options->contents,
		.style = question->style,
	};
	bool written;

	/*
	 * The reason why nothing was checked goes to standard error in any
	 * case.
	 */
	if (writer->for_people && !mu_exit_checked(&answer->info) &&
	    !question->filed)
		return true;
	written = writer->write(&to, answer, &shown);
	mu_fold_end(&fold);
	return written;
}

static void
complain_unchecked(const struct mu_report *answer)
{
	const struct mu_out out = mu_out_file(stderr);

	if (mu_exit_checked(&answer->info))
		return;
	fputs("memunreachable: ", stderr);
	mu_text_report_failure(&out, answer);
	fputc('\n', stderr);
}

/* Why, as far as it was not the check: a child may know it only. */
static void
complain_unsaved(const struct mu_cli_options *options)
{
	const struct mu_look_writer *save = options->explain.save;

	if (save != NULL && save->error != 0)
		fprintf(stderr, "memunreachable: %s cannot be written: %s\n",
		    mu_safe_argument(options->save).text,
		    strerror(save->error));
	if (options->core_image != NULL && options->core_image->error != 0)
		fprintf(stderr, "memunreachable: %s cannot be written: %s\n",
		    mu_safe_argument(options->core_out).text,
		    strerror(options->core_image->error));
}

static void
fill_check(struct mu_check *check, const struct mu_cli_options *options)
{
	*check = (struct mu_check) {
		.pid = options->pid,
		.core = options->core,
		.look = options->look,
		.since = options->lost_before,
		.core_out = options->core_image,
		.exe = options->exe,
		.sysroot = options->sysroot,
		.stop = options->stop,
		.timeout_ns = options->timeout_ms * MU_NS_PER_MS,
		.max_pause_ns = options->max_pause_ms * MU_NS_PER_MS,
		.limit = options->limit,
		/* The type of a block is found by them. */
		.contents = true,
		.by = options->by,
		.list = !options->writer->for_people,
		.max_memory = options->max_memory,
		.workers = options->workers,
		.reach = mu_options_reach(&options->library),
		.by_option = options->by_option,
		.confirm = options->library.confirm,
		.explain = options->explain,
		.progress = mu_progress_step,
	};
}

/* --baseline, --write-baseline */
static void
judge(const struct mu_cli_options *options, struct mu_report *answer)
{
	if (options->known != NULL && mu_exit_checked(&answer->info))
		mu_baseline_judge(options->known, answer);
}

/* All reports are there. A file that cannot be written stays empty. */
static void
end_baseline(const struct mu_cli_options *options, bool checked, FILE *out)
{
	if (options->known == NULL || !checked)
		return;
	if (options->writer->for_people)
		mu_baseline_gone(options->known, out);
	if (options->baseline_fd >= 0)
		mu_baseline_write(options->known, options->baseline_fd);
}

static enum mu_status
check_subject(const struct mu_cli_options *options,
    const struct mu_check *wanted, struct mu_report *answer)
{
	switch (options->subject) {
	case MU_CLI_CORE:
		return mu_check_core(wanted, answer);
	case MU_CLI_LOOK:
		return mu_check_look_file(wanted, answer);
	default:
		return mu_check_process(wanted, answer);
	}
}

/* Returns the exit status, or -1 if there is no report. */
static int
answer_question(void *ctx, FILE *out)
{
	const struct question *question = ctx;
	const struct mu_cli_options *options = question->options;
	struct mu_report answer = { .stop = "" };
	struct mu_progress progress;
	struct mu_check wanted;
	int status;

	fill_check(&wanted, options);
	wanted.progress_ctx = &progress;
	mu_progress_begin(&progress, !options->quiet, STDERR_FILENO);
	/* The values equal those of the public statuses: see mu/status.h. */
	answer.info.status = (int)check_subject(options, &wanted, &answer);
	judge(options, &answer);
	status = mu_exit_status(&answer.info, mu_baseline_knows_all(&answer));
	if (!write_report(question, &answer, out))
		status = -1;
	end_baseline(options, mu_exit_checked(&answer.info), out);
	mu_progress_end(&progress);
	complain_unchecked(&answer);
	complain_unsaved(options);
	mu_check_release(&answer);
	return status;
}

/* -p PID, --core FILE */
static int
check(const struct mu_cli_options *options, struct mu_output *output)
{
	struct question question = {
		.options = options,
		.filed = output->path != NULL,
		.style = choose_style(output, options),
		.width = choose_width(output),
	};
	struct mu_why why = { .text = "no memory for the report" };
	int *kept[4] = { NULL };
	size_t num_kept = 0;
	int status;

	if (options->explain.save != NULL)
		kept[num_kept++] = &options->explain.save->fd;
	if (options->known != NULL && options->baseline_fd >= 0)
		kept[num_kept++] = (int *)&options->baseline_fd;
	if (options->core_image != NULL)
		kept[num_kept] = &options->core_image->fd;
	if (options->subject != MU_CLI_PROCESS)
		status = answer_question(&question, output->text);
	else
		status = mu_privsep_run(options->pid,
		    options->timeout_ms * MU_NS_PER_MS * 2 + GRACE_NS,
		    answer_question, &question, output->text, kept, &why);
	if (status < 0 || mu_output_commit(output, &why) != MU_OK)
		status = complain(MU_EXIT_UNCHECKED, &why);
	return status;
}

/* The destination of a command's reports. */
struct reports {
	const struct mu_cli_options *options;
	struct mu_output *output;
	bool failed;
};

/* Print one line with the totals, as in the library's log. */
static void
sum_up(FILE *file, const struct UnreachableMemoryInfo *info)
{
	const struct mu_out out = mu_out_file(file);

	mu_put(&out, "memunreachable: ");
	mu_leaks_text_summary(&out, info);
	mu_put(&out, "\n");
}

static void
show(void *ctx, const struct mu_report *answer)
{
	struct reports *reports = ctx;
	struct question question = {
		.options = reports->options,
		.filed = reports->output->path != NULL,
		.style = choose_style(reports->output, reports->options),
		.width = choose_width(reports->output),
	};

	if (reports->options->writer->for_people &&
	    mu_exit_checked(&answer->info))
		sum_up(reports->output->text, &answer->info);
	if (!write_report(&question, answer, reports->output->text))
		reports->failed = true;
	if (!mu_output_flush(reports->output->text))
		reports->failed = true;
	complain_unchecked(answer);
	complain_unsaved(reports->options);
}

static void
judge_end(void *ctx, struct mu_report *answer)
{
	const struct reports *reports = ctx;

	judge(reports->options, answer);
}

/* The command was not run. In JSON that is an object, too. */
static int
refuse_command(
    struct reports *reports, enum mu_status status, const struct mu_why *why)
{
	struct question question = { .options = reports->options };
	struct mu_report answer = { .stop = "" };
	struct mu_why unwritten = { .text = "" };

	complain(MU_EXIT_UNCHECKED, why);
	if (reports->options->writer->for_people)
		return MU_EXIT_UNCHECKED;
	mu_report_reason(&answer, status, why);
	strlcpy(answer.program, reports->options->command[0],
	    sizeof(answer.program));
	write_report(&question, &answer, reports->output->text);
	if (reports->output->path != NULL &&
	    mu_output_commit(reports->output, &unwritten) != MU_OK)
		complain(MU_EXIT_UNCHECKED, &unwritten);
	return MU_EXIT_UNCHECKED;
}

/*
 * -- COMMAND. Standard output belongs to the command; the report goes
 * elsewhere, and without -o at once.
 */
static int
run(const struct mu_cli_options *options, struct mu_output *output)
{
	struct mu_output beside = { .text = stderr, .fd = STDERR_FILENO };
	struct reports reports = { options, output, false };
	struct mu_command command = {
		.options = options,
		.live = options->output == NULL,
		.judge = judge_end,
		.show = show,
		.ctx = &reports,
	};
	struct mu_why why = { .text = "the report could not be written" };
	struct mu_command_end end;
	enum mu_status status;

	if (command.live)
		reports.output = &beside;
	command.log = reports.output->text;
	fill_check(&command.check, options);
	command.check.progress = NULL;
	status = mu_command_run(&command, &end, &why);
	if (status != MU_OK)
		return refuse_command(&reports, status, &why);
	end_baseline(options, !end.unchecked, reports.output->text);
	if (!command.live && mu_output_commit(output, &why) != MU_OK)
		reports.failed = true;
	if (reports.failed)
		complain(MU_EXIT_UNCHECKED, &why);
	if (reports.failed && end.wait_status == 0)
		return MU_EXIT_UNCHECKED;
	return mu_command_pass_on(options, &end);
}

static int
examine_process(void *ctx, FILE *out)
{
	const struct mu_cli_options *options = ctx;

	return mu_doctor(options->pid, options->max_pause_ms, out);
}

/* --doctor */
static int
examine(const struct mu_cli_options *options, struct mu_output *output)
{
	struct mu_why why = { .text = "" };
	int status;

	if (options->pid == 0)
		status = mu_doctor(0, options->max_pause_ms, output->text);
	else
		status = mu_privsep_run(options->pid, GRACE_NS, examine_process,
		    (void *)options, output->text, NULL, &why);
	if (status < 0 || mu_output_commit(output, &why) != MU_OK)
		status = complain(MU_EXIT_UNCHECKED, &why);
	return status;
}

/* --diff of saved looks and of reports in JSON */
static int
compare(const struct mu_cli_options *options, struct mu_output *output)
{
	const char *const paths[] = { options->diff_before,
		options->diff_after };
	struct mu_style style = choose_style(output, options);
	struct mu_why why = { .text = "" };
	struct mu_check wanted;
	enum mu_status status;

	fill_check(&wanted, options);
	wanted.progress = NULL;
	if (options->html != NULL || options->symbols != NULL)
		status = mu_why(&why, MU_ERR_ARGUMENT,
		    "--html and --symbols are for heap dumps");
	else
		status = mu_compare(
		    paths, options->limit, &wanted, &style, output->text, &why);
	if (!mu_status_usable(status))
		return complain(MU_EXIT_UNCHECKED, &why);
	if (status == MU_PARTIAL)
		complain(MU_EXIT_PARTIAL, &why);
	if (mu_output_commit(output, &why) != MU_OK)
		return complain(MU_EXIT_UNCHECKED, &why);
	return status == MU_OK ? MU_EXIT_CLEAN : MU_EXIT_PARTIAL;
}

/* --heap-dump, --diff, --leaktracer: files that recorders wrote */
static int
view(const struct mu_cli_options *options, struct mu_output *output)
{
	struct mu_style style = choose_style(output, options);
	struct mu_why why = { .text = "" };
	int status = (int)mu_view(options, &style, output->text, &why);

	if (status == MU_EXIT_UNCHECKED)
		return complain(status, &why);
	if (status == MU_EXIT_PARTIAL)
		complain(status, &why);
	if (mu_output_commit(output, &why) != MU_OK)
		status = complain(MU_EXIT_UNCHECKED, &why);
	return status;
}

/* --symbolize: written as it arrives, without the output buffer. */
static int
filter(const struct mu_cli_options *options)
{
	struct mu_why why = { .text = "" };

	if (mu_frame_filter(options, stdout, &why) == MU_OK)
		return MU_EXIT_CLEAN;
	return complain(MU_EXIT_UNCHECKED, &why);
}

/* watch */
static int
watch(const struct mu_cli_options *options)
{
	struct mu_check wanted;

	fill_check(&wanted, options);
	return mu_watch(options, &wanted);
}

static int
look(const struct mu_cli_options *options)
{
	struct mu_output output;
	struct mu_why why = { .text = "" };
	int status;

	if (mu_output_open(&output, options->output, &why) != MU_OK)
		return complain(MU_EXIT_UNCHECKED, &why);
	switch (options->subject) {
	case MU_CLI_COMMAND:
		status = run(options, &output);
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
		status = check(options, &output);
		break;
	}
	mu_output_close(&output);
	return status;
}

/* True if the heap was checked, and the report is there. */
static bool
is_checked(int status)
{
	return status == MU_EXIT_CLEAN || status == MU_EXIT_LEAKS ||
	    status == MU_EXIT_PARTIAL;
}

/*
 * Put FILE in its place. What writes it, perhaps in a child, leaves it empty
 * after a failure. Returns the status of the command, which was STATUS.
 */
static int
put_new_file(
    struct mu_new_file *file, const char *path, mode_t mode, int status)
{
	struct mu_why why = { .text = "" };
	struct stat written;

	if (file->fd < 0)
		return status;
	if (fstat(file->fd, &written) == 0 && written.st_size > 0)
		return mu_new_file_commit(file, mode, &why) == MU_OK
		    ? status
		    : complain(MU_EXIT_UNCHECKED, &why);
	if (!is_checked(status))
		return status;
	mu_why(&why, MU_ERR_RESOURCES, "%s was not written",
	    mu_safe_argument(path).text);
	return complain(MU_EXIT_UNCHECKED, &why);
}

/* --save */
static int
look_and_save(struct mu_cli_options *options)
{
	struct mu_look_writer writer = { .contents = options->contents };
	struct mu_why why = { .text = "" };
	struct mu_new_file file;
	int status;

	if (options->save == NULL)
		return look(options);
	if (mu_new_file_open(&file, options->save, &why) != MU_OK)
		return complain(MU_EXIT_UNCHECKED, &why);
	writer.fd = file.fd;
	mu_kept_names_open(&writer.names, writer.contents);
	options->explain.save = &writer;
	status = put_new_file(&file, options->save, 0600, look(options));
	options->explain.save = NULL;
	mu_look_writer_close(&writer);
	mu_new_file_close(&file);
	return status;
}

/* A name that ends with .zst is that of a compressed file. */
static bool
is_packed(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot != NULL && strcmp(dot, ".zst") == 0;
}

/* --core-out */
static int
look_and_dump(struct mu_cli_options *options)
{
	struct mu_core_out core = { .fd = -1 };
	struct mu_why why = { .text = "" };
	struct mu_new_file file;
	int status;

	if (options->core_out == NULL)
		return look_and_save(options);
	if (mu_new_file_open(&file, options->core_out, &why) != MU_OK)
		return complain(MU_EXIT_UNCHECKED, &why);
	core.fd = file.fd;
	core.packed = is_packed(options->core_out);
	options->core_image = &core;
	status = put_new_file(
	    &file, options->core_out, 0600, look_and_save(options));
	options->core_image = NULL;
	mu_new_file_close(&file);
	return status;
}

/* --baseline, --write-baseline: files that a child may not reach. */
static int
look_at_known(struct mu_cli_options *options)
{
	struct mu_new_file file = { .fd = -1 };
	struct mu_baseline baseline;
	struct mu_why why = { .text = "" };
	int status = MU_EXIT_UNCHECKED;

	if (options->baseline == NULL && options->write_baseline == NULL)
		return look_and_dump(options);
	options->known = &baseline;
	if (mu_baseline_open(&baseline, options->baseline, &why) != MU_OK ||
	    (options->write_baseline != NULL &&
		mu_new_file_open(&file, options->write_baseline, &why) !=
		    MU_OK)) {
		complain(MU_EXIT_UNCHECKED, &why);
	} else {
		options->baseline_fd = file.fd;
		status = look_and_dump(options);
		status =
		    put_new_file(&file, options->write_baseline, 0644, status);
	}
	mu_new_file_close(&file);
	options->known = NULL;
	mu_baseline_close(&baseline);
	return status;
}

/* --since: with our rights; a child may not be able to read the file. */
static int
look_since(struct mu_cli_options *options)
{
	struct mu_why why = { .text = "" };
	struct mu_since since;
	int status;

	if (mu_since_open(&since, options->since,
		options->max_memory != 0 ? options->max_memory : SIZE_MAX / 2,
		&why) != MU_OK) {
		status = complain(MU_EXIT_UNCHECKED, &why);
	} else {
		options->lost_before = &since;
		status = look_at_known(options);
	}
	options->lost_before = NULL;
	mu_since_close(&since);
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

int
main(int argc, char **argv)
{
	static struct mu_cli_options options;
	char buffer[4096] = "";
	struct mu_text warnings = { buffer, sizeof(buffer), 0 };
	struct mu_why why = { .text = "" };

	if (mu_cli_options_parse(&options,
		secure_getenv("MEMUNREACHABLE_OPTIONS"), &warnings, argc, argv,
		&why) != MU_OK)
		return complain(MU_EXIT_USAGE, &why);
	/* In a COMMAND the library logs this itself. */
	if (options.subject == MU_CLI_PROCESS || options.subject == MU_CLI_CORE)
		fputs(buffer, stderr);
	/*
	 * A write beyond RLIMIT_FSIZE should fail as on a full disk. A COMMAND
	 * would inherit this; mu_command_run() blocks signals.
	 */
	if (options.subject != MU_CLI_COMMAND)
		signal(SIGXFSZ, SIG_IGN);
	if (judge_stack(&why) != MU_OK)
		return complain(MU_EXIT_UNCHECKED, &why);
	switch (options.subject) {
	case MU_CLI_HELP:
		mu_cli_help(stdout);
		return mu_output_flush(stdout) ? MU_EXIT_CLEAN
					       : MU_EXIT_UNCHECKED;
	case MU_CLI_VERSION:
		mu_cli_version(stdout);
		return mu_output_flush(stdout) ? MU_EXIT_CLEAN
					       : MU_EXIT_UNCHECKED;
	case MU_CLI_SYMBOLIZE:
		return filter(&options);
	case MU_CLI_WATCH:
		return watch(&options);
	default:
		return options.since != NULL ? look_since(&options)
					     : look_at_known(&options);
	}
}
