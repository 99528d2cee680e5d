/*
 * Threads stay stopped until the sweeper has read what a fork leaves out
 * (MADV_DONTFORK). If a process dies or fails during that, or the time of a
 * stop is over, they continue at once, and the answer is right.
 */
#include "mu/sys.h"
#include "tests/support/faults/failing_pass.h"
#include "tests/support/suite.h"

#define MAPPED ((size_t)65536)

static const struct {
	const char *comm;
	int nr;
	enum watched_act act;
} spoils[] = {
	{ "mu-sweeper", SYS_pread64, ACT_DENY },
	{ "mu-sweeper", SYS_pread64, ACT_KILL },
	{ "mu-sweeper", SYS_msync, ACT_KILL },
	{ "mu-sweeper", SYS_mmap, ACT_DENY },
	{ "mu-collector", SYS_openat, ACT_DENY },
	{ "mu-collector", SYS_futex, ACT_KILL },
};

#define NUM_SPOILS ((int)(sizeof(spoils) / sizeof(spoils[0])))
#define MOST_CALLS 12 /* the first ones: what a held pass does more */

/* This memory holds the only pointer to a block. */
static __attribute__((noinline)) void
keep_in_left_out(void)
{
	void **mapping = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(mapping, MAP_FAILED);
	mapping[1000] = malloc(LOST_SIZE);
	ck_assert_int_eq(madvise(mapping, MAPPED, MADV_DONTFORK), 0);
}

TEST_LOOP(spoilt_while_held, 0, NUM_SPOILS)
{
	static struct belongings own;
	struct watched_call call = { .comm = spoils[_i].comm,
		.nr = spoils[_i].nr,
		.argument = -1,
		.act = spoils[_i].act,
		.error = EIO };
	struct failing_pass failing;

	keep_in_left_out();
	belongings_begin(&own);
	for (call.nth = 1; call.nth < MOST_CALLS;
	     call.nth += 1 + call.nth / 4) {
		failing = (struct failing_pass) { .call = &call };
		if (!failing_pass_run(&failing)) {
			printf("SKIPPED: no seccomp listeners here (%d)\n",
			    failing.listener);
			break;
		}
		assert_at_once(&failing);
		if (!failing.acted)
			break;
		/* Unread memory may have referred to more blocks. */
		if (failing.info.status == MEMUNREACHABLE_PARTIAL) {
			ck_assert_str_ne(failing.info.reason, "");
			failing.info.num_leaks = own.num_leaks;
		}
		belongings_check(&own, &failing);
	}
	ck_assert_uint_gt(call.nth, 1);
	belongings_end(&own);
}

/* The pointer is always in one of both places, or in both. */
struct mover {
	pthread_t thread;
	void *volatile *places[2];
	bool stop;
};

static void *
mover_main(void *arg)
{
	struct mover *mover = arg;
	unsigned to = 0;

	while (!__atomic_load_n(&mover->stop, __ATOMIC_ACQUIRE)) {
		*mover->places[to] = *mover->places[1 - to];
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		*mover->places[1 - to] = NULL;
		to = 1 - to;
		usleep(20000);
	}
	return NULL;
}

static __attribute__((noinline)) void
move_in_shared(struct mover *mover)
{
	int i;

	for (i = 0; i < 2; i++) {
		void *mapping = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		ck_assert_ptr_ne(mapping, MAP_FAILED);
		mover->places[i] = mapping;
	}
	*mover->places[1] = malloc(LOST_SIZE);
	ck_assert_int_eq(
	    pthread_create(&mover->thread, NULL, mover_main, mover), 0);
}

/*
 * The sweeper is held up for longer than threads may stand still, in one call:
 * they continue when the time of the stop is over. What it reads then is not
 * that of the stop, and another stop is exact.
 */
static const struct {
	int nr;
	bool shared;
} holds[] = {
	{ SYS_pread64, false },
	{ SYS_msync, false },
	{ SYS_mmap, false },
	{ SYS_mmap, true },
	{ SYS_openat, true },
};

#define NUM_HOLDS ((int)(sizeof(holds) / sizeof(holds[0])))
#define MOST_HELD 6
#define PAUSE_NS (300 * 1000 * 1000ull) /* more than max_pause, of 200 ms */

TEST_LOOP(held_up, 0, NUM_HOLDS)
{
	static struct belongings own;
	static struct mover mover;
	struct watched_call call = { .comm = "mu-sweeper",
		.nr = holds[_i].nr,
		.argument = -1,
		.act = ACT_HOLD };
	struct failing_pass failing;
	uint64_t least_ns = PAUSE_NS;

	if (holds[_i].shared)
		move_in_shared(&mover);
	else
		keep_in_left_out();
	belongings_begin(&own);
	for (call.nth = 1; call.nth <= MOST_HELD; call.nth++) {
		failing = (struct failing_pass) { .call = &call };
		if (!failing_pass_run(&failing)) {
			printf("SKIPPED: no seccomp listeners here (%d)\n",
			    failing.listener);
			break;
		}
		if (!failing.acted)
			break;
		ck_assert_msg(failing.checked &&
			failing.info.status == MEMUNREACHABLE_COMPLETE,
		    "call %u held: %s", call.nth, failing.info.reason);
		if (failing.info.pause_ns < least_ns)
			least_ns = failing.info.pause_ns;
		belongings_check(&own, &failing);
	}
	ck_assert_uint_lt(call.nth > 1 ? least_ns : 0, PAUSE_NS);
	if (holds[_i].shared) {
		__atomic_store_n(&mover.stop, true, __ATOMIC_RELEASE);
		pthread_join(mover.thread, NULL);
	}
	belongings_end(&own);
}
