#include "lib/command/end_report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/command/check_end.h"
#include "lib/state/answer_file.h"
#include "lib/writers/exit_status.h"

static void
name_file(const char *path, pid_t pid, char *name, size_t size)
{
	snprintf(name, size, "%s.%d", path, (int)pid);
}

static bool
read_all(int fd, void *data, size_t size)
{
	char *at = data;
	ssize_t got;

	while (size > 0) {
		got = read(fd, at, size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

static bool
take_entries(int fd, const struct mu_answer_header *header, size_t size,
    struct mu_entries *entries)
{
	size_t num_more;

	*entries = (struct mu_entries) { .size = size,
		.count = header->info.num_reported,
		.num_groups = header->groups.count };
	entries->packed = malloc(size + 1);
	if (entries->packed != NULL && read_all(fd, entries->packed, size) &&
	    mu_entries_check(entries, &num_more))
		return true;
	free(entries->packed);
	*entries = (struct mu_entries) { .count = 0 };
	return false;
}

static const char *
stop_word(int stop)
{
	switch (stop) {
	case MEMUNREACHABLE_STOP_PTRACE:
		return "ptrace";
	case MEMUNREACHABLE_STOP_SIGNAL:
		return "signal";
	default:
		return "";
	}
}

/* If there is no memory for it, the use of the heap is left out. */
static void
take_usage(const struct mu_pipe_usage *usage, struct mu_report *answer)
{
	size_t count = usage->all.num_arenas;
	struct mu_arena_usage *arenas = calloc(count + 1, sizeof(*arenas));

	if (arenas == NULL)
		return;
	memcpy(arenas, usage->arenas, count * sizeof(*arenas));
	answer->usage = usage->all;
	answer->usage.arenas = arenas;
	if (usage->glibc_major != 0)
		snprintf(answer->allocator, sizeof(answer->allocator),
		    "glibc %u.%u", usage->glibc_major, usage->glibc_minor);
}

/* Returns false if there is no file or it is not valid. */
static bool
read_answer(const char *path, pid_t pid, struct mu_report *answer)
{
	struct mu_answer_header header;
	char name[PATH_MAX + 16];
	struct stat st;
	bool good;
	int fd;

	name_file(path, pid, name, sizeof(name));
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    read_all(fd, &header, sizeof(header)) &&
	    mu_answer_file_check(&header, (uint64_t)st.st_size, pid);
	if (good) {
		memset(answer, 0, sizeof(*answer));
		answer->pid = pid;
		answer->info = header.info;
		answer->cure = header.cure;
		answer->stop = stop_word(header.info.stop);
		answer->groups = header.groups;
		good = take_entries(fd, &header,
		    (size_t)st.st_size - sizeof(header), &answer->entries);
		if (good && mu_exit_checked(&answer->info))
			take_usage(&header.usage, answer);
	}
	close(fd);
	unlink(name);
	return good;
}

/* The library has judged the heap, but it does not explain it. */
static void
explain(const struct mu_check *check, const struct mu_threads *stopped,
    size_t missed, struct mu_known_functions *known, struct mu_report *answer)
{
	struct mu_check again = *check;
	struct mu_report report;

	if (!mu_explain_wanted(&check->explain) && check->core_out == NULL)
		return;
	if (check->explain.save == NULL)
		again.limit = 0;
	mu_check_end(&again, stopped, missed, known, &report);
	answer->explained = report.explained;
	report.explained = NULL;
	mu_check_release(&report);
}

/*
 * From outside more allocators are read than from inside: the one that the
 * library refused is among those of ANSWER ("glibc 2.36, jemalloc").
 */
static bool
was_read(
    const struct UnreachableMemoryInfo *refused, const struct mu_report *answer)
{
	const char *other = strstr(answer->allocator, ", ");

	return mu_exit_checked(&answer->info) && other != NULL &&
	    strstr(refused->reason, other + 2) != NULL;
}

void
mu_command_end_report(const struct mu_check *check, const char *path,
    const struct mu_threads *stopped, size_t missed,
    struct mu_known_functions *known, struct mu_report *answer)
{
	struct mu_report first;
	bool told = read_answer(path, stopped->pid, &first);

	if (told && mu_exit_checked(&first.info)) {
		*answer = first;
		mu_check_end_name(check, stopped, answer);
		explain(check, stopped, missed, known, answer);
		return;
	}
	mu_check_end(check, stopped, missed, known, answer);
	if (!told)
		return;
	/*
	 * The library calls malloc, so it knows which allocator is used; and
	 * its reason for not judging is more precise than ours, unless the
	 * reason is our tracing.
	 */
	if ((!mu_exit_checked(&answer->info) &&
		first.info.status != MEMUNREACHABLE_ALREADY_TRACED) ||
	    (first.info.status == MEMUNREACHABLE_FOREIGN_ALLOCATOR &&
		!was_read(&first.info, answer))) {
		mu_check_release(answer);
		answer->info = first.info;
		answer->cure = first.cure;
		answer->entries = first.entries;
		first.entries.packed = NULL;
	}
	mu_check_release(&first);
}

void
mu_command_end_report_drop(const char *path, pid_t pid)
{
	char name[PATH_MAX + 16];

	name_file(path, pid, name, sizeof(name));
	unlink(name);
}
