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
 * Lines "tfd: ... data: <hex> ..." of an epoll fdinfo. Pure. Values that are
 * no plausible addresses are left out, as are lines that are not understood.
 * False: no memory.
 */
bool mu_kernel_values_parse_epoll(
    const char *text, size_t length, struct mu_words *words);

/* Lines "signal: <n>/<hex>" of /proc/PID/timers; otherwise as above. */
bool mu_kernel_values_parse_timers(
    const char *text, size_t length, struct mu_words *words);

/*
 * Of /proc/PID: the folder fd and the file timers, opened before the threads
 * are stopped, as a path takes longer to look up than what is there to read.
 * Or -errno.
 */
struct mu_kernel_files {
	int folder, timers;
};

/*
 * PID may be any of the process's threads, and must not be a leader that has
 * ended: a zombie has no descriptors.
 */
void mu_kernel_files_open(struct mu_kernel_files *files, pid_t pid);
void mu_kernel_files_close(struct mu_kernel_files *files);

/*
 * Add all of PID's. A kernel without the files is not an error; whatever else
 * keeps us from reading them is, for a block that only they refer to would be
 * taken for lost. Descriptors that are no epoll sets cost one
 * readlink each. FILES: of PID, nothing read of them yet, and not closed.
 */
enum mu_status mu_kernel_values_read(const struct mu_kernel_files *files,
    pid_t pid, struct mu_words *words, struct mu_why *why);

#endif
