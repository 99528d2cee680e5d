#include "lib/pass/forked_end.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "lib/pass/exit_check.h"
#include "lib/state/answer_file.h"
#include "lib/state/libc_own.h"
#include "lib/state/library.h"
#include "lib/state/log_sink.h"
#include "mu/sys.h"
#include "ptrace/live/task_list.h"
#include "ptrace/live/tracer_stop.h"

static void
before(void)
{
	bool single = &__libc_single_threaded != NULL &&
	    __atomic_load_n(&__libc_single_threaded, __ATOMIC_RELAXED) != 0;

	mu_library.forked_end.threads =
	    !single && mu_task_count(mu_sys_getpid()) != 1;
}

/* Not called in a child of vfork(). */
static void
in_child(void)
{
	struct mu_forked_end *forked = &mu_library.forked_end;

	forked->pid = mu_sys_getpid();
	forked->lacks |= forked->threads;
}

bool
mu_forked_end_note(void)
{
	return __register_atfork(before, NULL, in_child, NULL) == 0;
}

static void
await_close(int fd)
{
	uint64_t end_ns =
	    mu_sys_now_ns() + mu_library.options.timeout * MU_NS_PER_MS;
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	const struct timespec nap = { 1, 0 };
	long ready;

	do
		ready =
		    mu_syscall6(SYS_ppoll, (long)&wait, 1, (long)&nap, 0, 0, 0);
	while ((ready == 0 || ready == -EINTR) && mu_sys_now_ns() < end_ns);
}

/*
 * The command sees by the socket who asks, and closes it. Returns 0 or -errno,
 * as after chroot(), or without a descriptor.
 */
static long
ask(const char *path)
{
	struct sockaddr_un place = { .sun_family = AF_UNIX };
	long error;
	int fd;

	if (mu_text_format(place.sun_path, sizeof(place.sun_path),
		"%s" MU_ANSWER_ASK, path) >= sizeof(place.sun_path))
		return -ENAMETOOLONG;
	fd = (int)mu_sys3(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	error = mu_sys3(SYS_connect, fd, (long)&place, sizeof(place));
	if (error == 0)
		await_close(fd);
	mu_sys_close(&fd);
	return error;
}

/* A process that outlives the command has no one to ask. */
static void
complain(pid_t tracer, long error)
{
	if (error != 0 && mu_sys2(SYS_kill, tracer, 0) != -ESRCH)
		mu_log_sink_line(MU_LOG_ERROR,
		    "process %d is not checked at its end: memunreachable, in"
		    " process %d, cannot be reached (errno %d)",
		    mu_sys_getpid(), tracer, (int)-error);
}

void
mu_forked_end_ask(void)
{
	const struct mu_forked_end *forked = &mu_library.forked_end;
	struct mu_options *options = &mu_library.options;

	/* A filter may kill even for getpid(). */
	if (forked->pid == 0 || forked->lacks ||
	    options->only_pid == (size_t)forked->pid ||
	    !mu_exit_check_answers(options) ||
	    !mu_filters_permit(&mu_library.filters, false) ||
	    forked->pid != mu_sys_getpid())
		return;
	complain((pid_t)options->tracer, ask(options->answer_path));
	if (!mu_is_traced_by((pid_t)options->tracer))
		return;
	options->only_pid = (size_t)forked->pid;
	mu_library.pid = forked->pid;
}
