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

#include "mu/status.h"

/*
 * MU_PARTIAL, with the reason, if a process other than EXCEPT (0: none) shares
 * the memory of PID, or may share it; else MU_OK. One that shares it only
 * briefly does not count: a child of vfork() or posix_spawn() soon executes
 * another program, and its parent cannot be stopped before that. Reads all of
 * /proc, 1.5 us per process.
 *
 * kcmp() tells. Without it (CONFIG_KCMP), for processes of another user, and
 * under a seccomp filter, which might kill the caller for it, files of /proc
 * tell, 20 us per process: one that began with the same stack (which is not
 * shown of another user's) and has as many pages of each kind shares the
 * memory, or is a fork. A bit of coredump_filter, which belongs to the memory,
 * is then changed for some microseconds to see whether it changes for both; a
 * child that is forked just then keeps it.
 */
enum mu_status mu_sharer_note(pid_t pid, pid_t except, struct mu_why *why);

/*
 * True if no other thread and no other process shares the calling thread's
 * memory. unshare() of memory that is not shared succeeds and changes nothing
 * (check_unshare_flags() in kernel/fork.c). A seccomp filter may kill for it.
 *
 * Runs in: original.
 */
bool mu_sharer_none(void);

#endif
