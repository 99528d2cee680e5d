#include "lib/cli/files.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/term/safe_text.h"
#include "lib/writers/exit_status.h"

/* In one write: err(3) makes three, and a COMMAND may write in between. */
int
mu_cli_complain(int status, const struct mu_why *why)
{
	fprintf(stderr, "memunreachable: %s\n", why->text);
	if (status == MU_EXIT_USAGE)
		fputs("Try 'memunreachable --help' for more information.\n",
		    stderr);
	return status;
}

/* A name that ends with .zst is that of a compressed file. */
static bool
is_packed(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot != NULL && strcmp(dot, ".zst") == 0;
}

static enum mu_status
open_since(struct mu_cli_files *files, struct mu_cli_options *options,
    struct mu_why *why)
{
	if (options->since == NULL)
		return MU_OK;
	options->lost_before = &files->since;
	return mu_since_open(&files->since, options->since,
	    options->max_memory != 0 ? options->max_memory : SIZE_MAX / 2, why);
}

static enum mu_status
open_baseline(struct mu_cli_files *files, struct mu_cli_options *options,
    struct mu_why *why)
{
	enum mu_status status;

	if (options->baseline == NULL && options->write_baseline == NULL)
		return MU_OK;
	options->known = &files->known;
	status = mu_baseline_open(&files->known, options->baseline, why);
	if (status == MU_OK && options->write_baseline != NULL)
		status = mu_new_file_open(
		    &files->new_baseline, options->write_baseline, why);
	options->baseline_fd = files->new_baseline.fd;
	return status;
}

static enum mu_status
open_suppressions(struct mu_cli_files *files, struct mu_cli_options *options,
    struct mu_why *why)
{
	enum mu_status status;
	time_t now = time(NULL);
	struct tm day;
	char today[11] = "";

	if (!mu_cli_suppresses(options))
		return MU_OK;
	if (localtime_r(&now, &day) != NULL)
		strftime(today, sizeof(today), "%Y-%m-%d", &day);
	options->suppressed = &files->suppressed;
	files->suppressed.only_module = options->only_module;
	files->suppressed.only_function = options->only_function;
	status = mu_suppressions_open(
	    &files->suppressed, options->suppressions, today, why);
	if (status == MU_OK && options->write_suppressions != NULL)
		status = mu_new_file_open(
		    &files->new_suppressions, options->write_suppressions, why);
	options->suppressions_fd = files->new_suppressions.fd;
	return status;
}

static enum mu_status
open_core(struct mu_cli_files *files, struct mu_cli_options *options,
    struct mu_why *why)
{
	enum mu_status status;

	if (options->core_out == NULL)
		return MU_OK;
	status = mu_new_file_open(&files->new_core, options->core_out, why);
	files->core.fd = files->new_core.fd;
	files->core.packed = is_packed(options->core_out);
	options->core_image = &files->core;
	return status;
}

static enum mu_status
open_look(struct mu_cli_files *files, struct mu_cli_options *options,
    struct mu_why *why)
{
	enum mu_status status;

	if (options->save == NULL)
		return MU_OK;
	status = mu_new_file_open(&files->new_look, options->save, why);
	files->look.fd = files->new_look.fd;
	files->look.contents = options->contents;
	mu_kept_names_open(&files->look.names, options->contents);
	options->explain.save = &files->look;
	return status;
}

enum mu_status
mu_cli_files_open(struct mu_cli_files *files, struct mu_cli_options *options,
    struct mu_why *why)
{
	enum mu_status status;

	*files = (struct mu_cli_files) {
		.new_look.fd = -1,
		.new_core.fd = -1,
		.new_baseline.fd = -1,
		.new_suppressions.fd = -1,
	};
	status = open_since(files, options, why);
	if (status == MU_OK)
		status = open_baseline(files, options, why);
	if (status == MU_OK)
		status = open_suppressions(files, options, why);
	if (status == MU_OK)
		status = open_core(files, options, why);
	if (status == MU_OK)
		status = open_look(files, options, why);
	if (status == MU_OK)
		status = mu_cli_reports_open(options->reports, why);
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
 * What writes FILE, perhaps in a child, leaves it empty after a failure; unless
 * it MAY_BE_EMPTY.
 */
static int
commit(struct mu_new_file *file, const char *path, mode_t mode,
    bool may_be_empty, int status)
{
	struct mu_why why = { .text = "" };
	struct stat written;

	if (file->fd < 0)
		return status;
	if ((fstat(file->fd, &written) == 0 && written.st_size > 0) ||
	    (may_be_empty && is_checked(status)))
		return mu_new_file_commit(file, mode, &why) == MU_OK
		    ? status
		    : mu_cli_complain(MU_EXIT_UNCHECKED, &why);
	if (!is_checked(status))
		return status;
	mu_why(&why, MU_ERR_RESOURCES, "%s was not written",
	    mu_safe_argument(path).text);
	return mu_cli_complain(MU_EXIT_UNCHECKED, &why);
}

int
mu_cli_files_commit(struct mu_cli_files *files,
    const struct mu_cli_options *options, int status)
{
	size_t i;

	status = commit(&files->new_look, options->save, 0600, false, status);
	status =
	    commit(&files->new_core, options->core_out, 0600, false, status);
	for (i = 0; i < options->reports->count; i++)
		status = commit(&options->reports->items[i].file,
		    options->reports->items[i].path, 0600, true, status);
	status = commit(&files->new_suppressions, options->write_suppressions,
	    0644, false, status);
	return commit(
	    &files->new_baseline, options->write_baseline, 0644, false, status);
}

void
mu_cli_files_close(struct mu_cli_files *files, struct mu_cli_options *options)
{
	options->explain.save = NULL;
	options->core_image = NULL;
	options->known = NULL;
	options->suppressed = NULL;
	options->lost_before = NULL;
	mu_cli_reports_close(options->reports);
	mu_look_writer_close(&files->look);
	mu_new_file_close(&files->new_look);
	mu_new_file_close(&files->new_core);
	mu_new_file_close(&files->new_baseline);
	mu_new_file_close(&files->new_suppressions);
	mu_suppressions_close(&files->suppressed);
	mu_baseline_close(&files->known);
	mu_since_close(&files->since);
}
