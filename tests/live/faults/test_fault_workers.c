/*
 * A heap large enough for several workers: refuse in turn each system call that
 * starts one. The pass then has fewer workers and the same answer.
 */
#include "tests/support/faults/fault_walk.h"
#include "tests/support/suite.h"

#define BLOCKS 60000
#define BLOCK_SIZE 160 /* 10 MB: work enough for ten */
#define NUM_WORKERS 4
#define NTH_MAX 40
#define SHORT_MS 5000

static struct walk walk;
static void *volatile first; /* of a chain of all the blocks, each twice */

static void
make_heap(void)
{
	void **blocks = calloc(BLOCKS, sizeof(*blocks));
	size_t i;

	ck_assert_ptr_nonnull(blocks);
	for (i = 0; i < BLOCKS; i++) {
		blocks[i] = calloc(1, BLOCK_SIZE);
		ck_assert_ptr_nonnull(blocks[i]);
	}
	for (i = 0; i < BLOCKS; i++) {
		((void **)blocks[i])[0] = blocks[(i + 1) % BLOCKS];
		((void **)blocks[i])[1] = blocks[i * 7 % BLOCKS];
	}
	first = blocks[0];
	memset(blocks, 0, BLOCKS * sizeof(*blocks));
	free(blocks);
}

/* False when there is no such call. */
static bool
spoil(const struct fault *fault)
{
	struct failing_pass failing;
	bool checked;

	walk_pass(&walk, fault, &failing);
	checked = failing.checked ||
	    (fault->nr == SYS_mmap &&
		failing.info.status == MEMUNREACHABLE_NO_MEMORY) ||
	    (fault->for_ever && failing.info.status == MEMUNREACHABLE_TIMEOUT);
	ck_assert_msg(checked, "%s %u, errno %d: status %d, %s",
	    call_name(fault->nr), fault->nth, fault->error, failing.info.status,
	    failing.info.reason);
	if (failing.acted) {
		walk_count(&walk, &failing);
		belongings_check(&walk.own, &failing);
	}
	return failing.acted;
}

TEST_LOOP(worker_calls_denied, 0, METHOD_REFUSED)
{
	static const int calls[] = { SYS_clone, SYS_futex, SYS_mmap, SYS_munmap,
		SYS_mprotect, SYS_madvise, SYS_sched_yield, SYS_nanosleep,
		SYS_sched_getaffinity };
	static const int errors[] = { EAGAIN, ENOMEM, EPERM, ENOSYS, EINTR };
	struct fault fault = { .role = ROLE_SWEEPER, .act = FAULT_DENY };
	size_t i;

	make_heap();
	mu_library.options.workers = NUM_WORKERS;
	if (!walk_begin(&walk, _i, ROLE_SWEEPER, false))
		return;
	ck_assert_uint_eq(
	    walk.counts[ROLE_SWEEPER][SYS_clone], NUM_WORKERS - 1);
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		fault.nr = calls[i];
		for (fault.nth = 1; fault.nth < NTH_MAX && walk_in_time(&walk);
		     fault.nth++) {
			fault.error = errors[(i + fault.nth) % 5];
			if (!spoil(&fault))
				break;
		}
	}
	walk_end(&walk);
}

/*
 * As a filter does. If all of clone() were refused no pass would be possible.
 */
TEST_LOOP(worker_futex_denied_for_ever, 0, 2 * METHOD_REFUSED)
{
	struct fault fault = { .role = ROLE_SWEEPER,
		.act = FAULT_DENY,
		.nr = SYS_futex,
		.error = _i % 2 == 0 ? ENOSYS : EPERM,
		.nth = 1,
		.for_ever = true };

	make_heap();
	mu_library.options.workers = NUM_WORKERS;
	mu_library.options.timeout = SHORT_MS;
	if (!walk_begin(&walk, _i / 2, ROLE_SWEEPER, false))
		return;
	spoil(&fault);
	walk_end(&walk);
}

TEST(one_worker)
{
	make_heap();
	mu_library.options.workers = 1;
	if (!walk_begin(&walk, METHOD_PTRACE, ROLE_SWEEPER, false))
		return;
	ck_assert_uint_eq(walk.counts[ROLE_SWEEPER][SYS_clone], 0);
	walk_end(&walk);
}

SUITE(.begin = walk_limit, .timeout = 300);
