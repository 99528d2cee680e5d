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
#include <stdint.h>
#include <sys/types.h>

/*
 * True if the table of descriptors of process PID holds record locks, or if
 * that cannot be found out, or not by END_NS (CLOCK_MONOTONIC). Takes some
 * microseconds for each descriptor.
 */
bool mu_record_locks_held(pid_t pid, uint64_t end_ns);

/* The same for TEXT, the file /proc/PID/fdinfo/FD up to END. Pure. */
bool mu_record_locks_in(const char *text, const char *end);

#endif
