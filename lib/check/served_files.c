#include "lib/check/served_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "heapwalk/subject/classify.h"
#include "ptrace/live/proc.h"

#define DEVICES_MAX 64 /* the files of others count */

struct devices {
	unsigned major[DEVICES_MAX], minor[DEVICES_MAX];
	size_t count;
};

/*
 * The kernel itself reads these from a disk or from memory. All others count: a
 * layer of an overlay may be served, and a mount that is detached has no line.
 */
static bool
is_local(const char *type)
{
	static const char *const names[] = { "ext2 ", "ext3 ", "ext4 ", "xfs ",
		"btrfs ", "f2fs ", "tmpfs ", "ramfs ", "rootfs ", "devtmpfs ",
		"hugetlbfs ", "squashfs ", "erofs ", "zfs ", "bcachefs ",
		"jfs ", "vfat ", "iso9660 " };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (mu_starts_with(type, names[i]))
			return true;
	return false;
}

static void
add(struct devices *devices, unsigned major, unsigned minor)
{
	devices->major[devices->count] = major;
	devices->minor[devices->count++] = minor;
}

/* No mount has the files of memfd_create() and of anonymous shared memory. */
static void
add_memory(struct devices *devices)
{
	int fd = memfd_create("memunreachable", MFD_CLOEXEC);
	struct stat file;

	if (fd < 0)
		return;
	if (fstat(fd, &file) == 0)
		add(devices, major(file.st_dev), minor(file.st_dev));
	close(fd);
}

static bool
has(const struct devices *devices, unsigned major, unsigned minor)
{
	size_t i;

	for (i = 0; i < devices->count; i++)
		if (devices->major[i] == major && devices->minor[i] == minor)
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
add_mounts(struct devices *devices, FILE *file)
{
	char *line = NULL, *type;
	size_t size = 0;
	unsigned major, minor;

	while (
	    devices->count < DEVICES_MAX && getline(&line, &size, file) > 0) {
		type = strstr(line, " - ");
		if (type != NULL && is_local(type + 3) &&
		    sscanf(line, "%*d %*d %u:%u", &major, &minor) == 2 &&
		    !has(devices, major, minor))
			add(devices, major, minor);
	}
	free(line);
}

/* What has no file is of device 0:0. */
static bool
maps_others(FILE *file, const struct devices *devices)
{
	char *line = NULL;
	size_t size = 0;
	unsigned major, minor;
	bool found = false;

	while (!found && getline(&line, &size, file) > 0)
		found = sscanf(line, "%*x-%*x %*s %*x %x:%x", &major, &minor) ==
			2 &&
		    (major != 0 || minor != 0) && !has(devices, major, minor);
	free(line);
	return found;
}

bool
mu_maps_served_files(pid_t pid)
{
	struct devices local = { .count = 0 };
	FILE *file = open_file(pid, "mountinfo");
	bool found;

	if (file == NULL)
		return true;
	add_memory(&local);
	add_mounts(&local, file);
	fclose(file);
	file = open_file(pid, "maps");
	if (file == NULL)
		return true;
	found = maps_others(file, &local);
	fclose(file);
	return found;
}

/*
 * Of a thread that sleeps interruptibly: -1 for a fault of a page. Who opens or
 * reads a file of FUSE does, for a signal may still take the request back
 * (request_wait_answer() in fs/fuse/dev.c).
 */
static bool
reads_file(long number)
{
	static const long calls[] = { -1, SYS_openat, SYS_pread64, SYS_mmap,
		SYS_newfstatat, SYS_fstat, SYS_statx, SYS_readlinkat,
		SYS_getdents64 };
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (number == calls[i])
			return true;
	return false;
}

bool
mu_waits_for_file(pid_t pid)
{
	int state = mu_proc_state(pid, pid);
	FILE *file;
	long number;
	bool reads;

	if (state != 'S')
		return state == 'D';
	file = open_file(pid, "syscall");
	if (file == NULL)
		return false;
	/* "running" is no number. */
	reads = fscanf(file, "%ld", &number) == 1 && reads_file(number);
	fclose(file);
	return reads;
}
