/* Damaged free lists: bins, fastbins, tcaches. */
#include "tests/support/heaps/damaged_heap.h"
#include "tests/support/suite.h"

static void
damage_bin_link(void)
{
	((uintptr_t *)subject.large[0])[1] ^= 0x20;
}

/* A bin that leads to its first chunk again. */
static void
damage_bin_loop(void)
{
	((uintptr_t *)subject.large[0])[0] = (uintptr_t)subject.large[1] - 16;
}

/* Off its list, as if it were in use; and its neighbours linked. */
static void
damage_bin_missing(void)
{
	uintptr_t *links = (uintptr_t *)subject.large[0];

	*(uintptr_t *)(links[0] + 24) = links[1];
	*(uintptr_t *)(links[1] + 16) = links[0];
}

static void
damage_bin_in_use(void)
{
	uintptr_t *first = (uintptr_t *)subject.large[0];
	uintptr_t *mine = (uintptr_t *)subject.used;
	uintptr_t chunk = (uintptr_t)subject.used - 16;

	mine[0] = first[0];
	mine[1] = (uintptr_t)subject.large[0] - 16;
	*(uintptr_t *)(first[0] + 24) = chunk;
	first[0] = chunk;
}

static void
damage_fastbin_loop(void)
{
	uintptr_t *field = (uintptr_t *)subject.small[0];

	*field = mangle(field, (uintptr_t)subject.small[2] - 16);
}

static void
damage_fastbin_cached(void)
{
	uintptr_t *field = (uintptr_t *)subject.small[0];

	*field = mangle(field, (uintptr_t)subject.cached - 16);
}

static void
damage_fastbin_class(void)
{
	uintptr_t *field = (uintptr_t *)subject.small[0];

	*field = mangle(field, (uintptr_t)subject.used - 16);
}

static void
damage_fastbin_wild(void)
{
	*(uintptr_t *)subject.small[0] = 0x123456789abcdef0;
}

TEST(rule4_free_lists)
{
	refused(damage_bin_link, "not mutual");
	refused(damage_bin_loop, "on two free lists");
	refused(damage_bin_missing, "in its bins");
	refused(damage_bin_in_use, "in use, yet on a free list");
	if (subject.glibc.layout->arena_fastbins == 0)
		return;
	refused(damage_fastbin_loop, "on two free lists");
	refused(damage_fastbin_cached, "on two free lists");
	refused(damage_fastbin_class, "another fastbin");
	refused(damage_fastbin_wild, "not in the arena's memory");
}

/* Offset of the count and of the head of SIZE's list. */
static uint16_t *
tcache_count(size_t size)
{
	return (uint16_t *)subject.tcache + (size - 32) / 16;
}

/* Pretend that there are MORE entries. */
static void
damage_count(int more)
{
	if (subject.glibc.layout->tcache_counts_free)
		more = -more;
	*tcache_count(TWO + 8) += (uint16_t)more;
}

static void
damage_count_high(void)
{
	damage_count(2);
}

static void
damage_count_low(void)
{
	damage_count(-2);
}

static void
damage_count_in_flight(void)
{
	damage_count(-1);
}

static void
damage_tcache_loop(void)
{
	uintptr_t *field = (uintptr_t *)subject.cached;

	*field = mangle(field, (uintptr_t)subject.cached);
}

TEST(rule5_tcache)
{
	struct answer answer;

	if (subject.glibc.layout->tcache_count_size != 2)
		return;
	refused(damage_count_high, "its count is higher");
	refused(damage_count_low, "longer than its count");
	refused(damage_tcache_loop, "longer than its count");
	answer = damaged_ask(damage_count_in_flight, NULL);
	ck_assert_int_eq(answer.status, MU_OK);
}

SUITE(.setup = damaged_setup);
