/*
 * The line between the command and its keeper: a pair of sockets that carries
 * one byte a message, and descriptors. Each end notices at once when the other
 * process has ended.
 *
 * Runs in: any.
 */
#ifndef LIB_HELPERS_KEEPER_LINE_H
#define LIB_HELPERS_KEEPER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_KEEPER_LINE_FDS 4 /* at most in a message */

enum mu_keeper_message {
	MU_KEEPER_CUT,      /* the other end is closed, or refused */
	MU_KEEPER_LATE,     /* nothing came in time */
	MU_KEEPER_READ_NOW, /* keeper: the threads stand still: read */
	MU_KEEPER_WAS_READ, /* command: that is done */
	MU_KEEPER_TAKEN,    /* keeper: the answer is there */
};

/* LINE[0] and LINE[1], close-on-exec. 0 or -errno. */
int mu_keeper_line_open(int line[2]);

/* With COUNT descriptors, copies of which the other end gets. */
bool mu_keeper_line_send(
    int line, enum mu_keeper_message message, const int *fds, size_t count);

/*
 * The next message, until DEADLINE_NS (CLOCK_MONOTONIC; UINT64_MAX: for ever).
 * FDS has room for MU_KEEPER_LINE_FDS; those that did not come are -1.
 */
enum mu_keeper_message mu_keeper_line_receive(
    int line, int *fds, uint64_t deadline_ns);

/* Until the other end of FD, a socket or a pipe, is closed; false: too late. */
bool mu_keeper_line_await_cut(int fd, uint64_t deadline_ns);

#endif
