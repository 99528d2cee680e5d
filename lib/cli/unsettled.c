/*
 * Threads that may be in malloc: see unsettled.h.
 *
 * Runs in: the command.
 */
#include "lib/cli/unsettled.h"

#include <sys/syscall.h>

/* What malloc and free call the kernel for; a lock they wait for is seen. */
static bool
is_of_malloc(long call)
{
	static const long calls[] = { SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap,
		SYS_mprotect, SYS_madvise };
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i] == call)
			return true;
	return false;
}

bool
mu_unsettled(const struct mu_snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->num_threads; i++)
		if (snap->threads[i].call < 0 ||
		    is_of_malloc(snap->threads[i].call))
			return true;
	return false;
}
