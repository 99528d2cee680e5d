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

/* Overwrite NAME in the list [AT, END), which is at ADDRESS. */
static void
remove_name(
    int memory, char *at, char *end, uintptr_t address, const char *name)
{
	size_t length = strlen(name), i;
	char *begin = at;

	for (; length > 0 && (at = strstr(at, name)) != NULL; at += length) {
		if ((at > begin && at[-1] != ':' && at[-1] != ' ') ||
		    (at + length < end && at[length] != ':' &&
			at[length] != ' '))
			continue;
		for (i = 0; i < length; i++)
			at[i] = ':';
		if (pwrite(memory, at, length,
			(off_t)(address + (uintptr_t)(at - begin))) < 0)
			return;
	}
}

static void
edit(int memory, struct mu_range range, char *text, const char *library,
    const char *recorder)
{
	char *at = text, *end = text + mu_range_size(range), *value;
	uintptr_t address;

	for (; at < end; at += strlen(at) + 1) {
		if (strncmp(at, VARIABLE, strlen(VARIABLE)) != 0)
			continue;
		value = at + strlen(VARIABLE);
		address = range.begin + (uintptr_t)(value - text);
		remove_name(
		    memory, value, value + strlen(value), address, library);
		remove_name(
		    memory, value, value + strlen(value), address, recorder);
	}
}

void
mu_command_unpreload(pid_t pid, const char *library, const char *recorder)
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
		edit(memory, range, text, library, recorder);
	free(text);
	if (memory >= 0)
		close(memory);
}
