#include "lib/term/output.h"

#include <bsd/stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/mu/report_file.h"
#include "lib/term/safe_text.h"

static enum mu_status
refuse(struct mu_output *output, struct mu_why *why, const char *words)
{
	return mu_why(why, MU_ERR_ARGUMENT, "cannot write %s: %s",
	    output->path != NULL ? mu_safe_argument(output->path).text
				 : "standard output",
	    words);
}

static enum mu_status
lack_memory(struct mu_why *why)
{
	return mu_why(why, MU_ERR_NO_MEMORY,
	    "there is no memory for the report" MU_CURE
	    "raise RLIMIT_DATA and RLIMIT_AS (ulimit -d, -v), or the cgroup's "
	    "limit");
}

/* No process waits for the command's writes, so it may wait for a pipe. */
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

/* EINVAL: a pipe or a terminal has no length. */
static bool
begin(struct mu_output *output)
{
	output->begun = output->path == NULL || ftruncate(output->fd, 0) == 0 ||
	    errno == EINVAL;
	return output->begun;
}

/* Write the kept bytes, followed by BYTES. */
static bool
write_out(struct mu_output *output, const char *bytes, size_t length)
{
	bool ok = (output->begun || begin(output)) &&
	    write_all(output->fd, output->kept, output->length) &&
	    write_all(output->fd, bytes, length);

	output->length = 0;
	if (!ok && output->error == 0)
		output->error = errno;
	return ok;
}

/* For fopencookie(3): takes what TEXT's buffer flushes. */
static ssize_t
take_bytes(void *cookie, const char *bytes, size_t length)
{
	struct mu_output *output = cookie;

	if (output->error != 0)
		return 0;
	if (!output->begun && length <= MU_OUTPUT_KEPT - output->length) {
		memcpy(output->kept + output->length, bytes, length);
		output->length += length;
		if (output->most < output->length)
			output->most = output->length;
		return (ssize_t)length;
	}
	return write_out(output, bytes, length) ? (ssize_t)length : 0;
}

static enum mu_status
open_text(struct mu_output *output, struct mu_why *why)
{
	static const cookie_io_functions_t functions = { .write = take_bytes };

	output->kept = malloc(MU_OUTPUT_KEPT);
	if (output->kept != NULL)
		output->text = fopencookie(output, "w", functions);
	return output->text != NULL ? MU_OK : lack_memory(why);
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
	if (status == MU_OK)
		status = open_text(output, why);
	if (status != MU_OK)
		mu_output_close(output);
	return status;
}

bool
mu_output_flush(FILE *text)
{
	return fflush(text) == 0 && !ferror(text);
}

enum mu_status
mu_output_commit(struct mu_output *output, struct mu_why *why)
{
	/* If no write failed, making the report did. */
	if (!mu_output_flush(output->text) && output->error == 0)
		return lack_memory(why);
	if (output->error == 0)
		write_out(output, NULL, 0);
	return output->error == 0
	    ? MU_OK
	    : refuse(output, why, strerror(output->error));
}

void
mu_output_close(struct mu_output *output)
{
	if (output->text != NULL)
		fclose(output->text);
	/* Contents of blocks may be secrets. */
	freezero(output->kept, output->most);
	if (output->path != NULL && output->fd >= 0)
		close(output->fd);
	*output = (struct mu_output) { .fd = -1 };
}
