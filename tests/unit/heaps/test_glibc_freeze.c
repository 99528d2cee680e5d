/*
 * How long a freeze waits for the lock of an arena: as long as it is released
 * now and then, although others take it first; no longer if it is not.
 */
#include "heapwalk/heaps/glibc/freeze.h"

#include "heapwalk/heaps/glibc/arena.h"
#include "mu/sys.h"
#include "tests/support/suite.h"

#define TAKEN 1 /* of glibc's low-level lock */
#define ROUNDS 16
#define ROUND_NS (150 * MU_NS_PER_MS)
#define PATIENCE_NS (2 * MU_NS_PER_SEC)
#define DEADLINE_NS (60 * MU_NS_PER_SEC)

/* An arena: its lock, and the next one of the ring, which is itself. */
static struct {
	int mutex;
	void *next;
} arena;

static const struct mu_glibc_layout layout = {
	.arena_next = sizeof(void *),
};
static struct mu_glibc glibc;
static struct mu_heap_member member = { .state = &glibc };
static struct mu_arena memory;
static unsigned rounds;

static void
begin(void)
{
	mu_arena_open(&memory, 1 << 20);
	arena.mutex = TAKEN;
	arena.next = &arena;
	glibc = (struct mu_glibc) { .layout = &layout,
		.main_arena = (uintptr_t)&arena };
}

static void
end(void)
{
	mu_arena_close(&memory);
}

static enum mu_status
freeze(void)
{
	struct mu_heap_freeze wanted = {
		.arena = &memory,
		.deadline_ns = mu_sys_now_ns() + DEADLINE_NS,
		.patience_ns = PATIENCE_NS,
	};

	return mu_glibc_freeze(&member, &wanted, NULL);
}

/* Release the lock, and take it before a thread that waits for it runs. */
static void *
barge(void *unused)
{
	for (rounds = 0; rounds < ROUNDS; rounds++) {
		mu_sys_sleep_ns(ROUND_NS);
		__atomic_store_n(&arena.mutex, TAKEN, __ATOMIC_RELEASE);
		mu_sys_futex_wake(&arena.mutex, 1, FUTEX_PRIVATE_FLAG);
	}
	__atomic_store_n(&arena.mutex, 0, __ATOMIC_RELEASE);
	mu_sys_futex_wake(&arena.mutex, 1, FUTEX_PRIVATE_FLAG);
	return unused;
}

TEST(a_lock_that_others_take_first)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, barge, NULL), 0);
	ck_assert_int_eq(freeze(), MU_OK);
	ck_assert_uint_eq(rounds, ROUNDS);
	ck_assert_int_ne(arena.mutex, 0);
	mu_glibc_thaw(&member);
	ck_assert_int_eq(arena.mutex, 0);
	pthread_join(thread, NULL);
}

TEST(a_lock_that_is_never_released)
{
	uint64_t began = mu_sys_now_ns(), took;

	ck_assert_int_eq(freeze(), MU_ERR_BUSY);
	took = mu_sys_now_ns() - began;
	ck_assert_uint_ge(took, PATIENCE_NS);
	ck_assert_uint_lt(took, DEADLINE_NS / 2);
	mu_glibc_thaw(&member);
	ck_assert_int_ne(arena.mutex, 0);
}

SUITE(.setup = begin, .teardown = end);
