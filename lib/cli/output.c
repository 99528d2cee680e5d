/*
 * Where the report goes: see output.h.
 *
 * Runs in: the command.
 */
#include "lib/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli/cli_values.h"
#include "lib/report_file.h"

static enum mu_status
refuse(struct mu_output *output, struct mu_why *why, const char *words)
{
	return mu_why(why, MU_ERR_ARGUMENT, "cannot write %s: %s",
	    output->path != NULL ? mu_cli_shown(output->path).text
				 : "standard output",
	    words);
}

/* Nothing waits for the command when it writes, so it may wait for a pipe. */
static enum mu_status
open_file(struct mu_output *output, struct mu_why *why)
{
	const char *words;

	output->fd = mu_report_file_open(output->path, 0, &words);
	if (output->fd < 0)
		return refuse(output, why, words);
	fcntl(output->fd, F_SETFL, O_WRONLY);
	return MU_OK;
}

enum mu_status
mu_output_open(struct mu_output *output, const char *path, struct mu_why *why)
{
	enum mu_status status = MU_OK;

	*output = (struct mu_output) { .fd = STDOUT_FILENO };
	if (path != NULL && strcmp(path, "-") != 0) {
		output->path = path;
		status = open_file(output, why);
	}
	if (status == MU_OK) {
		output->text = open_memstream(&output->bytes, &output->length);
		if (output->text == NULL)
			status = refuse(output, why, strerror(errno));
	}
	if (status != MU_OK)
		mu_output_close(output);
	return status;
}

static bool
write_all(int fd, const char *bytes, size_t length)
{
	ssize_t wrote;

	while (length > 0) {
		wrote = write(fd, bytes, length);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		bytes += wrote;
		length -= (size_t)wrote;
	}
	return true;
}

enum mu_status
mu_output_commit(struct mu_output *output, struct mu_why *why)
{
	if (fflush(output->text) != 0 || ferror(output->text))
		return refuse(output, why, "no memory for the report");
	/* EINVAL: a pipe or a terminal has no length. */
	if (output->path != NULL && ftruncate(output->fd, 0) != 0 &&
	    errno != EINVAL)
		return refuse(output, why, strerror(errno));
	if (!write_all(output->fd, output->bytes, output->length))
		return refuse(output, why, strerror(errno));
	return MU_OK;
}

void
mu_output_close(struct mu_output *output)
{
	if (output->text != NULL)
		fclose(output->text);
	if (output->bytes != NULL)
		explicit_bzero(output->bytes, output->length);
	free(output->bytes);
	if (output->path != NULL && output->fd >= 0)
		close(output->fd);
	*output = (struct mu_output) { .fd = -1 };
}
