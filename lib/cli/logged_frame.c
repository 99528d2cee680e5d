#include "lib/cli/logged_frame.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/command/file_frame.h"

#define DIGITS_MAX 3 /* digits of a frame's number */
#define HEX "0123456789abcdef"

/* "  #03  pc 0000000000001234  /path/file (name+12)" */
struct frame {
	struct mu_frame_prefix prefix; /* text before the '#' */
	unsigned long number, offset;
	char path[PATH_MAX];
};

/* A path may contain parentheses, too: use the last ones. */
static bool
read_path(struct frame *frame, const char *path, size_t length)
{
	const char *name = path + length;

	if (length > 0 && name[-1] == ')') {
		while (name > path && *name != '(')
			name--;
		if (name > path && name[-1] == ' ' &&
		    memchr(name, '+', (size_t)(path + length - name)) != NULL)
			length = (size_t)(name - 1 - path);
	}
	if (length >= sizeof(frame->path))
		return false;
	memcpy(frame->path, path, length);
	frame->path[length] = '\0';
	return true;
}

/* AT is the first digit, with LENGTH bytes left. */
static bool
read_frame(struct frame *frame, const char *at, size_t length)
{
	static const char pc[] = "  pc ";
	const char *end = at + length;
	size_t digits = strspn(at, "0123456789");

	if (digits < 2 || digits > DIGITS_MAX ||
	    strncmp(at + digits, pc, strlen(pc)) != 0)
		return false;
	frame->number = strtoul(at, NULL, 10);
	at += digits + strlen(pc);
	digits = strspn(at, HEX);
	if ((digits != 8 && digits != 16) ||
	    strncmp(at + digits, "  /", 3) != 0)
		return false;
	frame->offset = strtoul(at, NULL, 16);
	at += digits + 2;
	/* Text after a NUL would be lost. */
	length = strcspn(at, "\n");
	return at + length + (at[length] == '\n') == end &&
	    read_path(frame, at, length);
}

static bool
find_frame(struct frame *frame, const char *line, size_t length)
{
	const char *end = line + length, *at = line;

	while ((at = memchr(at, '#', (size_t)(end - at))) != NULL) {
		at++;
		frame->prefix =
		    (struct mu_frame_prefix) { line, (size_t)(at - 1 - line) };
		if (at - line > 2 && at[-2] == ' ' && at[-3] == ' ' &&
		    read_frame(frame, at, (size_t)(end - at)))
			return true;
	}
	return false;
}

bool
mu_logged_frame(
    FILE *out, struct mu_symbol_helper *helper, const char *line, size_t length)
{
	struct frame frame;

	return find_frame(&frame, line, length) &&
	    mu_file_frame(out, helper, frame.prefix, frame.number, frame.path,
		frame.offset);
}
