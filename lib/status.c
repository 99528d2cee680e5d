/*
 * Names of statuses, and the sentence that goes with a failure.
 *
 * Runs in: any. Uses no malloc, no errno, no libc lock.
 */
#include "mu/status.h"

#include <errno.h>
#include <stdarg.h>

#include "mu/text.h"

static const char *const names[MU_STATUS_COUNT] = {
	[MU_OK] = "complete",
	[MU_PARTIAL] = "partial",
	[MU_ERR_ARGUMENT] = "bad argument",
	[MU_ERR_BUSY] = "busy",
	[MU_ERR_TIMEOUT] = "timed out",
	[MU_ERR_NO_MEMORY] = "out of memory",
	[MU_ERR_RESOURCES] = "out of descriptors or processes",
	[MU_ERR_PTRACE_YAMA] = "ptrace refused by Yama",
	[MU_ERR_PTRACE_SECCOMP] = "ptrace refused by seccomp",
	[MU_ERR_NOT_DUMPABLE] = "not dumpable",
	[MU_ERR_ALREADY_TRACED] = "already traced",
	[MU_ERR_NO_PERMISSION] = "no permission",
	[MU_ERR_NO_PROC] = "no /proc",
	[MU_ERR_FOREIGN_ALLOCATOR] = "foreign allocator",
	[MU_ERR_HEAP_INCONSISTENT] = "heap inconsistent",
	[MU_ERR_UNKNOWN_GLIBC] = "unknown glibc",
	[MU_ERR_HELPER_DIED] = "helper process died",
	[MU_ERR_TARGET_GONE] = "target gone",
	[MU_ERR_SIGNALS_BLOCKED] = "signals blocked",
};

const char *
mu_status_name(enum mu_status status)
{
	if ((unsigned)status >= MU_STATUS_COUNT)
		return "unknown status";
	return names[status];
}

enum mu_status
mu_why(struct mu_why *why, enum mu_status status, const char *format, ...)
{
	va_list args;

	if (why != NULL) {
		va_start(args, format);
		mu_text_vformat(why->words, sizeof(why->words), format, args);
		va_end(args);
	}
	return status;
}

enum mu_status
mu_status_from_errno(int error)
{
	switch (error) {
	case 0:
		return MU_OK;
	case ENOMEM:
		return MU_ERR_NO_MEMORY;
	case EMFILE:
	case ENFILE:
	case EAGAIN: /* clone: RLIMIT_NPROC, pids cgroup */
		return MU_ERR_RESOURCES;
	case EPERM:
	case EACCES:
		return MU_ERR_NO_PERMISSION;
	case ESRCH:
		return MU_ERR_TARGET_GONE;
	case ETIMEDOUT:
		return MU_ERR_TIMEOUT;
	case EBUSY:
		return MU_ERR_BUSY;
	case ENOENT:
		return MU_ERR_NO_PROC;
	case EINVAL:
		return MU_ERR_ARGUMENT;
	default:
		return MU_ERR_RESOURCES;
	}
}
