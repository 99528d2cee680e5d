/*
 * Empty a process's own copy of the descriptor table: see descriptors.h.
 *
 * Runs in: collector. Uses no malloc, no errno, no libc lock.
 */
#include "lib/descriptors.h"

#include <string.h>

#include "mu/sort.h"
#include "mu/sys.h"

#define MAX_KEEP 8

struct dirent64 {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

static int
compare(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) -
	    (*(const int *)a < *(const int *)b);
}

static bool
kept(int fd, const int *keep, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (keep[i] == fd)
			return true;
	return false;
}

static int
to_number(const char *name)
{
	int fd = 0;

	if (*name < '0' || *name > '9')
		return -1;
	for (; *name >= '0' && *name <= '9'; name++)
		fd = fd * 10 + (*name - '0');
	return fd;
}

/* One read of the directory; true if it closed something. */
static bool
close_some(int dir, const int *keep, size_t count)
{
	char buffer[4096] __attribute__((aligned(8))) = "";
	bool closed = false;
	long n, at;
	int fd;

	while ((n = mu_sys3(
		    SYS_getdents64, dir, (long)buffer, sizeof(buffer))) > 0)
		for (at = 0; at < n;) {
			struct dirent64 *entry = (void *)(buffer + at);

			at += entry->length;
			fd = to_number(entry->name);
			if (fd < 0 || fd == dir || kept(fd, keep, count))
				continue;
			closed |= mu_sys1(SYS_close, fd) == 0;
		}
	return closed;
}

/* Before Linux 5.9: what /proc/self/fd lists, until it lists nothing new. */
static void
close_listed(const int *keep, size_t count)
{
	int dir =
	    mu_sys_open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (dir < 0)
		return;
	while (close_some(dir, keep, count))
		mu_sys3(SYS_lseek, dir, 0, 0);
	mu_sys_close(&dir);
}

void
mu_descriptors_close_but(const int *keep, size_t count)
{
	int sorted[MAX_KEEP];
	unsigned from = 0;
	size_t i;

	if (count > MAX_KEEP)
		count = MAX_KEEP;
	memcpy(sorted, keep, count * sizeof(*keep));
	mu_sort(sorted, count, sizeof(*sorted), compare);
	for (i = 0; i < count; i++) {
		if (sorted[i] < 0)
			continue;
		if (from < (unsigned)sorted[i] &&
		    mu_sys3(SYS_close_range, from, sorted[i] - 1, 0) < 0) {
			close_listed(keep, count);
			return;
		}
		from = (unsigned)sorted[i] + 1;
	}
	if (mu_sys3(SYS_close_range, from, ~0u, 0) < 0)
		close_listed(keep, count);
}
