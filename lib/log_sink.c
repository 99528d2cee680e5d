/*
 * Where the log goes: see log_sink.h.
 *
 * Runs in: original. Uses no malloc, no errno.
 */
#include "lib/log_sink.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "mu/sys.h"

#define STDOUT 1
#define STDERR 2

/*
 * The report holds bytes of the heap: for the owner only, and through no link
 * that somebody else has laid at a name that can be foretold.
 */
static int
open_file(const char *path, pid_t pid, int *error)
{
	char name[MU_PATH_MAX + 16];
	int fd;

	mu_text_format(name, sizeof(name), "%s.%d", path, pid);
	fd = mu_sys_open(name,
	    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY,
	    0600);
	*error = fd < 0 ? -fd : 0;
	return fd;
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
	const char *path = options->log_path;
	int error = 0;

	*log = (struct mu_log) {
		.fd = STDERR,
		.syslog_fd = -1,
		.level = options->verbosity >= 2 ? MU_LOG_DEBUG : MU_LOG_INFO,
		.deadline_ns =
		    mu_sys_now_ns() + options->timeout * (MU_NS_PER_SEC / 1000),
		.silent = silent,
	};
	if (silent)
		return;
	if (strcmp(path, "stdout") == 0)
		log->fd = STDOUT;
	else if (path[0] != '\0' && strcmp(path, "stderr") != 0)
		log->fd = open_file(path, mu_sys_getpid(), &error);
	if (log->fd < 0) {
		log->fd = STDERR;
		mu_log(log, MU_LOG_WARNING,
		    "cannot write %s.%d (errno %d), logging to stderr", path,
		    mu_sys_getpid(), error);
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
	if (log->fd > STDERR)
		mu_sys_close(&log->fd);
	log->fd = -1;
	mu_sys_close(&log->syslog_fd);
}
