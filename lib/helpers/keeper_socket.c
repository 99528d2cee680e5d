#include "lib/helpers/keeper_socket.h"

#include <string.h>
#include <sys/socket.h>

#include "mu/sys.h"

#define FDS_SIZE (MU_KEEPER_SOCKET_FDS * sizeof(int))

union control {
	char space[CMSG_SPACE(FDS_SIZE)];
	struct cmsghdr align;
};

int
mu_keeper_socket_open(int line[2])
{
	return (int)mu_sys4(SYS_socketpair, AF_UNIX,
	    SOCK_SEQPACKET | SOCK_CLOEXEC, 0, (long)line);
}

bool
mu_keeper_socket_send(
    int line, enum mu_keeper_message kind, const int *fds, size_t count)
{
	char byte = (char)kind;
	struct iovec data = { &byte, 1 };
	union control control = { .space = { 0 } };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	struct cmsghdr *header = &control.align;
	long sent;

	if (count > 0) {
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(count * sizeof(*fds));
		memcpy(CMSG_DATA(header), fds, count * sizeof(*fds));
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(*fds));
	}
	do
		sent = mu_sys3(SYS_sendmsg, line, (long)&message, MSG_NOSIGNAL);
	while (sent == -EINTR);
	return sent == 1;
}

/* Wait for EVENTS of FD; false at the deadline. */
static bool
await(int fd, short events, uint64_t deadline_ns)
{
	struct pollfd look = { fd, events, 0 };
	uint64_t now = mu_sys_now_ns();
	struct timespec span;
	long ready;

	do {
		span =
		    mu_sys_timespec(deadline_ns > now ? deadline_ns - now : 0);
		ready = mu_syscall6(SYS_ppoll, (long)&look, 1,
		    deadline_ns == UINT64_MAX ? 0 : (long)&span, 0, 0, 0);
		now = mu_sys_now_ns();
	} while (ready == -EINTR);
	return ready != 0;
}

enum mu_keeper_message
mu_keeper_socket_receive(int line, int *fds, uint64_t deadline_ns)
{
	char byte = MU_KEEPER_CLOSED;
	struct iovec data = { &byte, 1 };
	union control control = { .space = { 0 } };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;
	long got;

	memset(fds, -1, FDS_SIZE);
	if (!await(line, POLLIN, deadline_ns))
		return MU_KEEPER_TIMEOUT;
	/*
	 * If the other end was closed before it read our last message, that
	 * error comes once, before its own messages (unix_release_sock()).
	 */
	do
		got = mu_sys3(
		    SYS_recvmsg, line, (long)&message, MSG_CMSG_CLOEXEC);
	while (got == -EINTR || got == -ECONNRESET);
	if (got != 1)
		return MU_KEEPER_CLOSED;
	header = CMSG_FIRSTHDR(&message);
	if (header != NULL && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len <= CMSG_LEN(FDS_SIZE))
		memcpy(fds, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
	return (enum mu_keeper_message)byte;
}

bool
mu_keeper_socket_await_close(int fd, uint64_t deadline_ns)
{
	return await(fd, 0, deadline_ns);
}
