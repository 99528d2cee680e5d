/*
 * Every single system call that collector and sweeper make, failed or made
 * their last one, in turn (MU-35..38, MU-41). Whatever the pass answers is
 * true: a failure has a reason and no numbers, a partial answer names no
 * block that is not lost, a complete one names them all. After each, the
 * program is unharmed and the next pass is right.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "mu/sys.h"
#include "tests/support/doomed_pass.h"
#include "tests/support/suite.h"

#define MOST_CALLS 200 /* of a kind in a pass that is not looked at twice */

static const struct {
	const char *name;
	int nr, error;
} kinds[] = {
	{ "openat", SYS_openat, EMFILE },
	{ "read", SYS_read, EIO },
	{ "pread64", SYS_pread64, EIO },
	{ "getdents64", SYS_getdents64, ENOENT },
	{ "mmap", SYS_mmap, ENOMEM },
	{ "ptrace", SYS_ptrace, EIO },
	{ "write", SYS_write, EIO },
	{ "clone", SYS_clone, EAGAIN },
	{ "rt_sigaction", SYS_rt_sigaction, EINVAL },
	{ "sigaltstack", SYS_sigaltstack, ENOMEM },
	{ "close_range", SYS_close_range, ENOSYS },
	{ "ioctl", SYS_ioctl, ENOTTY },
};

#define NUM_KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

/* False when there is no NTH such call. */
static bool
spoil(struct belongings *own, struct watched_call *call)
{
	struct doomed_pass doomed = { .call = call };

	ck_assert(doomed_pass_run(&doomed));
	if (!doomed.acted) {
		ck_assert_msg(doomed.judged, "%s", doomed.info.reason);
		return false;
	}
	if (call->act == ACT_KILL)
		ck_assert_msg(doomed.judged ||
			doomed.info.status == MEMUNREACHABLE_HELPER_DIED,
		    "call %u, status %d, %s", call->nth, doomed.info.status,
		    doomed.info.reason);
	belongings_check(own, &doomed);
	return true;
}

static void
sweep(const char *comm, int kind, enum watched_act act)
{
	struct watched_call call = { .comm = comm,
		.nr = kinds[kind].nr,
		.argument = -1,
		.act = act,
		.error = kinds[kind].error };
	static struct belongings own;
	struct doomed_pass probe = { .call = &call };

	belongings_begin(&own);
	call.nth = MOST_CALLS + 1;
	if (!doomed_pass_run(&probe)) {
		printf("SKIPPED: no seccomp listeners here (%d)\n",
		    probe.listener);
		belongings_end(&own);
		return;
	}
	/* A step that doubles once the first calls of a kind were seen. */
	for (call.nth = 1; call.nth <= MOST_CALLS;
	     call.nth += 1 + call.nth / 16)
		if (!spoil(&own, &call))
			break;
	belongings_end(&own);
}

START_TEST(collector_call_denied)
{
	sweep("mu-collector", _i, ACT_DENY);
}
END_TEST

START_TEST(collector_killed_at_call)
{
	sweep("mu-collector", _i, ACT_KILL);
}
END_TEST

START_TEST(sweeper_call_denied)
{
	sweep("mu-sweeper", _i, ACT_DENY);
}
END_TEST

START_TEST(sweeper_killed_at_call)
{
	sweep("mu-sweeper", _i, ACT_KILL);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("fault sweep");
	TCase *tcase = tcase_create("calls");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, collector_call_denied, 0, NUM_KINDS);
	tcase_add_loop_test(tcase, collector_killed_at_call, 0, NUM_KINDS);
	tcase_add_loop_test(tcase, sweeper_call_denied, 0, NUM_KINDS);
	tcase_add_loop_test(tcase, sweeper_killed_at_call, 0, NUM_KINDS);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
