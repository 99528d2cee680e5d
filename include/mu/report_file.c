#include "include/mu/report_file.h"

#include <limits.h>

#include "mu/sys.h"

#define MODE 0600
#define TRIES 4 /* if others keep creating and removing the name */

static const char others_file[] =
    "it belongs to another user; remove it or choose another name";

const char *
mu_report_file_fault(const struct stat *status)
{
	uid_t user = (uid_t)mu_sys0(SYS_geteuid);
	bool ours = status->st_uid == user;

	switch (status->st_mode & S_IFMT) {
	case S_IFCHR:
		return ours || status->st_uid == 0 ? NULL : others_file;
	case S_IFREG:
		if (!ours && status->st_uid != 0)
			return others_file;
		if (status->st_nlink != 1)
			return "it has another name, too (a hard link); remove"
			       " it or choose another name";
		break;
	case S_IFIFO:
		if (!ours)
			return others_file;
		break;
	case S_IFLNK:
		return mu_report_file_reason(ELOOP);
	case S_IFDIR:
		return mu_report_file_reason(EISDIR);
	default:
		return "it is neither a regular file nor a FIFO";
	}
	if ((status->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return "other users may write to it; remove it or choose"
		       " another name";
	return NULL;
}

static long
stat_of(int fd, struct stat *status)
{
	*status = (struct stat) { 0 };
	return mu_sys4(
	    SYS_newfstatat, fd, (long)"", (long)status, AT_EMPTY_PATH);
}

/*
 * Check the open file, not its name: another file may get the name at any time.
 */
static const char *
fault_of(int fd)
{
	struct stat status;
	long error = stat_of(fd, &status);
	const char *fault;

	if (error < 0)
		return mu_report_file_reason((int)-error);
	fault = mu_report_file_fault(&status);
	if (fault == NULL && S_ISREG(status.st_mode) &&
	    (status.st_mode & 07777) != MODE &&
	    status.st_uid == (uid_t)mu_sys0(SYS_geteuid))
		mu_sys2(SYS_fchmod, fd, MODE);
	return fault;
}

/* Create a new file; returns its descriptor or -EEXIST. */
static int
create(const char *name, int flags)
{
	int fd = mu_sys_open(name, flags | O_CREAT | O_EXCL, MODE);

	if (fd >= 0)
		mu_sys2(SYS_fchmod, fd, MODE);
	return fd;
}

/*
 * What the file is explains more than the error of open(), if we do not accept
 * it.
 */
static const char *
why_not(const char *name, int error)
{
	struct stat status = { 0 };
	const char *fault = NULL;

	if (mu_sys4(SYS_newfstatat, AT_FDCWD, (long)name, (long)&status,
		AT_SYMLINK_NOFOLLOW) == 0)
		fault = mu_report_file_fault(&status);
	return fault != NULL ? fault : mu_report_file_reason(error);
}

/*
 * Use O_CREAT only if the name does not exist: with fs.protected_fifos or
 * fs.protected_regular, open() with O_CREAT fails with EACCES, which does not
 * say why.
 */
int
mu_report_file_open(const char *name, int flags, const char **why)
{
	int tries, fd = -ENOENT;

	*why = NULL;
	flags |= O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
	for (tries = 0; tries < TRIES; tries++) {
		fd = mu_sys_open(name, flags, 0);
		if (fd >= 0) {
			*why = fault_of(fd);
			break;
		}
		if (fd != -ENOENT)
			break;
		fd = create(name, flags);
		if (fd != -EEXIST)
			break;
	}
	if (fd < 0)
		*why = why_not(name, -fd);
	if (*why != NULL)
		mu_sys_close(&fd);
	return *why != NULL ? -1 : fd;
}

/*
 * A reader that has stopped reading must not block the program: the reader may
 * itself be waiting for the program. A pipe that polls as writable takes
 * PIPE_BUF bytes without blocking (pipe(7)).
 */
bool
mu_report_file_ready(int fd, uint64_t deadline_ns)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	struct timespec span = { 0, 0 };
	uint64_t now = mu_sys_now_ns();
	long n;

	if (now < deadline_ns)
		span = mu_sys_timespec(deadline_ns - now);
	do
		n = mu_syscall6(
		    SYS_ppoll, (long)&wait, 1, (long)&span, 0, 0, 0);
	while (n == -EINTR); /* ppoll() has subtracted the time that passed */
	/* ppoll() refuses even one descriptor where RLIMIT_NOFILE is 0. */
	return n != 0;
}

/*
 * write() without signals to the program. The kernel sends SIGPIPE (the reader
 * is gone) and SIGXFSZ (the file size limit is reached) to the thread that
 * writes; we block them and take the one that we caused.
 */
static ssize_t
write_unharmed(int fd, const void *text, size_t length)
{
	const mu_sigmask both =
	    (mu_sigmask)1 << (SIGPIPE - 1) | (mu_sigmask)1 << (SIGXFSZ - 1);
	const struct timespec at_once = { 0, 0 };
	mu_sigmask pending = both, old = 0, new;
	bool blocked;
	ssize_t n;

	mu_sys2(SYS_rt_sigpending, (long)&pending, sizeof(pending));
	blocked = mu_sys4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&both,
		      (long)&old, sizeof(old)) == 0;
	n = mu_sys_write(fd, text, length);
	new = both & ~pending;
	if (new != 0 && (n == -EPIPE || n == -EFBIG))
		mu_sys4(SYS_rt_sigtimedwait, (long)&new, 0, (long)&at_once,
		    sizeof(new));
	if (blocked)
		mu_sys_restore_signals(&old);
	return n;
}

int
mu_report_file_write(
    int fd, const char *text, size_t length, uint64_t deadline_ns)
{
	ssize_t n;

	while (length > 0) {
		if (!mu_report_file_ready(fd, deadline_ns))
			return ETIMEDOUT;
		n = write_unharmed(
		    fd, text, length < PIPE_BUF ? length : PIPE_BUF);
		if (n == -EAGAIN && mu_sys_now_ns() >= deadline_ns)
			return ETIMEDOUT;
		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n <= 0)
			return n == 0 ? EIO : (int)-n;
		text += n;
		length -= (size_t)n;
	}
	return 0;
}

const char *
mu_report_file_reason(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "Permission denied";
	case EISDIR:
		return "Is a directory";
	case ELOOP:
		return "it is a symbolic link, and none is followed; name the"
		       " file itself";
	case ENAMETOOLONG:
		return "File name too long";
	case EMFILE:
	case ENFILE:
		return "Too many open files";
	case ENOENT:
		return "No such file or directory";
	case ENOTDIR:
		return "Not a directory";
	case ENXIO:
		return "it is a FIFO that no process has open for reading";
	case ENOSPC:
	case EDQUOT:
		return "No space left on device";
	case EFBIG:
		return "File too large";
	case EPIPE:
		return "Broken pipe";
	case EROFS:
		return "Read-only file system";
	case ETIMEDOUT:
		return "the pipe is full, and its reader does not read";
	default:
		return "Input/output error";
	}
}
