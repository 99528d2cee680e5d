/*
 * What a wait status says about a thread.
 */
#include "ptrace/live/tracee.h"
#include "tests/support/suite.h"

static struct mu_tracee
classified(int status)
{
	struct mu_tracee tracee = {
		.tid = 1, .state = MU_TRACEE_SEIZED, .signal = 99
	};

	mu_tracee_classify(&tracee, status);
	return tracee;
}

TEST(classify)
{
	static const int group[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
	struct mu_tracee tracee = classified(128 << 8 | SIGTRAP);
	size_t i;

	ck_assert_int_eq(tracee.state, MU_TRACEE_STOPPED);
	ck_assert_int_eq(tracee.signal, 0);
	for (i = 0; i < 4; i++) {
		tracee = classified(128 << 8 | group[i]);
		ck_assert_int_eq(tracee.state, MU_TRACEE_GROUP_STOPPED);
		ck_assert_int_eq(tracee.signal, 0);
		/* Not yet delivered: the program may catch or ignore it. */
		tracee = classified(group[i]);
		ck_assert_int_eq(tracee.state, MU_TRACEE_SIGNAL_STOPPED);
		ck_assert_int_eq(tracee.signal, group[i]);
	}
	tracee = classified(SIGTRAP); /* the program's own breakpoint */
	ck_assert_int_eq(tracee.state, MU_TRACEE_SIGNAL_STOPPED);
	ck_assert_int_eq(tracee.signal, SIGTRAP);
	tracee = classified(SIGRTMAX);
	ck_assert_int_eq(tracee.signal, SIGRTMAX);
	tracee = classified(4 << 8 | SIGTRAP); /* PTRACE_EVENT_EXEC */
	ck_assert_int_eq(tracee.state, MU_TRACEE_STOPPED);
	ck_assert_int_eq(tracee.signal, 0);
}
