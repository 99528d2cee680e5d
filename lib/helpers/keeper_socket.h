/*
 * A pair of sockets between the command and its keeper, for messages of one
 * byte, and descriptors. Each end notices at once when the other process has
 * ended.
 *
 * Runs in: any.
 */
#ifndef LIB_HELPERS_KEEPER_SOCKET_H
#define LIB_HELPERS_KEEPER_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_KEEPER_SOCKET_FDS 4 /* descriptors per message */

enum mu_keeper_message {
	MU_KEEPER_CLOSED,  /* the other end is closed, or the call is refused */
	MU_KEEPER_TIMEOUT, /* nothing came in time */
	MU_KEEPER_READ_NOW, /* keeper: threads are stopped, read now */
	MU_KEEPER_WAS_READ, /* command: reading is complete */
	MU_KEEPER_TAKEN,    /* keeper: the result is ready */
	MU_KEEPER_ASK,      /* command: which shared pages have data now? */
	MU_KEEPER_ASKED,    /* keeper: that is known, or is not */
};

/* Open LINE[0] and LINE[1], close-on-exec. Returns 0 or -errno. */
int mu_keeper_socket_open(int socket[2]);

/* Send MESSAGE with COUNT descriptors; the receiver gets copies. */
bool mu_keeper_socket_send(
    int socket, enum mu_keeper_message message, const int *fds, size_t count);

/*
 * Receive the next message, until DEADLINE_NS (CLOCK_MONOTONIC; UINT64_MAX: no
 * limit). FDS has room for MU_KEEPER_SOCKET_FDS; missing ones are -1.
 */
enum mu_keeper_message mu_keeper_socket_receive(
    int socket, int *fds, uint64_t deadline_ns);

/*
 * Wait until the other end of FD, a socket or a pipe, is closed; false at the
 * deadline.
 */
bool mu_keeper_socket_await_close(int fd, uint64_t deadline_ns);

#endif
