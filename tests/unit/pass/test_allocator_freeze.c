/*
 * How long a freeze of malloc waits for a lock, and what its failure means: a
 * thread that was stopped before the others may have the lock.
 */
#include "lib/state/allocator_freeze.h"

#include "lib/state/library.h"
#include "mu/sys.h"
#include "tests/support/suite.h"

#define TID 4711
#define TIMEOUT_NS (60 * MU_NS_PER_SEC)

static struct mu_heap_freeze asked;

static enum mu_status
be_busy(struct mu_heap_member *member, const struct mu_heap_freeze *freeze,
    struct mu_why *why)
{
	(void)member;
	asked = *freeze;
	return mu_why(why, MU_ERR_BUSY, "locked");
}

static void
thaw(struct mu_heap_member *member)
{
	(void)member;
}

static const struct mu_heap_ops busy = { .freeze = be_busy, .thaw = thaw };
static struct mu_image image;

static void
begin(void)
{
	image = (struct mu_image) { .job = { .pid = getpid() } };
	mu_arena_open(&image.job.arena, 1 << 20);
	image.job.deadline_ns = mu_sys_now_ns() + TIMEOUT_NS;
	image.stop.heaps.members[0].ops = &busy;
	image.stop.heaps.count = 1;
	image.stop.late = (struct mu_late_threads) { { TID, TID + 1 } };
}

static void
end(void)
{
	mu_arena_close(&image.job.arena);
}

TEST(no_thread_is_stopped)
{
	ck_assert_int_eq(mu_allocator_freeze(&image), MU_ERR_BUSY);
	ck_assert_uint_ge(asked.patience_ns, TIMEOUT_NS);
	ck_assert_int_eq(image.stop.late.tids[0], TID);
}

TEST(a_thread_is_stopped)
{
	image.stop.held = TID;
	mu_library.options.max_pause = 300;
	ck_assert_int_eq(mu_allocator_freeze(&image), MU_ERR_TIMEOUT);
	ck_assert_uint_eq(asked.patience_ns, 300 * MU_NS_PER_MS);
	ck_assert_ptr_nonnull(strstr(image.job.why.text, "thread 4711"));
	/* The next try does without: it has expired, and no thread is late. */
	ck_assert_uint_le(image.stop.until_ns, mu_sys_now_ns());
	ck_assert_int_eq(image.stop.late.tids[0], 0);
	ck_assert_int_eq(image.stop.late.tids[1], 0);
}

SUITE(.setup = begin, .teardown = end);
