/*
 * Compare the rights of a tracer with those of its tracee.
 *
 * In an execve() of a traced process the kernel honours the set-user-ID bit and
 * file capabilities only if the tracer may trace the result (ptracer_capable in
 * kernel/ptrace.c). So a tracer without capabilities does not change the
 * result, but one with capabilities could give the process a privileged program
 * that has a tracer.
 *
 * Runs in: keeper, the command.
 */
#ifndef PTRACE_LIVE_RIGHTS_H
#define PTRACE_LIVE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A status file has the line "Groups": 11 KB for 1000 groups. */
#define MU_RIGHTS_STATUS_SIZE ((size_t)16 << 10)

/* Permitted capabilities of the calling thread. */
uint64_t mu_rights_own(void);

/*
 * True if the calling thread has a capability that process PID does not have,
 * or has capabilities and belongs to another user or user namespace; also if
 * that is not known. STATUS is the terminated text of PID's status file.
 */
bool mu_rights_exceed(pid_t pid, const char *status);

#endif
