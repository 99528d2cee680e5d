/*
 * The log of a pass: see mu/log.h.
 *
 * Runs in: any. Uses no malloc, no errno, no libc lock.
 */
#include "mu/log.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include "mu/sys.h"
#include "mu/text.h"

#define LINE_SIZE 1024
#define PREFIX "libmemunreachable: "

/*
 * A reader that has stopped reading must not stop the program: it may be the
 * program that waits for it. A pipe that polls as writable takes PIPE_BUF
 * bytes without blocking (pipe(7)).
 */
static bool
can_write(int fd, uint64_t deadline_ns)
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
	while (n == -EINTR); /* ppoll() has taken off what has passed */
	/* ppoll() refuses even one descriptor where RLIMIT_NOFILE is 0. */
	return n != 0;
}

/*
 * write() that kills nobody: SIGPIPE, where the reader is gone, and SIGXFSZ,
 * where the file may grow no further, go to the thread that writes, and we take
 * the one that we caused.
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

static void
write_all(const struct mu_log *log, const char *text, size_t length)
{
	ssize_t n;

	while (length > 0 && can_write(log->fd, log->deadline_ns)) {
		n = write_unharmed(
		    log->fd, text, length < PIPE_BUF ? length : PIPE_BUF);
		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n <= 0)
			return; /* a log that cannot be written ends the log,
				   not the pass */
		text += n;
		length -= (size_t)n;
	}
}

/* RFC 3164: facility user (1), severity err 3, warning 4, info 6, debug 7. */
static void
write_syslog(const struct mu_log *log, enum mu_log_level level,
    const char *text, size_t length)
{
	static const int severity[] = { 3, 4, 6, 7 };
	char datagram[LINE_SIZE + 32];
	size_t used;
	long n;

	used = mu_text_format(datagram, sizeof(datagram),
	    "<%d>libmemunreachable: ", 8 + severity[level]);
	if (length > sizeof(datagram) - used)
		length = sizeof(datagram) - used;
	memcpy(datagram + used, text, length);
	/* The queue of /dev/log is short: ten datagrams (max_dgram_qlen). */
	while (can_write(log->syslog_fd, log->deadline_ns)) {
		n = mu_syscall6(SYS_sendto, log->syslog_fd, (long)datagram,
		    (long)(used + length), MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
		if (n != -EINTR && n != -EAGAIN)
			break;
		if (mu_sys_now_ns() >= log->deadline_ns)
			break;
	}
}

static void
syslog_lines(const struct mu_log *log, enum mu_log_level level,
    const char *text, size_t length)
{
	const char *end;
	size_t line;

	while (length > 0) {
		end = memchr(text, '\n', length);
		line = end == NULL ? length : (size_t)(end - text);
		if (line > 0)
			write_syslog(log, level, text, line);
		if (end == NULL)
			return;
		text += line + 1;
		length -= line + 1;
	}
}

void
mu_log(
    const struct mu_log *log, enum mu_log_level level, const char *format, ...)
{
	char line[LINE_SIZE] = PREFIX;
	size_t used = sizeof(PREFIX) - 1;
	va_list args;

	if (log == NULL || log->silent || level > log->level)
		return;
	va_start(args, format);
	used +=
	    mu_text_vformat(line + used, sizeof(line) - used - 1, format, args);
	va_end(args);
	if (used > sizeof(line) - 2)
		used = sizeof(line) - 2;
	line[used++] = '\n';
	if (log->fd >= 0)
		write_all(log, line, used);
	if (log->syslog_fd >= 0)
		write_syslog(log, level, line + sizeof(PREFIX) - 1,
		    used - sizeof(PREFIX));
}

void
mu_log_text(const struct mu_log *log, enum mu_log_level level, const char *text,
    size_t length)
{
	if (log == NULL || log->silent || level > log->level)
		return;
	if (log->fd >= 0)
		write_all(log, text, length);
	if (log->syslog_fd >= 0)
		syslog_lines(log, level, text, length);
}
