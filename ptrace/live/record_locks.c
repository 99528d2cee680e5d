#include "ptrace/live/record_locks.h"

#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"

/*
 * Record locks come before all that can be long: after a few lines and at most
 * one lock of flock(2) (seq_show() in fs/proc/fd.c, show_fd_locks() in
 * fs/locks.c).
 */
#define INFO_SIZE 1024

struct search {
	int folder;
	uint64_t end_ns;
	bool held;
};

/* "lock:\t1: POSIX  ADVISORY  WRITE 4711 fe:01:1234 0 EOF" */
static bool
is_record_lock(const char *line, const char *end)
{
	static const char key[] = "lock:\t", kind[] = ": POSIX ";

	return (size_t)(end - line) > strlen(key) &&
	    memcmp(line, key, strlen(key)) == 0 &&
	    memmem(line, (size_t)(end - line), kind, strlen(kind)) != NULL;
}

bool
mu_record_locks_in(const char *text, const char *end)
{
	const char *line_end;

	for (; text < end; text = line_end + 1) {
		line_end = mu_proc_line_end(text, end);
		if (is_record_lock(text, line_end))
			return true;
	}
	return false;
}

/* ENOENT: another task that shares the table closed the descriptor. */
static bool
visit_descriptor(void *ctx, int number)
{
	struct search *search = ctx;
	char text[INFO_SIZE];
	ssize_t n;
	int fd;

	mu_text_format(text, sizeof(text), "%d", number);
	fd = mu_sys_openat(search->folder, text, O_RDONLY | O_CLOEXEC, 0);
	if (fd == -ENOENT)
		return true;
	n = fd < 0 ? fd : mu_sys_read(fd, text, sizeof(text));
	mu_sys_close(&fd);
	search->held = n < 0 || mu_record_locks_in(text, text + n) ||
	    mu_sys_now_ns() >= search->end_ns;
	return !search->held;
}

/*
 * Not by /proc/locks: opening that waits for a grace period of RCU
 * (percpu_down_write() in locks_start(), fs/locks.c), which was seen to take 5
 * to 20 ms, and more on a busy machine.
 */
bool
mu_record_locks_held(pid_t pid, uint64_t end_ns)
{
	struct search search = { .end_ns = end_ns };
	char path[32];
	long error;

	mu_text_format(path, sizeof(path), "/proc/%d/fdinfo", pid);
	search.folder = mu_procfs_open(path, O_RDONLY | O_DIRECTORY);
	error = search.folder;
	if (error >= 0)
		error = mu_proc_numbers_in(
		    search.folder, visit_descriptor, &search);
	mu_sys_close(&search.folder);
	return search.held || error < 0;
}
