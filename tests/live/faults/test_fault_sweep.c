/* Threads are stopped by ptrace: see tests/support/faults/fault_sweep.h. */
#include "tests/support/faults/fault_sweep.h"
#include "tests/support/suite.h"

TEST_LOOP(call_denied, 0, NUM_ROLES)
{
	fault_sweep(METHOD_PTRACE, (enum fault_role)_i, FAULT_DENY, false);
}

/*
 * A failure to write the log, or to poll it, ends the log only. Besides, there
 * is shared memory.
 */
TEST_LOOP(call_denied_while_logging, 0, NUM_ROLES)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(dup2(null, STDERR_FILENO), STDERR_FILENO);
	walk_leave_out(METHOD_PTRACE, (enum fault_role)_i);
	mu_library.options.verbosity = 2;
	fault_sweep(METHOD_PTRACE, (enum fault_role)_i, FAULT_DENY,
	    _i != ROLE_ORIGINAL);
}

TEST_LOOP(call_cut_short, 0, NUM_ROLES)
{
	fault_sweep(METHOD_PTRACE, (enum fault_role)_i, FAULT_SHORT, false);
}

TEST(call_denied_for_ever)
{
	fault_sweep_for_ever(METHOD_PTRACE);
}

SUITE(.begin = walk_limit, .timeout = 1200);
