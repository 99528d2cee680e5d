#include "lib/cli/answer.h"

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/check/privsep.h"
#include "lib/cli/files.h"
#include "lib/cli/progress.h"
#include "lib/command/command.h"
#include "lib/command/configured.h"
#include "lib/term/fold.h"
#include "lib/term/safe_text.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/leaks_text.h"
#include "lib/writers/text_report.h"

struct mu_style
mu_cli_style(
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
	struct mu_document *document;
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
		.source_root = options->source_root,
		.version = mu_configured_version,
	};
	bool written;

	mu_cli_reports_put(options->reports, answer, &shown);

	/*
	 * The reason why nothing was checked goes to standard error in any
	 * case.
	 */
	if (writer->for_people && !mu_exit_checked(&answer->info) &&
	    !question->filed)
		return true;
	written = mu_document_put(question->document, &to, answer, &shown);
	mu_fold_end(&fold);
	return written;
}

/* No report follows. Returns false if one could not be written. */
static bool
end_reports(const struct question *question, FILE *out)
{
	const struct mu_out to = mu_out_file(out);

	mu_document_end(question->document, &to);
	return mu_cli_reports_end(question->options->reports);
}

/* Of several processes it is said which one. */
static void
complain_unchecked(
    const struct question *question, const struct mu_report *answer)
{
	const struct mu_out out = mu_out_file(stderr);

	if (mu_exit_checked(&answer->info))
		return;
	fputs("memunreachable: ", stderr);
	mu_text_report_failure(&out, answer);
	if (question->options->children && answer->program[0] != '\0')
		fprintf(stderr, " (process %d, %s)", (int)answer->pid,
		    mu_safe_argument(answer->program).text);
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

void
mu_cli_fill_check(struct mu_check *check, const struct mu_cli_options *options)
{
	*check = (struct mu_check) {
		.pid = options->pid,
		.core = options->core,
		.look = options->look,
		.since = options->lost_before,
		.core_out = options->core_image,
		.exe = options->exe,
		.sysroot = options->sysroot,
		.debug = options->symbols,
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

/* A file of groups stays empty. */
static void
complain_unwritten(const char *path, int error)
{
	fprintf(stderr, "memunreachable: %s cannot be written: %s\n",
	    mu_safe_argument(path).text,
	    error == E2BIG ? "there are more groups than --limit says"
			   : strerror(error));
}

/* --write-suppressions: what this report adds to it. */
static void
add_suppressions(const struct mu_cli_options *options, struct mu_report *answer)
{
	struct mu_suppressions *suppressed = options->suppressed;
	int fd = fcntl(options->suppressions_fd, F_DUPFD_CLOEXEC, 3);

	suppressed->made = fd < 0 ? NULL : fdopen(fd, "w");
	mu_suppressions_judge(suppressed, answer);
	if (suppressed->error == 0 &&
	    (suppressed->made == NULL || !mu_output_flush(suppressed->made)))
		suppressed->error = errno;
	if (suppressed->made != NULL)
		fclose(suppressed->made);
	else if (fd >= 0)
		close(fd);
	suppressed->made = NULL;
	if (suppressed->error == 0)
		return;
	(void)!ftruncate(options->suppressions_fd, 0);
	complain_unwritten(options->write_suppressions, suppressed->error);
}

/* --suppressions and the like, behind --baseline. */
static void
suppress(const struct mu_cli_options *options, struct mu_report *answer)
{
	if (options->suppressions_fd >= 0)
		add_suppressions(options, answer);
	else
		mu_suppressions_judge(options->suppressed, answer);
}

/* --baseline, --write-baseline */
static void
judge(const struct mu_cli_options *options, struct mu_report *answer)
{
	if (options->known != NULL && mu_exit_checked(&answer->info))
		mu_baseline_judge(options->known, answer);
	if (options->suppressed != NULL && mu_exit_checked(&answer->info))
		suppress(options, answer);
}

/* All reports are there. */
static void
end_baseline(const struct mu_cli_options *options, bool checked, FILE *out)
{
	int error;

	if (options->suppressed != NULL && checked &&
	    options->writer->for_people)
		mu_suppressions_sum(options->suppressed, out);
	if (options->known == NULL || !checked)
		return;
	if (options->writer->for_people)
		mu_baseline_gone(options->known, out);
	if (options->baseline_fd < 0)
		return;
	error = mu_baseline_write(options->known, options->baseline_fd);
	if (error != 0)
		complain_unwritten(options->write_baseline, error);
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

	mu_cli_fill_check(&wanted, options);
	wanted.progress_ctx = &progress;
	mu_progress_begin(&progress, !options->quiet, STDERR_FILENO);
	/* The values equal those of the public statuses: see mu/status.h. */
	answer.info.status = (int)check_subject(options, &wanted, &answer);
	judge(options, &answer);
	status = mu_exit_status(&answer.info, mu_baseline_knows_all(&answer));
	if (!write_report(question, &answer, out))
		status = -1;
	if (!end_reports(question, out))
		status = -1;
	end_baseline(options, mu_exit_checked(&answer.info), out);
	mu_progress_end(&progress);
	complain_unchecked(question, &answer);
	complain_unsaved(options);
	mu_check_release(&answer);
	return status;
}

int
mu_cli_check(const struct mu_cli_options *options, struct mu_output *output)
{
	struct mu_document document = { .writer = options->writer };
	struct question question = {
		.options = options,
		.filed = output->path != NULL,
		.style = mu_cli_style(output, options),
		.width = choose_width(output),
		.document = &document,
	};
	struct mu_why why = { .text = "a report could not be written" };
	int *kept[5 + MU_CLI_REPORTS] = { NULL };
	size_t i, num_kept = 0;
	int status;

	if (options->explain.save != NULL)
		kept[num_kept++] = &options->explain.save->fd;
	if (options->known != NULL && options->baseline_fd >= 0)
		kept[num_kept++] = (int *)&options->baseline_fd;
	if (options->suppressed != NULL && options->suppressions_fd >= 0)
		kept[num_kept++] = (int *)&options->suppressions_fd;
	if (options->core_image != NULL)
		kept[num_kept++] = &options->core_image->fd;
	for (i = 0; i < options->reports->count; i++)
		kept[num_kept++] = &options->reports->items[i].fd;
	if (options->subject == MU_CLI_LOOK)
		status = answer_question(&question, output->text);
	else
		status = mu_privsep_run(
		    options->subject == MU_CLI_CORE ? 0 : options->pid,
		    options->timeout_ms * MU_NS_PER_MS, answer_question,
		    &question, output->text, kept, &why);
	if (status < 0 || mu_output_commit(output, &why) != MU_OK)
		status = mu_cli_complain(MU_EXIT_UNCHECKED, &why);
	return status;
}

/* The destination of a command's reports. */
struct reports {
	const struct mu_cli_options *options;
	struct mu_output *output;
	struct mu_document document;
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
		.style = mu_cli_style(reports->output, reports->options),
		.width = choose_width(reports->output),
		.document = &reports->document,
	};

	if (reports->options->writer->for_people &&
	    mu_exit_checked(&answer->info))
		sum_up(reports->output->text, &answer->info);
	if (!write_report(&question, answer, reports->output->text))
		reports->failed = true;
	if (!mu_output_flush(reports->output->text))
		reports->failed = true;
	complain_unchecked(&question, answer);
	complain_unsaved(reports->options);
}

static void
judge_end(void *ctx, struct mu_report *answer)
{
	const struct reports *reports = ctx;

	judge(reports->options, answer);
}

/* The command was not run. In formats for programs that is a report, too. */
static int
refuse_command(
    struct reports *reports, enum mu_status status, const struct mu_why *why)
{
	struct question question = {
		.options = reports->options,
		.document = &reports->document,
	};
	struct mu_report answer = { .stop = "" };
	struct mu_why unwritten = { .text = "" };

	mu_cli_complain(MU_EXIT_UNCHECKED, why);
	mu_report_reason(&answer, status, why);
	strlcpy(answer.program, reports->options->command[0],
	    sizeof(answer.program));
	write_report(&question, &answer, reports->output->text);
	end_reports(&question, reports->output->text);
	if (!reports->options->writer->for_people &&
	    reports->output->path != NULL &&
	    mu_output_commit(reports->output, &unwritten) != MU_OK)
		mu_cli_complain(MU_EXIT_UNCHECKED, &unwritten);
	return MU_EXIT_UNCHECKED;
}

/*
 * Standard output belongs to the command; the report goes elsewhere, and
 * without -o at once.
 */
int
mu_cli_check_command(
    const struct mu_cli_options *options, struct mu_output *output)
{
	struct mu_output beside = { .text = stderr, .fd = STDERR_FILENO };
	struct reports reports = { options, output,
		{ .writer = options->writer }, false };
	const struct question question = {
		.options = options,
		.document = &reports.document,
	};
	struct mu_command command = {
		.options = options,
		.live = options->output == NULL,
		.judge = judge_end,
		.show = show,
		.ctx = &reports,
	};
	struct mu_why why = { .text = "a report could not be written" };
	struct mu_command_end end;
	enum mu_status status;

	if (command.live)
		reports.output = &beside;
	command.log = reports.output->text;
	mu_cli_fill_check(&command.check, options);
	command.check.progress = NULL;
	status = mu_command_run(&command, &end, &why);
	if (status != MU_OK)
		return refuse_command(&reports, status, &why);
	reports.failed |= !end_reports(&question, reports.output->text);
	end_baseline(options, !end.unchecked, reports.output->text);
	if (!command.live && mu_output_commit(output, &why) != MU_OK)
		reports.failed = true;
	if (reports.failed)
		mu_cli_complain(MU_EXIT_UNCHECKED, &why);
	if (reports.failed && end.wait_status == 0)
		return MU_EXIT_UNCHECKED;
	return mu_command_pass_on(options, &end);
}
