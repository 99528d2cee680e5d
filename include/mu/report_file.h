/*
 * Open and write the file of a report, and check who owns it.
 *
 * A name under /tmp is predictable, so another user can put something there
 * first: a FIFO without a reader, a link, a file that they can read. Such a
 * file is neither waited for nor written to.
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
 * The reason why a file with STATUS is not accepted for a report, a static
 * string; NULL if it is accepted. Accepted are: a regular file owned by us
 * (effective user id) or root that has one name and that group and others
 * cannot write to; a FIFO owned by us that group and others cannot write to; a
 * character device (/dev/null, a terminal) owned by us or root.
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
 * Write LENGTH bytes of TEXT to FD. Waits for a full pipe until DEADLINE_NS (of
 * mu_sys_now_ns()). SIGPIPE and SIGXFSZ are not raised. Returns 0 or an errno
 * value: ETIMEDOUT after the deadline.
 */
int mu_report_file_write(
    int fd, const char *text, size_t length, uint64_t deadline_ns);

/*
 * Wait until FD accepts bytes. Returns false if it does not before DEADLINE_NS.
 */
bool mu_report_file_ready(int fd, uint64_t deadline_ns);

/* The text of an errno value. libc's strerror() takes a lock. */
const char *mu_report_file_reason(int error);

#endif
