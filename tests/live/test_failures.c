/*
 * Every step of a pass that can fail, made to fail: the call says so with the
 * right status and a reason, and the program goes on as if nothing had been;
 * the next pass works. Shortages and refusals of the system: test_shortages.c.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "lib/pipe/leak_pipe.h"
#include "tests/support/failing_pass.h"
#include "tests/support/suite.h"

/* CALL spoils a pass, which says STATUS. */
static void
assert_spoiled(const struct watched_call *call, bool by_filter, int status)
{
	struct failing_pass failing = { .call = call, .by_filter = by_filter };
	static struct belongings own;

	mu_library.options.stop = MU_STOP_PTRACE;
	belongings_begin(&own);
	if (call->act == ACT_STOP)
		mu_library.options.timeout = 1000;
	if (!failing_pass_run(&failing)) {
		printf("SKIPPED: no seccomp filters here (%d)\n",
		    failing.listener);
		belongings_end(&own);
		return;
	}
	mu_library.options.timeout = 30000;
	ck_assert_msg(failing.acted, "the pass did not make the call");
	ck_assert_msg(!failing.judged, "status %d", failing.info.status);
	ck_assert_msg(failing.info.status == status, "status %d, %s",
	    failing.info.status, failing.info.reason);
	if (call->act != ACT_STOP)
		assert_at_once(&failing);
	belongings_check(&own, &failing);
	belongings_end(&own);
}

TEST_LOOP(no_collector, 0, 2)
{
	const struct watched_call call = { .nr = SYS_clone,
		.argument = 0,
		.mask = CLONE_VM | CLONE_THREAD,
		.value = CLONE_VM,
		.error = _i == 0 ? EAGAIN : EPERM };

	assert_spoiled(&call, true,
	    _i == 0 ? MEMUNREACHABLE_NO_RESOURCES
		    : MEMUNREACHABLE_NO_PERMISSION);
}

TEST_LOOP(ptrace_denied, 0, 2)
{
	const struct watched_call call = { .nr = SYS_ptrace,
		.argument = -1,
		.error = _i == 0 ? EPERM : ENOSYS };

	assert_spoiled(&call, true, MEMUNREACHABLE_PTRACE_SECCOMP);
}

/* The next stop method works. */
TEST_LOOP(ptrace_denied_by_signal, 0, 2)
{
	const struct watched_call call = { .nr = SYS_ptrace,
		.argument = -1,
		.error = _i == 0 ? EPERM : ENOSYS };
	struct failing_pass failing = { .call = &call, .by_filter = true };
	static struct belongings own;

	mu_library.options.stop = MU_STOP_AUTO;
	belongings_begin(&own);
	if (failing_pass_run(&failing)) {
		ck_assert_msg(failing.judged, "%s", failing.info.reason);
		ck_assert_int_eq(failing.info.status, MEMUNREACHABLE_COMPLETE);
		ck_assert_int_eq(failing.info.stop, MEMUNREACHABLE_STOP_SIGNAL);
		belongings_check(&own, &failing);
	} else
		printf("SKIPPED: ptrace_denied_by_signal: no seccomp "
		       "filters here (%d)\n",
		    failing.listener);
	belongings_end(&own);
}

TEST_LOOP(collector_killed, 0, 8)
{
	static const uint32_t requests[] = { PTRACE_SEIZE, PTRACE_INTERRUPT,
		PTRACE_GETREGSET, PTRACE_DETACH };
	const struct watched_call call = { .comm = "mu-collector",
		.nr = SYS_ptrace,
		.argument = 0,
		.mask = ~0u,
		.value = requests[_i % 4],
		.act = ACT_KILL,
		.nth = _i < 4 ? 1 : 3 };

	assert_spoiled(&call, false, MEMUNREACHABLE_HELPER_DIED);
}

/* An expired deadline has its own status. */
TEST_LOOP(collector_stopped, 0, 3)
{
	static const uint32_t requests[] = { PTRACE_SEIZE, PTRACE_GETREGSET,
		PTRACE_DETACH };
	const struct watched_call call = { .comm = "mu-collector",
		.nr = SYS_ptrace,
		.argument = 0,
		.mask = ~0u,
		.value = requests[_i],
		.act = ACT_STOP,
		.nth = 2 };

	assert_spoiled(&call, false, MEMUNREACHABLE_TIMEOUT);
}

TEST_LOOP(no_sweeper, 0, 2)
{
	const struct watched_call call = { .nr = SYS_clone,
		.argument = 0,
		.mask = CLONE_PARENT,
		.value = CLONE_PARENT,
		.error = _i == 0 ? EAGAIN : ENOMEM };

	assert_spoiled(&call, true,
	    _i == 0 ? MEMUNREACHABLE_NO_RESOURCES : MEMUNREACHABLE_NO_MEMORY);
}

TEST(sweeper_dies_at_once)
{
	const struct watched_call call = { .comm = "mu-sweeper",
		.nr = SYS_openat,
		.argument = -1,
		.act = ACT_KILL,
		.nth = 1 };

	assert_spoiled(&call, false, MEMUNREACHABLE_HELPER_DIED);
}

/* Before the header, and between it and the entries. */
TEST_LOOP(sweeper_dies_while_sending, 0, 2)
{
	const struct watched_call call = { .comm = "mu-sweeper",
		.nr = SYS_write,
		.argument = _i == 0 ? 2 : -1,
		.mask = ~0u,
		.value = sizeof(struct mu_pipe_header),
		.act = ACT_KILL,
		.nth = _i == 0 ? 1 : 2 };

	assert_spoiled(&call, false, MEMUNREACHABLE_HELPER_DIED);
}

TEST_LOOP(sweeper_stopped, 0, 2)
{
	const struct watched_call call = { .comm = "mu-sweeper",
		.nr = _i == 0 ? SYS_openat : SYS_write,
		.argument = _i == 0 ? -1 : 2,
		.mask = ~0u,
		.value = _i == 0 ? 0 : sizeof(struct mu_pipe_header),
		.act = ACT_STOP,
		.nth = 1 };

	assert_spoiled(&call, false, MEMUNREACHABLE_TIMEOUT);
}
