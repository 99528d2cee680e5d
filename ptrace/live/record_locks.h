/*
 * Record locks (fcntl(2), F_SETLK): they belong to a process's table of
 * descriptors.
 *
 * Runs in: keeper.
 */
#ifndef PTRACE_LIVE_RECORD_LOCKS_H
#define PTRACE_LIVE_RECORD_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* True if process PID holds record locks, or if /proc/locks cannot be read. */
bool mu_record_locks_held(pid_t pid);

/* The same for TEXT, whole lines of /proc/locks up to END. Pure. */
bool mu_record_locks_in(const char *text, const char *end, pid_t pid);

#endif
