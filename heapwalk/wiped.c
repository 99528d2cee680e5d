/*
 * Memory that a forked image lacks: see heapwalk/wiped.h.
 *
 * Runs in: sweeper. Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/wiped.h"

#include <string.h>

#include "heapwalk/lines.h"

#define KEY "VmFlags:"
#define KEY_LENGTH (sizeof(KEY) - 1)

/* "VmFlags: rd wr mr mw me ac wf sd " */
static bool
has_flag(const char *line, size_t length, const char *flag)
{
	size_t i;

	for (i = KEY_LENGTH; i + 3 <= length; i++) {
		if (line[i] == ' ' && line[i + 1] == flag[0] &&
		    line[i + 2] == flag[1])
			return true;
	}
	return false;
}

bool
mu_wiped_parse(const char *text, size_t length)
{
	const char *end = text + length, *newline;
	size_t line;

	for (; text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		if (newline == NULL)
			return false;
		line = (size_t)(newline - text);
		if (line > KEY_LENGTH && memcmp(text, KEY, KEY_LENGTH) == 0 &&
		    has_flag(text, line, "wf") && !has_flag(text, line, "dp"))
			return true;
	}
	return false;
}

static bool
found(void *ctx, const char *lines, size_t length)
{
	(void)ctx;
	return mu_wiped_parse(lines, length);
}

bool
mu_wiped_any(void)
{
	return mu_lines_search("/proc/self/smaps", found, NULL);
}
