/*
 * How long copying takes: see lib/copy_pause.h.
 *
 * Runs in: keeper, the command. Uses no malloc, no errno, no libc lock.
 */
#include "lib/copy_pause.h"

#include "mu/procfs.h"
#include "mu/text.h"
#include "ptrace/proc.h"

/* From here on the kernel is asked, which goes through all pages for that. */
#define MUCH ((uint64_t)1 << 30)

static uint64_t
bytes_of(const char *status, const char *key)
{
	int64_t kilobytes = mu_proc_status_number(status, key, 0, 10);

	return kilobytes > 0 ? (uint64_t)kilobytes << 10 : 0;
}

uint64_t
mu_copy_pause_ns(size_t threads, size_t mappings, uint64_t small)
{
	return 1000000 + threads * 50000 + mappings * 4500 + small / 16;
}

uint64_t
mu_copy_pause_of(
    pid_t pid, size_t threads, size_t mappings, struct mu_forked *forked)
{
	char path[32], status[MU_PROC_STATUS_SIZE];

	*forked = (struct mu_forked) { 0 };
	mu_text_format(path, sizeof(path), "/proc/%d/status", pid);
	if (mu_procfs_read(path, status, sizeof(status)) > 0)
		forked->small = bytes_of(status, "\nRssAnon:") +
		    bytes_of(status, "\nVmSwap:");
	if (forked->small >= MUCH)
		mu_forked_find(forked, pid);
	return mu_copy_pause_ns(threads, mappings, forked->small);
}
