/*
 * Memory that a forked image lacks: see heapwalk/wiped.h.
 *
 * Runs in: sweeper. Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/wiped.h"

#include <string.h>

#include "mu/sys.h"

#define BUFFER_SIZE 8192
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
search(int fd)
{
	char buffer[BUFFER_SIZE] = "";
	size_t used = 0, whole;
	ssize_t n;

	for (;;) {
		n = mu_sys_read(fd, buffer + used, sizeof(buffer) - used);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		used += (size_t)n;
		for (whole = used; whole > 0 && buffer[whole - 1] != '\n';)
			whole--;
		if (mu_wiped_parse(buffer, whole))
			return true;
		/* Longer than any line of flags: a path; drop its begin. */
		if (whole == 0 && used == sizeof(buffer))
			whole = used;
		used -= whole;
		memmove(buffer, buffer + whole, used);
	}
}

bool
mu_wiped_any(void)
{
	int fd = mu_sys_open("/proc/self/smaps", O_RDONLY | O_CLOEXEC, 0);
	bool any = fd >= 0 && search(fd);

	mu_sys_close(&fd);
	return any;
}
