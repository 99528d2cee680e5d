#include "lib/writers/status_word.h"

#include "memunreachable/memunreachable.h"
#include "mu/status.h"

static const char *const words[MU_STATUS_COUNT] = {
	[MEMUNREACHABLE_COMPLETE] = "complete",
	[MEMUNREACHABLE_PARTIAL] = "partial",
	[MEMUNREACHABLE_BAD_ARGUMENT] = "bad_argument",
	[MEMUNREACHABLE_BUSY] = "busy",
	[MEMUNREACHABLE_TIMEOUT] = "timeout",
	[MEMUNREACHABLE_NO_MEMORY] = "no_memory",
	[MEMUNREACHABLE_NO_RESOURCES] = "no_resources",
	[MEMUNREACHABLE_PTRACE_YAMA] = "ptrace_yama",
	[MEMUNREACHABLE_PTRACE_SECCOMP] = "ptrace_seccomp",
	[MEMUNREACHABLE_NOT_DUMPABLE] = "not_dumpable",
	[MEMUNREACHABLE_ALREADY_TRACED] = "already_traced",
	[MEMUNREACHABLE_NO_PERMISSION] = "no_permission",
	[MEMUNREACHABLE_NO_PROC] = "no_proc",
	[MEMUNREACHABLE_FOREIGN_ALLOCATOR] = "foreign_allocator",
	[MEMUNREACHABLE_HEAP_INCONSISTENT] = "heap_inconsistent",
	[MEMUNREACHABLE_UNKNOWN_GLIBC] = "unknown_glibc",
	[MEMUNREACHABLE_HELPER_DIED] = "helper_died",
	[MEMUNREACHABLE_TARGET_GONE] = "target_gone",
	[MEMUNREACHABLE_SIGNALS_BLOCKED] = "signals_blocked",
};

const char *
mu_status_word(int status)
{
	if ((unsigned)status >= MU_STATUS_COUNT || words[status] == NULL)
		return "unknown";
	return words[status];
}

const char *
mu_status_word_cure(int status)
{
	switch (status) {
	case MEMUNREACHABLE_TIMEOUT:
		return "give it more time, such as --timeout=120";
	case MEMUNREACHABLE_NO_MEMORY:
		return "allow it more memory (--max-memory, RLIMIT_AS, the"
		       " cgroup's limit)";
	case MEMUNREACHABLE_NO_RESOURCES:
		return "raise RLIMIT_NOFILE, RLIMIT_NPROC or the cgroup's"
		       " pids.max";
	case MEMUNREACHABLE_PTRACE_YAMA:
	case MEMUNREACHABLE_PTRACE_SECCOMP:
	case MEMUNREACHABLE_NOT_DUMPABLE:
	case MEMUNREACHABLE_ALREADY_TRACED:
	case MEMUNREACHABLE_NO_PERMISSION:
	case MEMUNREACHABLE_NO_PROC:
		return "memunreachable --doctor PID says what is in the way";
	case MEMUNREACHABLE_HEAP_INCONSISTENT:
		return "ask again; if it stays so, a block was overrun";
	default:
		return "";
	}
}
