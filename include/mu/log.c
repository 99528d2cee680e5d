/*
 * Runs in: any.
 */
#include "mu/log.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include "include/mu/report_file.h"
#include "mu/sys.h"
#include "mu/text.h"

#define LINE_SIZE 1024
#define PREFIX MU_LOG_PREFIX

/* RFC 3164: facility user (1), severity err 3, warning 4, info 6, debug 7. */
static void
write_syslog(const struct mu_log *log, enum mu_log_level level,
    const char *text, size_t length)
{
	static const int severity[] = { 3, 4, 6, 6, 7 };
	char datagram[LINE_SIZE + 32];
	size_t used;
	long n;

	used = mu_text_format(datagram, sizeof(datagram),
	    "<%d>libmemunreachable: ", 8 + severity[level]);
	if (length > sizeof(datagram) - used)
		length = sizeof(datagram) - used;
	memcpy(datagram + used, text, length);
	/* The queue of /dev/log is short: ten datagrams (max_dgram_qlen). */
	while (mu_report_file_ready(log->syslog_fd, log->deadline_ns)) {
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

/*
 * A log line that cannot be written (the reader has gone, the disk is full) is
 * lost: the program must not suffer.
 */
static void
write_file(const struct mu_log *log, const char *text, size_t length)
{
	int error =
	    mu_report_file_write(log->fd, text, length, log->deadline_ns);

	if (error != 0 && error != EPIPE && error != EBADF &&
	    log->error != NULL && *log->error == 0)
		*log->error = error;
}

static void
write_record(const struct mu_log *log, struct mu_log_record *record)
{
	record->magic = MU_LOG_RECORD_MAGIC;
	record->version = MU_LOG_RECORD_VERSION;
	write_file(log, (const char *)record, sizeof(*record) + record->size);
}

static void
write_text(const struct mu_log *log, const char *text, size_t length)
{
	struct {
		struct mu_log_record head;
		char bytes[LINE_SIZE];
	} record;
	size_t part;

	if (!log->records) {
		write_file(log, text, length);
		return;
	}
	for (; length > 0; text += part, length -= part) {
		part = length < LINE_SIZE ? length : LINE_SIZE;
		record.head.kind = MU_LOG_RECORD_TEXT;
		record.head.size = part;
		memcpy(record.bytes, text, part);
		write_record(log, &record.head);
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
		write_text(log, line, used);
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
		write_text(log, text, length);
	if (log->syslog_fd >= 0)
		syslog_lines(log, level, text, length);
}

void
mu_log_record(const struct mu_log *log, enum mu_log_level level,
    struct mu_log_record *record, const char *text, size_t length)
{
	if (log->silent || level > log->level)
		return;
	if (log->fd >= 0)
		write_record(log, record);
	if (log->syslog_fd >= 0)
		syslog_lines(log, level, text, length);
}
