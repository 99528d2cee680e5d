/*
 * Names of statuses, and the sentence that goes with a failure.
 *
 * Runs in: any.
 */
#include "mu/status.h"

#include <errno.h>
#include <signal.h>
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

const char *
mu_status_cure(enum mu_status status)
{
	switch (status) {
	case MU_ERR_BUSY:
		return "ask again later";
	case MU_ERR_TIMEOUT:
		return "give it more time (option timeout)";
	case MU_ERR_NO_MEMORY:
		return "raise RLIMIT_AS or the cgroup's limit";
	case MU_ERR_RESOURCES:
		return "raise RLIMIT_NOFILE, RLIMIT_NPROC or the cgroup's"
		       " pids.max";
	case MU_ERR_HEAP_INCONSISTENT:
		return "ask again; if it stays so, a block was overrun";
	default:
		return "";
	}
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

/*
 * With every signal blocked a helper dies of SIGKILL or of what the kernel
 * forces on it: a fault, a filter, a debugger's breakpoint.
 */
static const char *
signal_words(int signo)
{
	switch (signo) {
	case SIGKILL:
		return " (SIGKILL); was memory short?";
	case SIGSYS:
		return " (SIGSYS); by a seccomp filter?";
	case SIGTRAP:
		return " (SIGTRAP); a breakpoint?";
	case SIGSEGV:
		return " (SIGSEGV)";
	case SIGBUS:
		return " (SIGBUS)";
	case SIGILL:
		return " (SIGILL)";
	default:
		return "";
	}
}

enum mu_status
mu_why_died(struct mu_why *why, const char *who, int wait_status)
{
	int signo = wait_status & 0x7f;

	if (wait_status < 0)
		return mu_why(why, MU_ERR_HELPER_DIED, "%s died", who);
	if (signo == 0)
		return mu_why(why, MU_ERR_HELPER_DIED,
		    "%s ended with exit status %d", who,
		    wait_status >> 8 & 0xff);
	return mu_why(why, MU_ERR_HELPER_DIED, "%s was killed by signal %d%s",
	    who, signo, signal_words(signo));
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
