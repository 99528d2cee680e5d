#include "lib/helpers/copy_pause.h"

#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

#define CPU_BITS 8192 /* more than any kernel supports (NR_CPUS) */

/*
 * The fork runs in a thread of the process, which shares the CPUs with all
 * runnable tasks. Their number, with ours, is in /proc/loadavg: 7 in "4.91 3.14
 * 2.68 7/512 4711".
 */
static unsigned
rivals_of_fork(void)
{
	uint64_t mask[CPU_BITS / 64] = { 0 }, running = 1;
	unsigned cpus = 0, rivals, i;
	char text[128];
	const char *at = text;
	ssize_t length;

	mu_sys3(SYS_sched_getaffinity, 0, (long)sizeof(mask), (long)mask);
	for (i = 0; i < sizeof(mask) / sizeof(mask[0]); i++)
		cpus += (unsigned)__builtin_popcountll(mask[i]);
	length = mu_procfs_read("/proc/loadavg", text, sizeof(text));
	for (i = 0; i < 3 && length > 0 && at != NULL; i++) {
		at = strchr(at, ' ');
		at = at != NULL ? at + 1 : NULL;
	}
	if (length <= 0 || at == NULL || cpus == 0 ||
	    !mu_proc_number(&at, text + length, 10, &running))
		return 1;
	rivals = (unsigned)(running < 1000 ? running : 1000) / cpus;
	return rivals < 1             ? 1
	    : rivals > MU_COPY_RIVALS ? MU_COPY_RIVALS
				      : rivals;
}

uint64_t
mu_copy_pause_ns(size_t threads, size_t mappings, uint64_t small)
{
	return 1000000 + threads * 50000 + mappings * 4500 + small / 16;
}

uint64_t
mu_copy_pause_now(size_t threads, size_t mappings, uint64_t small, bool lent)
{
	return mu_copy_pause_ns(
	    threads, mappings, small * (lent ? 1 : rivals_of_fork()));
}

uint64_t
mu_copy_pause_of(pid_t pid, size_t threads, size_t mappings, bool lent,
    struct mu_forked *forked)
{
	char status[MU_PROC_STATUS_SIZE];

	*forked = (struct mu_forked) { 0 };
	if (mu_proc_status_read(pid, 0, status, sizeof(status)) > 0)
		forked->small = mu_proc_status_bytes(status, "\nRssAnon:") +
		    mu_proc_status_bytes(status, "\nVmSwap:");
	mu_forked_find(forked, pid);
	return mu_copy_pause_now(threads, mappings,
	    forked->small + forked->files / MU_COPY_FILES, lent);
}
