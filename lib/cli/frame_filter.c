#include "lib/cli/frame_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli/logged_frame.h"
#include "lib/term/output.h"
#include "lib/term/safe_text.h"

#define ROOM ((size_t)64 << 10) /* longer lines are not frames */

struct filter {
	struct mu_symbol_helper helper;
	FILE *out;
	size_t used;
	bool within; /* inside a line that is too long */
	char bytes[ROOM + 1];
};

static void
put_line(struct filter *filter, char *line, size_t length)
{
	char behind = line[length];
	bool named = false;

	line[length] = '\0';
	if (!filter->within)
		named =
		    mu_logged_frame(filter->out, &filter->helper, line, length);
	line[length] = behind;
	if (!named)
		fwrite(line, 1, length, filter->out);
	filter->within = line[length - 1] != '\n';
}

/* Process whole lines; at the END, or if the buffer is full, everything. */
static void
put_lines(struct filter *filter, bool end)
{
	char *line = filter->bytes, *behind = line + filter->used, *newline;

	while (line < behind) {
		newline = memchr(line, '\n', (size_t)(behind - line));
		if (newline == NULL && !end &&
		    (line > filter->bytes || filter->used < ROOM))
			break;
		newline = newline == NULL ? behind : newline + 1;
		put_line(filter, line, (size_t)(newline - line));
		line = newline;
	}
	filter->used = (size_t)(behind - line);
	memmove(filter->bytes, line, filter->used);
}

static enum mu_status
refuse(const struct mu_cli_options *options, const char *what, int error,
    struct mu_why *why)
{
	return mu_why(why, MU_ERR_ARGUMENT, "cannot %s %s: %s", what,
	    options->log == NULL ? "standard input"
				 : mu_safe_argument(options->log).text,
	    strerror(error));
}

static enum mu_status
run(struct filter *filter, int fd, const struct mu_cli_options *options,
    struct mu_why *why)
{
	ssize_t n;

	do {
		n = read(fd, filter->bytes + filter->used, ROOM - filter->used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return refuse(options, "read", errno, why);
		filter->used += (size_t)n;
		put_lines(filter, n == 0);
		if (!mu_output_flush(filter->out))
			return mu_why(why, MU_ERR_ARGUMENT,
			    "cannot write standard output: %s",
			    strerror(errno));
	} while (n != 0);
	return MU_OK;
}

enum mu_status
mu_frame_filter(
    const struct mu_cli_options *options, FILE *out, struct mu_why *why)
{
	struct filter *filter = calloc(1, sizeof(*filter));
	enum mu_status status;
	int fd = STDIN_FILENO;

	if (filter == NULL)
		return mu_why(why, MU_ERR_NO_MEMORY, "no memory for a line");
	if (options->log != NULL)
		fd = open(options->log, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	filter->out = out;
	filter->helper.folder = options->symbols;
	status = fd < 0 ? refuse(options, "read", errno, why)
			: run(filter, fd, options, why);
	mu_symbol_helper_close(&filter->helper);
	free(filter);
	if (options->log != NULL && fd >= 0)
		close(fd);
	return status;
}
