/*
 * A stop by the tracer, seen from the process that requests it: without such a
 * tracer, and with answers that contradict themselves.
 */
#include "mu/sys.h"
#include "ptrace/live/snapshot.h"
#include "ptrace/live/tracee.h"
#include "ptrace/live/tracer_stop.h"
#include "tests/support/suite.h"

static struct mu_arena arena;
static struct mu_why why;
static volatile int handled;

static void
setup(void)
{
	mu_arena_open(&arena, (size_t)1 << 30);
}

static void
teardown(void)
{
	mu_arena_close(&arena);
}

static void
on_signal(int signo)
{
	(void)signo;
	handled++;
}

static enum mu_status
ask(void)
{
	uint64_t now = mu_sys_now_ns();
	struct mu_tracer_stop stop;
	enum mu_status status;
	mu_sigmask mask;

	ck_assert(mu_sys_block_signals(&mask));
	status = mu_tracer_stop_take(&stop, &arena, false, now + MU_NS_PER_SEC,
	    now + MU_NS_PER_SEC, &why);
	ck_assert(!mu_tracer_stop_release(&stop));
	mu_sys_restore_signals(&mask);
	return status;
}

/* _i: how many of the two signals the program handles. */
TEST_LOOP(no_tracer, 0, 3)
{
	ck_assert(!mu_is_traced_by(getppid()));
	ck_assert(!mu_is_traced_by(0));
	if (_i > 0)
		signal(SIGURG, on_signal);
	if (_i > 1)
		signal(SIGWINCH, on_signal);
	ck_assert_int_eq(ask(), MU_ERR_ALREADY_TRACED);
	ck_assert_int_eq(handled, 0);
}

/* One that waits already is left to the program. */
TEST(pending_signals)
{
	sigset_t mask, waits;

	sigemptyset(&mask);
	sigaddset(&mask, SIGURG);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	kill(getpid(), SIGURG);
	ck_assert_int_eq(ask(), MU_ERR_ALREADY_TRACED);
	sigpending(&waits);
	ck_assert(sigismember(&waits, SIGURG));
}

#define VALUES 100

static enum mu_status
take(size_t first, size_t count, struct mu_snapshot *snap)
{
	static uintptr_t values[VALUES], stacks[1] = { 0x123450 };
	static uint16_t regnos[VALUES];
	struct mu_thread threads[2] = {
		{ .tid = getpid(), .first_value = 0, .num_values = 1 },
		{ .tid = 2, .first_value = first, .num_values = count },
	};
	struct mu_tracer_stop stop = {
		.request = {
			.threads = threads,
			.values = values,
			.regnos = regnos,
			.stacks = stacks,
			.num_threads = 2,
			.num_values = VALUES,
			.num_stacks = 1,
		},
		.pid = getpid(),
	};
	size_t i;

	for (i = 0; i < VALUES; i++) {
		values[i] = 0x10000 + i;
		regnos[i] = (uint16_t)i;
	}
	*snap = (struct mu_snapshot) { .pid = getpid() };
	return mu_snapshot_tracer_stop(snap, &stop, NULL, &arena, &why);
}

TEST(registers)
{
	struct mu_snapshot snap;
	const struct mu_thread *second;

	ck_assert_int_eq(take(3, 97, &snap), MU_OK);
	ck_assert_uint_eq(snap.num_threads, 2);
	ck_assert_uint_eq(snap.num_values, 98);
	second = &snap.threads[1];
	ck_assert_int_eq(second->tid, 2);
	ck_assert_uint_eq(second->num_values, 97);
	ck_assert_uint_eq(snap.values[second->first_value], 0x10003);
	ck_assert_uint_eq(snap.regnos[second->first_value + 96], 99);
	ck_assert_uint_ge(snap.num_kernel_values, 1);
	ck_assert_uint_eq(snap.kernel_values[0], 0x123450);
}

TEST(contradictions)
{
	struct mu_snapshot snap;

	ck_assert_int_eq(take(3, 98, &snap), MU_ERR_ARGUMENT);
	ck_assert_int_eq(take(VALUES, 1, &snap), MU_ERR_ARGUMENT);
	ck_assert_int_eq(take(SIZE_MAX, 2, &snap), MU_ERR_ARGUMENT);
	ck_assert_int_eq(take(2, SIZE_MAX, &snap), MU_ERR_ARGUMENT);
	ck_assert_int_eq(take(VALUES, 0, &snap), MU_OK);
}

/*
 * What a wait status says about a thread.
 */
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

SUITE(.setup = setup, .teardown = teardown);
