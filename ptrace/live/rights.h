/*
 * Rights that a tracer has and its tracee has not.
 *
 * The kernel honours the set-user-ID bit and file capabilities in an execve()
 * of a traced process only if the tracer may trace the result (ptracer_capable
 * in kernel/ptrace.c). So a tracer without capabilities gives a process
 * nothing, and one with them may give it a privileged program that obeys a
 * tracer.
 *
 * Runs in: keeper, the command.
 */
#ifndef PTRACE_LIVE_RIGHTS_H
#define PTRACE_LIVE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A status file has a line of all groups: of 1000 it is 11 KB long. */
#define MU_RIGHTS_STATUS_SIZE ((size_t)16 << 10)

/* Permitted capabilities of the calling thread. */
uint64_t mu_rights_own(void);

/*
 * Has the calling thread a capability that process PID has not, or, with
 * capabilities, another user or user namespace? STATUS is the terminated text
 * of PID's status file. True also where that is not known.
 */
bool mu_rights_exceed(pid_t pid, const char *status);

#endif
