#include "lib/command/unpreload.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mu/range.h"

#define VARIABLE "LD_PRELOAD="
#define MAX_ENVIRONMENT ((size_t)16 << 20) /* the kernel allows 6 MiB */

/* Fields 50 and 51 of proc(5)'s stat; the name before may have anything. */
static bool
find_environment(pid_t pid, struct mu_range *range)
{
	char path[64], line[2048];
	const char *at = NULL;
	uint64_t begin, end;
	FILE *file;
	int field;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file != NULL && fgets(line, sizeof(line), file) != NULL)
		at = strrchr(line, ')');
	if (file != NULL)
		fclose(file);
	for (field = 2; at != NULL && field < 50; field++)
		at = strchr(at + 1, ' ');
	if (at == NULL ||
	    sscanf(at, "%" SCNu64 " %" SCNu64, &begin, &end) != 2 ||
	    begin >= end || end - begin > MAX_ENVIRONMENT)
		return false;
	*range = (struct mu_range) { begin, end };
	return true;
}

/* True if the LENGTH bytes at AT are separated from the rest of the list. */
static bool
is_apart(const char *begin, const char *end, const char *at, size_t length)
{
	return (at == begin || at[-1] == ':' || at[-1] == ' ') &&
	    (at + length >= end || at[length] == ':' || at[length] == ' ');
}

/* Overwrite NAME in the list [AT, END), which is at ADDRESS. */
static void
remove_name(
    int memory, char *at, char *end, uintptr_t address, const char *name)
{
	size_t length = strlen(name), i;
	char *begin = at;

	for (; length > 0 && (at = strstr(at, name)) != NULL; at += length) {
		if (!is_apart(begin, end, at, length))
			continue;
		for (i = 0; i < length; i++)
			at[i] = ':';
		if (pwrite(memory, at, length,
			(off_t)(address + (uintptr_t)(at - begin))) < 0)
			return;
	}
}

/* Put NAME at the end of the list [AT, END), for as many colons in it. */
static void
put_name(int memory, char *at, char *end, uintptr_t address, const char *name)
{
	size_t length = strlen(name), i;
	char *begin = at;

	while (at < end &&
	    (strspn(at, ":") < length || !is_apart(begin, end, at, length)))
		at++;
	if (at == end)
		return;
	if (at + length < end) {
		memmove(at, at + length + 1, (size_t)(end - at) - length - 1);
		end[-(ptrdiff_t)length - 1] = ':';
	}
	for (i = 0, at = end - length; i < length; i++)
		at[i] = name[i];
	(void)!pwrite(memory, begin, (size_t)(end - begin), (off_t)address);
}

struct edit {
	void (*apply)(int memory, char *at, char *end, uintptr_t address,
	    const char *name);
	const char *names[2];
};

/* To the lists in TEXT, which is what RANGE has. */
static void
apply(const struct edit *edit, int memory, struct mu_range range, char *text)
{
	char *at = text, *end = text + mu_range_size(range), *value;
	size_t i;

	for (; at < end; at += strlen(at) + 1) {
		if (strncmp(at, VARIABLE, strlen(VARIABLE)) != 0)
			continue;
		value = at + strlen(VARIABLE);
		for (i = 0; i < 2 && edit->names[i] != NULL; i++)
			edit->apply(memory, value, value + strlen(value),
			    range.begin + (uintptr_t)(value - text),
			    edit->names[i]);
	}
}

static void
edit_environment(pid_t pid, const struct edit *edit)
{
	struct mu_range range;
	char path[64], *text;
	size_t size;
	int memory;

	if (!find_environment(pid, &range))
		return;
	size = mu_range_size(range);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	memory = open(path, O_RDWR | O_CLOEXEC);
	text = calloc(1, size + 1);
	if (memory >= 0 && text != NULL &&
	    pread(memory, text, size, (off_t)range.begin) == (ssize_t)size)
		apply(edit, memory, range, text);
	free(text);
	if (memory >= 0)
		close(memory);
}

void
mu_command_unpreload(pid_t pid, const char *library, const char *recorder)
{
	const struct edit edit = { remove_name, { library, recorder } };

	edit_environment(pid, &edit);
}

void
mu_command_preload_again(pid_t pid, const char *names)
{
	const struct edit edit = { put_name, { names } };

	edit_environment(pid, &edit);
}
