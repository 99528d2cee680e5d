/*
 * A process that shares the memory of another without being a thread of it:
 * started by clone() with CLONE_VM, and not with CLONE_THREAD. A stop of the
 * other does not stop it, and its registers and its live stack are unknown.
 *
 * Runs in: sweeper, the command.
 */
#ifndef PTRACE_LIVE_SHARER_H
#define PTRACE_LIVE_SHARER_H

#include <stdbool.h>
#include <sys/types.h>

/* What a report says of one. */
#define MU_SHARER_WORDS                                                  \
	"process %d shares the memory (CLONE_VM), and its registers and" \
	" stack were not searched: what only they refer to may be among" \
	" these"

/*
 * One that shares the memory of PID, other than EXCEPT (0: none), or 0. Only
 * one that lasts: what vfork() and posix_spawn() start is another program soon,
 * and its parent cannot be stopped before. All of /proc is gone through, 1.5 us
 * a process.
 *
 * 0 also where it cannot be known: without kcmp() (CONFIG_KCMP), and under a
 * seccomp filter, which may kill the caller for it.
 */
pid_t mu_sharer_find(pid_t pid, pid_t except);

/*
 * Is the calling thread alone in its memory: no other thread, no other process?
 * unshare() of memory that is not shared succeeds and changes nothing
 * (check_unshare_flags() in kernel/fork.c). A seccomp filter may kill for it.
 *
 * Runs in: original.
 */
bool mu_sharer_none(void);

#endif
