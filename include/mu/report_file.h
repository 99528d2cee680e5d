/*
 * The file that a report is written to: which owners are accepted, and how it
 * is written.
 *
 * A name under /tmp is predictable, so another user can put something there
 * first: a FIFO without a reader, a link, a file that they can read. It is
 * neither waited for nor written to.
 *
 * Runs in: any.
 */
#ifndef MU_REPORT_FILE_H
#define MU_REPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Why what STATUS describes takes no report, in words of static storage; NULL:
 * it may. A regular file may that is ours (effective user id) or root's, has
 * one name, and cannot be written to by group or others; a FIFO that is ours
 * and cannot be written to by them; a character device (/dev/null, a terminal)
 * that is ours or root's.
 */
const char *mu_report_file_fault(const struct stat *status);

/*
 * Open NAME for writing, or create it with mode 0600 whatever the umask is. No
 * symbolic link is followed, nothing is waited for, and nothing is truncated;
 * a file of ours gets mode 0600. FLAGS: O_APPEND or 0. Returns a descriptor
 * with O_NONBLOCK, which the caller closes, or -1 with the reason in *WHY, of
 * static storage.
 */
int mu_report_file_open(const char *name, int flags, const char **why);

/*
 * Write LENGTH bytes of TEXT to FD. A pipe that is full is waited for until
 * DEADLINE_NS (of mu_sys_now_ns()). SIGPIPE and SIGXFSZ are not raised. Returns
 * 0, or an errno value: ETIMEDOUT behind the deadline.
 */
int mu_report_file_write(
    int fd, const char *text, size_t length, uint64_t deadline_ns);

/* Wait until FD accepts bytes; false if it does not before DEADLINE_NS. */
bool mu_report_file_ready(int fd, uint64_t deadline_ns);

/* Errors of files in words; strerror() belongs to libc, which locks. */
const char *mu_report_file_reason(int error);

#endif
