#include "lib/command/forked.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/state/answer_file.h"
#include "mu/text.h"

void
mu_command_forked_open(struct mu_command_run *run)
{
	struct sockaddr_un place = { .sun_family = AF_UNIX };

	if (mu_text_format(place.sun_path, sizeof(place.sun_path),
		"%s" MU_ANSWER_ASK,
		run->report.answers) >= sizeof(place.sun_path))
		return;
	run->ask_fd =
	    socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (run->ask_fd < 0)
		return;
	if (bind(run->ask_fd, (struct sockaddr *)&place, sizeof(place)) != 0 ||
	    fcntl(run->ask_fd, F_SETOWN, getpid()) != 0 ||
	    fcntl(run->ask_fd, F_SETFL, O_NONBLOCK | O_ASYNC) != 0 ||
	    listen(run->ask_fd, SOMAXCONN) != 0)
		mu_command_forked_close(run);
}

/* The kernel says who it is, and whether we may trace it. */
static void
take(struct mu_command_run *run, int fd)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	    peer.pid > 0 && run->traced)
		mu_trace_join(&run->trace, peer.pid);
}

void
mu_command_forked_take(struct mu_command_run *run)
{
	int fd;

	while (run->ask_fd >= 0 &&
	    (fd = accept4(run->ask_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		take(run, fd);
		close(fd);
	}
}

void
mu_command_forked_close(struct mu_command_run *run)
{
	if (run->ask_fd >= 0)
		close(run->ask_fd);
	run->ask_fd = -1;
}
