#include "lib/watch/subject.h"

#include <bsd/string.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"

#define COMM 15          /* bytes of a process's name that the kernel keeps */
#define START_FIELD 22   /* starttime in /proc/PID/stat */
#define ROLLUP_SIZE 2048 /* smaps_rollup has about 700 bytes */
#define GROUPS_SIZE 8192 /* of all hierarchies of version 1 */

static ssize_t
read_proc(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;

	mu_text_format(path, sizeof(path), "/proc/%d/%s", pid, file);
	n = mu_sys_read_file(AT_FDCWD, path, text, size);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

/* When PID began; 0: it is not there. */
static uint64_t
start_of(pid_t pid)
{
	char text[1024];
	const char *at;
	int field;

	if (read_proc(pid, "stat", text, sizeof(text) - 1) <= 0)
		return 0;
	at = strrchr(text, ')'); /* the name may have blanks and brackets */
	for (field = 2; at != NULL && field < START_FIELD; field++)
		at = strchr(at + 1, ' ');
	return at == NULL ? 0 : strtoull(at + 1, NULL, 10);
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/* As the kernel shows a program whose file was replaced. */
static void
cut_deleted(char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path), end = sizeof(deleted) - 1;

	if (length > end && strcmp(path + length - end, deleted) == 0)
		path[length - end] = '\0';
}

static bool
has_name(pid_t pid, const char *name)
{
	char text[PATH_MAX];

	if (read_proc(pid, "comm", text, sizeof(text) - 1) <= 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	if (strlen(name) <= COMM && strcmp(text, name) == 0)
		return true;
	mu_proc_program(pid, text, sizeof(text));
	cut_deleted(text);
	if (strcmp(base_name(text), name) == 0)
		return true;
	return read_proc(pid, "cmdline", text, sizeof(text) - 1) > 0 &&
	    strcmp(base_name(text), name) == 0;
}

static const char unit_suffix[] = ".service";

/* As systemctl(1): a name without a suffix is that of a service. */
static bool
is_unit(const char *part, size_t length, const char *unit)
{
	size_t whole = strlen(unit);

	if (length < whole || strncmp(part, unit, whole) != 0)
		return false;
	return length == whole ||
	    (length == whole + sizeof(unit_suffix) - 1 &&
		strncmp(part + whole, unit_suffix, length - whole) == 0);
}

/*
 * True if a control group of PID, or one above it, is that of UNIT. A line has
 * "HIERARCHY:CONTROLLERS:PATH"; systemd names the groups after the units.
 */
static bool
in_unit(pid_t pid, const char *unit)
{
	char text[GROUPS_SIZE], *rest = text, *line, *path, *part;

	if (read_proc(pid, "cgroup", text, sizeof(text) - 1) <= 0)
		return false;
	while ((line = strsep(&rest, "\n")) != NULL) {
		path = strchr(line, ':');
		path = path == NULL ? NULL : strchr(path + 1, ':');
		if (path == NULL)
			continue;
		path++;
		while ((part = strsep(&path, "/")) != NULL)
			if (is_unit(part, strlen(part), unit))
				return true;
	}
	return false;
}

struct searching {
	const struct mu_watch_search *search;
	pid_t not, self;
	pid_t oldest;
	uint64_t started;
	size_t count;
};

static bool
consider(void *ctx, int pid)
{
	struct searching *searching = ctx;
	uint64_t started;

	if (pid == searching->not || pid == searching->self ||
	    !(searching->search->unit ? in_unit : has_name)(
		pid, searching->search->name) ||
	    mu_proc_ended(mu_proc_state(pid, pid)))
		return true;
	started = start_of(pid);
	if (started == 0)
		return true;
	searching->count++;
	if (searching->oldest == 0 || started < searching->started) {
		searching->oldest = pid;
		searching->started = started;
	}
	return true;
}

bool
mu_watch_subject_open(struct mu_watch_subject *subject, pid_t pid)
{
	*subject = (struct mu_watch_subject) { .pid = pid, .fd = -1 };
	if (pid == 0)
		return false;
	subject->started = start_of(pid);
	subject->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	mu_proc_program(pid, subject->program, sizeof(subject->program));
	return subject->started != 0 && !mu_watch_subject_gone(subject);
}

bool
mu_watch_subject_find(struct mu_watch_subject *subject,
    const struct mu_watch_search *search, pid_t not )
{
	struct searching searching = {
		.search = search, .not = not, .self = getpid()
	};
	bool opened;

	mu_proc_numbers("/proc", consider, &searching);
	opened = mu_watch_subject_open(subject, searching.oldest);
	subject->same_name = searching.count;
	return opened;
}

void
mu_watch_subject_close(struct mu_watch_subject *subject)
{
	mu_sys_close(&subject->fd);
}

bool
mu_watch_subject_gone(const struct mu_watch_subject *subject)
{
	return mu_proc_is_over(subject->pid) ||
	    start_of(subject->pid) != subject->started;
}

bool
mu_watch_subject_execed(struct mu_watch_subject *subject)
{
	char now[sizeof(subject->program)];

	mu_proc_program(subject->pid, now, sizeof(now));
	cut_deleted(now);
	cut_deleted(subject->program);
	if (now[0] == '\0' || strcmp(now, subject->program) == 0)
		return false;
	strlcpy(subject->program, now, sizeof(subject->program));
	return true;
}

void
mu_watch_subject_measure(
    const struct mu_watch_subject *subject, struct mu_watch_look *look)
{
	char status[MU_PROC_STATUS_SIZE], rollup[ROLLUP_SIZE];

	look->pid = subject->pid;
	if (mu_proc_status_read(subject->pid, 0, status, sizeof(status)) > 0) {
		look->rss = mu_proc_status_bytes(status, "\nVmRSS:");
		look->anon = mu_proc_status_bytes(status, "\nRssAnon:");
	}
	/* Linux 4.14; needs the right to trace. */
	if (read_proc(
		subject->pid, "smaps_rollup", rollup, sizeof(rollup) - 1) > 0)
		look->pss = mu_proc_status_bytes(rollup, "\nPss:");
}
