/*
 * Kill, stop, or stop and continue collector and sweeper at each of their
 * system calls. A kill is distinguished from a stop that outlasts the deadline,
 * a short stop has no effect, and afterwards the program is unharmed and the
 * next pass is right.
 */
#include "tests/support/faults/fault_walk.h"
#include "tests/support/suite.h"

/*
 * The time of a pass that waits for its end; a stopped collector gets 2 s more.
 */
#define SHORT_MS 300
#define LONG_MS 30000

static struct walk walk;

/* Once a helper has sent its last message its end has no effect. */
static bool
is_right(const struct fault *fault, const struct failing_pass *failing)
{
	int status = failing->info.status;

	/* By signal under a filter: a child tries ptrace first. */
	if (strstr(failing->info.reason, "the child that tries") != NULL ||
	    strstr(failing->info.reason, "cannot try signals") != NULL)
		return !failing->checked && fault->act != FAULT_PAUSE;
	switch (fault->act) {
	case FAULT_KILL:
		return failing->checked || status == MEMUNREACHABLE_HELPER_DIED;
	case FAULT_STOP:
		return failing->checked || status == MEMUNREACHABLE_TIMEOUT;
	default:
		return status == MEMUNREACHABLE_COMPLETE;
	}
}

/* False when there is no such call. */
static bool
spoil(const struct fault *fault)
{
	struct failing_pass failing;

	if (fault->act == FAULT_STOP)
		mu_library.options.timeout = SHORT_MS;
	walk_pass(&walk, fault, &failing);
	mu_library.options.timeout = LONG_MS;
	if (!failing.acted)
		return false;
	walk_count(&walk, &failing);
	ck_assert_msg(is_right(fault, &failing),
	    "%s call %u (%s): status %d, %s", role_names[fault->role],
	    fault->nth, call_name(walk.record->acted_on), failing.info.status,
	    failing.info.reason);
	assert_at_once(&failing);
	belongings_check(&walk.own, &failing);
	return true;
}

/*
 * MORE: of N steps so far, how many to go on at a time; 0: each call that does
 * not repeat another.
 */
static void
each_call(enum walk_method method, enum fault_role role, enum fault_act act,
    unsigned more)
{
	struct fault fault = {
		.role = role, .nr = ANY_CALL, .act = act, .nth = 1
	};

	if (!walk_begin(&walk, method, role, false))
		return;
	while (walk_in_time(&walk)) {
		if ((more > 0 || walk_wants(&walk, ANY_CALL, fault.nth)) &&
		    !spoil(&fault))
			break;
		fault.nth +=
		    walk_full() || more == 0 ? 1 : 1 + fault.nth / more;
	}
	walk_end(&walk);
}

TEST(collector_killed)
{
	each_call(METHOD_PTRACE, ROLE_COLLECTOR, FAULT_KILL, 0);
}

TEST(collector_stopped)
{
	each_call(METHOD_PTRACE, ROLE_COLLECTOR, FAULT_STOP, 1);
}

TEST(collector_paused)
{
	each_call(METHOD_PTRACE, ROLE_COLLECTOR, FAULT_PAUSE, 4);
}

TEST_LOOP(sweeper_killed, 0, NUM_METHODS)
{
	each_call(_i, ROLE_SWEEPER, FAULT_KILL, _i == METHOD_SIGNAL ? 0 : 8);
}

TEST_LOOP(sweeper_stopped, 0, METHOD_SIGNAL + 1)
{
	each_call(_i, ROLE_SWEEPER, FAULT_STOP, 1);
}

TEST_LOOP(sweeper_paused, 0, METHOD_SIGNAL + 1)
{
	each_call(_i, ROLE_SWEEPER, FAULT_PAUSE, 4);
}

/*
 * Its ptrace() is refused; then threads are stopped by signal, or that is
 * refused too.
 */
TEST(refused_collector_killed)
{
	each_call(METHOD_REFUSED, ROLE_COLLECTOR, FAULT_KILL, 0);
}

/*
 * Stopped when it makes the image: the threads would be stopped until the
 * end of the pass. It is killed when their time is over, and another one
 * checks.
 */
TEST(collector_stopped_at_the_fork)
{
	const struct fault fault = { .role = ROLE_COLLECTOR,
		.nr = SYS_clone,
		.act = FAULT_STOP,
		.nth = 1 };
	struct failing_pass failing;

	if (!walk_begin(&walk, METHOD_PTRACE, ROLE_COLLECTOR, false))
		return;
	walk_pass(&walk, &fault, &failing);
	ck_assert(failing.acted);
	walk_count(&walk, &failing);
	ck_assert_msg(failing.info.status == MEMUNREACHABLE_COMPLETE, "%s",
	    failing.info.reason);
	walk_end(&walk);
}

SUITE(.begin = walk_limit, .timeout = 1200);
