#include "lib/state/log_sink.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "include/mu/report_file.h"
#include "lib/state/library.h"
#include "mu/sys.h"

#define STDOUT 1
#define STDERR 2

/*
 * True for "stderr" or "/dev/stderr"; "/dev/stderr.<pid>" would make no sense.
 */
static bool
is_stream(const char *path, const char *name)
{
	if (strncmp(path, "/dev/", 5) == 0)
		path += 5;
	return strcmp(path, name) == 0;
}

/*
 * Open FILE.<pid>. Returns -1 with the reason in *WHY on failure. In a program
 * that has closed its standard streams, as daemons do, the file does not become
 * one.
 */
static int
open_file(const char *path, const char **why)
{
	char name[MU_PATH_MAX + 16];
	int fd, low;

	mu_text_format(name, sizeof(name), "%s.%d", path, (int)mu_sys_getpid());
	fd = mu_report_file_open(name, O_APPEND, why);
	if (fd < 0 || fd > STDERR)
		return fd;
	low = fd;
	fd = (int)mu_sys3(SYS_fcntl, low, F_DUPFD_CLOEXEC, STDERR + 1);
	mu_sys_close(&low);
	if (fd < 0)
		*why = mu_report_file_reason(-fd);
	return fd < 0 ? -1 : fd;
}

static int
open_syslog(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX,
		.sun_path = "/dev/log" };
	int fd =
	    (int)mu_sys3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 &&
	    mu_sys3(SYS_connect, fd, (long)&address, sizeof(address)) < 0)
		mu_sys_close(&fd);
	return fd < 0 ? -1 : fd;
}

void
mu_log_sink_open(
    struct mu_log *log, const struct mu_options *options, bool silent)
{
	static const enum mu_log_level levels[] = { MU_LOG_INFO, MU_LOG_STEP,
		MU_LOG_DEBUG };
	const char *path = options->log_path;
	const char *why = NULL;

	*log = (struct mu_log) {
		.fd = STDERR,
		.syslog_fd = -1,
		.level = levels[options->verbosity],
		.deadline_ns =
		    mu_sys_now_ns() + options->timeout * (MU_NS_PER_SEC / 1000),
		.silent = silent,
		.error = &log->first_error,
	};
	if (silent)
		return;
	if (is_stream(path, "stdout"))
		log->fd = STDOUT;
	else if (path[0] != '\0' && !is_stream(path, "stderr"))
		log->fd = open_file(path, &why);
	log->records = options->log_records && log->fd > STDERR;
	if (log->fd < 0) {
		log->fd = STDERR;
		mu_log(log, MU_LOG_WARNING,
		    "cannot write %s.%d: %s; logging to stderr instead", path,
		    (int)mu_sys_getpid(), why);
	}
	if (!options->log_to_syslog)
		return;
	log->syslog_fd = open_syslog();
	if (log->syslog_fd < 0)
		mu_log(log, MU_LOG_WARNING, "no syslog at /dev/log");
}

void
mu_log_sink_close(struct mu_log *log)
{
	int error = log->first_error;

	if (error != 0)
		__atomic_store_n(
		    &mu_library.log_error, error, __ATOMIC_RELAXED);
	if (log->fd > STDERR) {
		mu_sys_close(&log->fd);
		log->fd = STDERR;
		log->records = false;
		if (error != 0)
			mu_log(log, MU_LOG_ERROR, "the log is not complete: %s",
			    mu_report_file_reason(error));
	}
	log->fd = -1;
	mu_sys_close(&log->syslog_fd);
}

void
mu_log_sink_line(enum mu_log_level level, const char *format, ...)
{
	char line[256];
	struct mu_log log;
	va_list args;

	va_start(args, format);
	mu_text_vformat(line, sizeof(line), format, args);
	va_end(args);
	mu_log_sink_open(&log, &mu_library.options, false);
	mu_log(&log, level, "%s", line);
	mu_log_sink_close(&log);
}
