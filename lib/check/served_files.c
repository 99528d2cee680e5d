#include "lib/check/served_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwalk/subject/classify.h"

#define DEVICES_MAX 64 /* with more all mapped files count */

struct devices {
	unsigned major[DEVICES_MAX], minor[DEVICES_MAX];
	size_t count;
};

static bool
is_served(const char *type)
{
	static const char *const begins[] = { "fuse", "nfs", "cifs", "smb",
		"9p", "ceph", "afs", "virtiofs", "lustre" };
	size_t i;

	for (i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (mu_starts_with(type, begins[i]))
			return true;
	return false;
}

static FILE *
open_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

/* The type stands behind " - ": proc_pid_mountinfo(5). */
static void
read_mounts(FILE *file, struct devices *devices)
{
	char *line = NULL, *type;
	size_t size = 0;
	unsigned major, minor;

	while (
	    devices->count < DEVICES_MAX && getline(&line, &size, file) > 0) {
		type = strstr(line, " - ");
		if (type == NULL || !is_served(type + 3) ||
		    sscanf(line, "%*d %*d %u:%u", &major, &minor) != 2)
			continue;
		devices->major[devices->count] = major;
		devices->minor[devices->count++] = minor;
	}
	free(line);
}

static bool
has(const struct devices *devices, unsigned major, unsigned minor)
{
	size_t i;

	for (i = 0; i < devices->count; i++)
		if (devices->major[i] == major && devices->minor[i] == minor)
			return true;
	return devices->count == DEVICES_MAX && (major != 0 || minor != 0);
}

static bool
maps_any(FILE *file, const struct devices *devices)
{
	char *line = NULL;
	size_t size = 0;
	unsigned major, minor;
	bool found = false;

	while (!found && getline(&line, &size, file) > 0)
		found = sscanf(line, "%*x-%*x %*s %*x %x:%x", &major, &minor) ==
			2 &&
		    has(devices, major, minor);
	free(line);
	return found;
}

bool
mu_maps_served_files(pid_t pid)
{
	struct devices devices = { .count = 0 };
	FILE *file = open_file(pid, "mountinfo");
	bool found;

	if (file == NULL)
		return false;
	read_mounts(file, &devices);
	fclose(file);
	if (devices.count == 0 || (file = open_file(pid, "maps")) == NULL)
		return false;
	found = maps_any(file, &devices);
	fclose(file);
	return found;
}
