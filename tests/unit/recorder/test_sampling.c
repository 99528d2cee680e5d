/*
 * Sampling: blocks are sampled with the right probability, and estimates are
 * right on average.
 */
#include "lib/malloc_debug/shadow/sampling.h"
#include "tests/support/suite.h"

#define MEAN 524288

static double
share_hit(size_t size, unsigned tries)
{
	unsigned i, hits = 0;

	for (i = 0; i < tries; i++)
		hits += sampling_wants(size);
	return (double)hits / tries;
}

static void
setup(void)
{
	sampling_init(MEAN);
	sampling_fork_child();
}

static void
check_near(double value, double wanted, double share)
{
	ck_assert_msg(
	    value > wanted * (1 - share) && value < wanted * (1 + share),
	    "%g, not %g", value, wanted);
}

/* 1 - exp(-size / mean); six standard deviations around it. */
TEST(hits_are_as_likely_as_said)
{
	check_near(share_hit(MEAN / 1000, 4000000), 0.00099950, 0.10);
	check_near(share_hit(MEAN / 8, 400000), 0.11750310, 0.03);
	check_near(share_hit(MEAN, 100000), 0.63212056, 0.02);
	check_near(share_hit(3 * MEAN, 100000), 0.95021293, 0.005);
}

TEST(large_blocks_always)
{
	ck_assert(share_hit((size_t)MEAN * 40, 10000) == 1);
	ck_assert(share_hit(SIZE_MAX, 100) == 1);
	ck_assert(share_hit(SIZE_MAX / 2, 100) == 1);
}

TEST(blocks_of_nothing)
{
	ck_assert(share_hit(0, 1000000) < 0.00001);
}

TEST(weights)
{
	check_near(sampling_weight(1, MEAN), 524288.5, 1e-9);
	check_near(sampling_weight(0, MEAN), 524288.5, 1e-9);
	check_near(sampling_weight(64, MEAN), 8192.500010172525, 1e-12);
	check_near(sampling_weight(MEAN, MEAN), 1.5819767068693265, 1e-12);
	check_near(sampling_weight(MEAN / 4, MEAN), 4.520811664187799, 1e-12);
	check_near(sampling_weight(5 * MEAN, MEAN), 1.0067836549063043, 1e-12);
	ck_assert(sampling_weight((size_t)100 * MEAN, MEAN) == 1);
	ck_assert(sampling_weight(SIZE_MAX, MEAN) == 1);
	ck_assert(sampling_weight(17, 0) == 1);
	ck_assert_uint_eq(sampling_estimate(MEAN, 1000000, MEAN), 1581977);
	ck_assert_uint_eq(sampling_estimate(64, 0, MEAN), 0);
}

/* A program of many sizes: what is hit stands for what was allocated. */
TEST(estimates_are_unbiased)
{
	static const size_t sizes[] = { 24, 400, 5000, 70000, 900000 };
	static const unsigned counts[] = { 4000000, 400000, 60000, 9000, 500 };
	unsigned i, k;

	for (k = 0; k < 5; k++) {
		uint64_t hits = 0;

		for (i = 0; i < counts[k]; i++)
			hits += sampling_wants(sizes[k]);
		/* At least 180 hits: six deviations are 45 %. */
		check_near((double)sampling_estimate(sizes[k], hits, MEAN),
		    counts[k], k < 4 ? 0.45 : 0.3);
	}
}

static void *
draw(void *arg)
{
	size_t *gaps = arg;
	unsigned i;

	for (i = 0; i < 8; i++) {
		sampling_draw(SIZE_MAX);
		gaps[i] = sampling_left;
	}
	return NULL;
}

TEST(threads_draw_their_own)
{
	size_t gaps[2][8];
	pthread_t threads[2];
	unsigned i, same = 0;

	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, draw, gaps[i]);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 8; i++)
		same += gaps[0][i] == gaps[1][i];
	ck_assert_uint_eq(same, 0);
}

SUITE(.setup = setup);
