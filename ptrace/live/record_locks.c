#include "ptrace/live/record_locks.h"

#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

/* The kernel returns whole lines. */
#define LINES_SIZE ((size_t)16 << 10)

/*
 * "3: POSIX  ADVISORY  WRITE 4711 fe:01:1234 0 EOF" is a lock; "3: -> ..."
 * waits for it.
 */
static bool
is_of(const char *line, const char *end, pid_t pid)
{
	static const char kind[] = ": POSIX ";
	const char *at = memmem(line, (size_t)(end - line), kind, strlen(kind));
	uint64_t number;
	unsigned field;

	if (at == NULL)
		return false;
	at += strlen(": ");
	for (field = 0; field < 3; field++) {
		while (at < end && *at != ' ')
			at++;
		while (at < end && *at == ' ')
			at++;
	}
	return mu_proc_number(&at, end, 10, &number) && number == (uint64_t)pid;
}

bool
mu_record_locks_in(const char *text, const char *end, pid_t pid)
{
	const char *line_end;

	for (; text < end; text = line_end + 1) {
		line_end = mu_proc_line_end(text, end);
		if (is_of(text, line_end, pid))
			return true;
	}
	return false;
}

bool
mu_record_locks_held(pid_t pid)
{
	char lines[LINES_SIZE];
	bool held = false;
	ssize_t n;
	int fd = mu_procfs_open("/proc/locks", O_RDONLY);

	if (fd < 0)
		return true;
	do {
		n = mu_sys_read(fd, lines, sizeof(lines));
		if (n > 0)
			held = mu_record_locks_in(lines, lines + n, pid);
	} while (!held && (n > 0 || n == -EINTR));
	mu_sys_close(&fd);
	return held || n < 0;
}
