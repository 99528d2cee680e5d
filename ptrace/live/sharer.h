/*
 * Find a process that shares the memory of another without being a thread of
 * it: started by clone() with CLONE_VM but without CLONE_THREAD. A stop of the
 * other process does not stop it, and its registers and its live stack are not
 * known.
 *
 * Runs in: sweeper, the command.
 */
#ifndef PTRACE_LIVE_SHARER_H
#define PTRACE_LIVE_SHARER_H

#include <stdbool.h>
#include <sys/types.h>

/* Text of the report. */
#define MU_SHARER_WORDS                                                  \
	"process %d shares the memory (CLONE_VM), and its registers and" \
	" stack were not searched: what only they refer to may be among" \
	" these"

/*
 * A process that shares the memory of PID, other than EXCEPT (0: none), or 0.
 * One that shares it only briefly does not count: a child of vfork() or
 * posix_spawn() soon executes another program, and its parent cannot be stopped
 * before that. Reads all of /proc, 1.5 us per process.
 *
 * Also 0 if it cannot be known: without kcmp() (CONFIG_KCMP), and under a
 * seccomp filter, which might kill the caller for it.
 */
pid_t mu_sharer_find(pid_t pid, pid_t except);

/*
 * True if no other thread and no other process shares the calling thread's
 * memory. unshare() of memory that is not shared succeeds and changes nothing
 * (check_unshare_flags() in kernel/fork.c). A seccomp filter may kill for it.
 *
 * Runs in: original.
 */
bool mu_sharer_none(void);

#endif
