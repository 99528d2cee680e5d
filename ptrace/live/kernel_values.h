/*
 * Pointers whose only copy is in the kernel: epoll_event.data, sigev_value of
 * POSIX timers.
 *
 * Runs in: collector.
 */
#ifndef PTRACE_LIVE_KERNEL_VALUES_H
#define PTRACE_LIVE_KERNEL_VALUES_H

#include "ptrace/live/registers.h"

/*
 * Parse the lines "tfd: ... data: <hex> ..." of an epoll fdinfo. Pure. Values
 * that cannot be addresses and lines of another form are skipped. Returns false
 * if memory is exhausted.
 */
bool mu_kernel_values_parse_epoll(
    const char *text, size_t length, struct mu_words *words);

/* Parse the lines "signal: <n>/<hex>" of /proc/PID/timers, in the same way. */
bool mu_kernel_values_parse_timers(
    const char *text, size_t length, struct mu_words *words);

/*
 * The folder fd and the file timers of /proc/PID, or -errno. They are opened
 * before the threads are stopped, because looking up the path takes longer than
 * the reading.
 */
struct mu_kernel_files {
	int folder, timers;
	int ours; /* a new descriptor, not in any epoll set, if FOLDER is that
		     of the caller's own table or of an equal one; or -1 */
};

/*
 * PID may be any thread of the process, but not a leader that has ended: a
 * zombie has no descriptors.
 */
void mu_kernel_files_open(struct mu_kernel_files *files, pid_t pid);
void mu_kernel_files_close(struct mu_kernel_files *files);

/*
 * Add all kernel values of PID. If the kernel does not have the files, that is
 * not an error. If they cannot be read, it is: blocks that only these values
 * refer to would be reported as leaks. A descriptor that is not an epoll set
 * costs one readlink(), 3 us, or where FILES->ours is set one epoll_ctl(), 0.2
 * us. FILES are those of PID, open, and not read before.
 */
enum mu_status mu_kernel_values_read(const struct mu_kernel_files *files,
    pid_t pid, struct mu_words *words, struct mu_why *why);

#endif
