/*
 * The socket between command and keeper: the last message of a keeper that has
 * ended is still read.
 */
#include "lib/helpers/keeper_socket.h"
#include "tests/support/suite.h"

/* The socket was closed before our message was read. */
TEST(word_before_the_end)
{
	int line[2], fds[MU_KEEPER_SOCKET_FDS];

	ck_assert_int_eq(mu_keeper_socket_open(line), 0);
	ck_assert(mu_keeper_socket_send(line[0], MU_KEEPER_WAS_READ, NULL, 0));
	ck_assert(mu_keeper_socket_send(line[1], MU_KEEPER_TAKEN, NULL, 0));
	close(line[1]);
	ck_assert_int_eq(mu_keeper_socket_receive(line[0], fds, UINT64_MAX),
	    MU_KEEPER_TAKEN);
	ck_assert_int_eq(mu_keeper_socket_receive(line[0], fds, UINT64_MAX),
	    MU_KEEPER_CLOSED);
	close(line[0]);
}
