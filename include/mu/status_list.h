/*
 * All statuses, with their names and what a user can do about them.
 *
 * X(ID, PUBLIC, WORD, NAME, CURE, COMMAND_CURE, ADVICE)
 *
 * ID			MU_ID of enum mu_status; the place in this list is its
 *			value, so a new status goes to the end
 * PUBLIC		MEMUNREACHABLE_PUBLIC of the public header, the same
 *			value
 * WORD			in JSON; never changes
 * NAME			in text
 * CURE			what to do if the reason has no remedy, in the
 *			library's terms
 * COMMAND_CURE		the same in terms of the command's options
 * ADVICE		a sentence below the library's report of a failure
 *
 * "" means that there is none, or that it depends on the cause.
 */
#ifndef MU_STATUS_LIST_H
#define MU_STATUS_LIST_H

#define MU_RAISE_LIMITS \
	"raise RLIMIT_NOFILE, RLIMIT_NPROC or the cgroup's pids.max"
#define MU_MORE_MEMORY \
	"allow it more memory (--max-memory, RLIMIT_AS, the cgroup's limit)"
#define MU_ASK_AGAIN "ask again; if it persists, a block was overrun"
/* for a process that ends */
#define MU_OVERRUN \
	"a block was overrun (the recorder's option guard tells which)"
#define MU_ASK_DOCTOR "memunreachable --doctor PID says what is in the way"
#define MU_SEE_PERMISSIONS "See PERMISSIONS in memunreachable(7)."
#define MU_PASS_NEEDS                                                   \
	"A pass needs two short-lived processes, a few descriptors and" \
	" some memory."
#define MU_KNOWN_GLIBC "Only the malloc of a known glibc can be read."

/* clang-format off */
#define MU_STATUS_LIST(X)                                                    \
	X(OK, COMPLETE, complete, "complete", "", "", "")                    \
	/* an answer; the reason says what is missing */                     \
	X(PARTIAL, PARTIAL, partial, "partial", "", "", "")                  \
	/* NULL, a bad version, a bad option */                              \
	X(ERR_ARGUMENT, BAD_ARGUMENT, bad_argument, "bad argument", "", "",  \
	    "Zero the structure before the first call; its version must be"  \
	    " 0.")                                                           \
	/* re-entered, or malloc would not freeze */                         \
	X(ERR_BUSY, BUSY, busy, "busy", "ask again later", "",               \
	    "Ask again later, and not from where malloc may be interrupted.")\
	X(ERR_TIMEOUT, TIMEOUT, timeout, "timed out",                        \
	    "give it more time (option timeout)",                            \
	    "give it more time, such as --timeout=120",                      \
	    "Ask again, or give it longer:"                                  \
	    " MEMUNREACHABLE_OPTIONS=timeout=120.")                          \
	X(ERR_NO_MEMORY, NO_MEMORY, no_memory, "out of memory",              \
	    "raise RLIMIT_AS or the cgroup's limit",                         \
	    MU_MORE_MEMORY, MU_PASS_NEEDS)                                   \
	/* no descriptor, no process */                                      \
	X(ERR_RESOURCES, NO_RESOURCES, no_resources,                         \
	    "out of descriptors or processes", MU_RAISE_LIMITS,              \
	    MU_RAISE_LIMITS, MU_PASS_NEEDS)                                  \
	X(ERR_PTRACE_YAMA, PTRACE_YAMA, ptrace_yama,                         \
	    "ptrace refused by Yama", "", MU_ASK_DOCTOR, MU_SEE_PERMISSIONS) \
	X(ERR_PTRACE_SECCOMP, PTRACE_SECCOMP, ptrace_seccomp,                \
	    "ptrace refused by seccomp", "", MU_ASK_DOCTOR,                  \
	    MU_SEE_PERMISSIONS)                                              \
	X(ERR_NOT_DUMPABLE, NOT_DUMPABLE, not_dumpable, "not dumpable", "",  \
	    MU_ASK_DOCTOR, MU_SEE_PERMISSIONS)                               \
	X(ERR_ALREADY_TRACED, ALREADY_TRACED, already_traced,                \
	    "already traced", "", MU_ASK_DOCTOR, MU_SEE_PERMISSIONS)         \
	X(ERR_NO_PERMISSION, NO_PERMISSION, no_permission, "no permission",  \
	    "", MU_ASK_DOCTOR, MU_SEE_PERMISSIONS)                           \
	X(ERR_NO_PROC, NO_PROC, no_proc, "no /proc", "", MU_ASK_DOCTOR,      \
	    MU_SEE_PERMISSIONS)                                              \
	X(ERR_FOREIGN_ALLOCATOR, FOREIGN_ALLOCATOR, foreign_allocator,       \
	    "foreign allocator", "", "", MU_KNOWN_GLIBC)                     \
	/* may be gone a moment later: retry */                              \
	X(ERR_HEAP_INCONSISTENT, HEAP_INCONSISTENT, heap_inconsistent,       \
	    "heap inconsistent", MU_ASK_AGAIN, MU_ASK_AGAIN,                 \
	    "Ask again; if it persists, look for a heap overflow.")          \
	X(ERR_UNKNOWN_GLIBC, UNKNOWN_GLIBC, unknown_glibc, "unknown glibc",  \
	    "", "", MU_KNOWN_GLIBC)                                          \
	/* collector or sweeper */                                           \
	X(ERR_HELPER_DIED, HELPER_DIED, helper_died, "helper process died",  \
	    "", "", "")                                                      \
	X(ERR_TARGET_GONE, TARGET_GONE, target_gone, "target gone", "", "",  \
	    "")                                                              \
	/* a thread blocks them: it cannot be stopped so */                  \
	X(ERR_SIGNALS_BLOCKED, SIGNALS_BLOCKED, signals_blocked,             \
	    "signals blocked", "", "", "")
/* clang-format on */

#endif
