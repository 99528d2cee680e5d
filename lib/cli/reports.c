#include "lib/cli/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/term/output.h"
#include "lib/term/safe_text.h"

static enum mu_status
open_one(struct mu_cli_report *report, struct mu_why *why)
{
	enum mu_status status;

	if (strcmp(report->path, "-") == 0) {
		report->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return report->fd >= 0
		    ? MU_OK
		    : mu_why(why, MU_ERR_RESOURCES,
			  "standard output cannot be written: %s",
			  strerror(errno));
	}
	status = mu_new_file_open(&report->file, report->path, why);
	report->fd = report->file.fd;
	return status;
}

enum mu_status
mu_cli_reports_open(struct mu_cli_reports *reports, struct mu_why *why)
{
	enum mu_status status = MU_OK;
	size_t i;

	for (i = 0; i < reports->count; i++)
		reports->items[i].fd = reports->items[i].file.fd = -1;
	for (i = 0; status == MU_OK && i < reports->count; i++)
		status = open_one(&reports->items[i], why);
	return status;
}

/* NULL: it cannot be written. */
static FILE *
stream_of(struct mu_cli_report *report)
{
	int fd = report->failed ? -1 : fcntl(report->fd, F_DUPFD_CLOEXEC, 3);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");

	if (stream == NULL && fd >= 0)
		close(fd);
	return stream;
}

/* A file that could not be written whole is left empty. */
static void
judge(struct mu_cli_report *report, FILE *stream, bool written)
{
	int error = errno;

	if (stream != NULL && written && !mu_output_flush(stream)) {
		error = errno;
		written = false;
	}
	if (stream != NULL)
		fclose(stream);
	if (written)
		return;
	report->failed = true;
	(void)!ftruncate(report->fd, 0);
	fprintf(stderr, "memunreachable: the report %s cannot be written: %s\n",
	    mu_safe_argument(report->path).text, strerror(error));
}

void
mu_cli_reports_put(struct mu_cli_reports *reports,
    const struct mu_report *report, const struct mu_shown *shown)
{
	struct mu_shown plain = *shown;
	size_t i;

	plain.style = MU_STYLE_PLAIN;
	for (i = 0; i < reports->count; i++) {
		struct mu_cli_report *one = &reports->items[i];
		FILE *stream = stream_of(one);
		struct mu_out out;
		bool written = stream != NULL;

		if (written) {
			out = mu_out_file(stream);
			written = mu_document_put(
			    &one->document, &out, report, &plain);
		}
		judge(one, stream, written);
	}
}

bool
mu_cli_reports_end(struct mu_cli_reports *reports)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < reports->count; i++) {
		struct mu_cli_report *one = &reports->items[i];
		FILE *stream = stream_of(one);
		struct mu_out out;

		if (stream != NULL) {
			out = mu_out_file(stream);
			mu_document_end(&one->document, &out);
			judge(one, stream, true);
		}
		ok &= stream != NULL && !one->failed;
	}
	return ok;
}

void
mu_cli_reports_close(struct mu_cli_reports *reports)
{
	size_t i;

	for (i = 0; i < reports->count; i++) {
		struct mu_cli_report *one = &reports->items[i];

		if (one->file.fd < 0 && one->fd >= 0)
			close(one->fd);
		mu_new_file_close(&one->file);
		one->fd = -1;
	}
}
