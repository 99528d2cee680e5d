/* Threads are stopped by signal: see tests/support/faults/fault_sweep.h. */
#include "tests/support/faults/fault_sweep.h"
#include "tests/support/suite.h"

TEST_LOOP(call_denied, 0, 2 * NUM_ROLES)
{
	if (_i >= NUM_ROLES)
		walk_leave_out(
		    METHOD_SIGNAL, (enum fault_role)(_i % NUM_ROLES));
	fault_sweep(_i < NUM_ROLES ? METHOD_SIGNAL : METHOD_REFUSED,
	    (enum fault_role)(_i % NUM_ROLES), FAULT_DENY, false);
}

TEST_LOOP(call_cut_short, 0, NUM_ROLES)
{
	fault_sweep(METHOD_SIGNAL, (enum fault_role)_i, FAULT_SHORT, false);
}

TEST(call_denied_for_ever)
{
	fault_sweep_for_ever(METHOD_SIGNAL);
}

SUITE(.begin = walk_limit, .timeout = 1200);
