#include "lib/helpers/descriptors.h"

#include <string.h>

#include "mu/procfs.h"
#include "mu/sort.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

#define MAX_KEEP 8

struct emptying {
	int dir; /* of /proc/self/fd: closed last */
	const int *keep;
	size_t count;
	bool closed_some;
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

static bool
close_one(void *ctx, int fd)
{
	struct emptying *emptying = ctx;

	if (fd != emptying->dir && !kept(fd, emptying->keep, emptying->count))
		emptying->closed_some |= mu_sys1(SYS_close, fd) == 0;
	return true;
}

/*
 * Before Linux 5.9: close what /proc/self/fd lists, until it lists nothing new.
 */
static void
close_listed(const int *keep, size_t count)
{
	struct emptying emptying = { .keep = keep, .count = count };

	emptying.dir = mu_procfs_open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
	if (emptying.dir < 0)
		return;
	do {
		emptying.closed_some = false;
		mu_sys3(SYS_lseek, emptying.dir, 0, 0);
		mu_proc_numbers_in(emptying.dir, close_one, &emptying);
	} while (emptying.closed_some);
	mu_sys_close(&emptying.dir);
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
