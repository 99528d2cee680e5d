/*
 * The line between command and keeper: the last word of one that has gone.
 */
#include <unistd.h>

#include "lib/helpers/keeper_line.h"
#include "tests/support/suite.h"

/* It was closed before our own word was read. */
TEST(word_before_the_end)
{
	int line[2], fds[MU_KEEPER_LINE_FDS];

	ck_assert_int_eq(mu_keeper_line_open(line), 0);
	ck_assert(mu_keeper_line_send(line[0], MU_KEEPER_WAS_READ, NULL, 0));
	ck_assert(mu_keeper_line_send(line[1], MU_KEEPER_TAKEN, NULL, 0));
	close(line[1]);
	ck_assert_int_eq(
	    mu_keeper_line_receive(line[0], fds, UINT64_MAX), MU_KEEPER_TAKEN);
	ck_assert_int_eq(
	    mu_keeper_line_receive(line[0], fds, UINT64_MAX), MU_KEEPER_CUT);
	close(line[0]);
}
