/*
 * Exponential gaps. Logarithm and exponential are implemented here, as libm
 * would be loaded into every program for a rare use.
 */
#include "lib/malloc_debug/shadow/sampling.h"

#include <string.h>

#include "mu/sys.h"

_Thread_local size_t sampling_left __attribute__((tls_model("initial-exec")));

static _Thread_local uint64_t state
    __attribute__((tls_model("initial-exec"))); /* 0 = no seed yet */
static double mean_bytes = 1;

void
sampling_init(size_t mean)
{
	mean_bytes = mean == 0 ? 1 : (double)mean;
}

void
sampling_fork_child(void)
{
	state = 0;
	sampling_left = 0;
}

/* A bijection whose output bits depend on all bits of X (murmur3's end). */
static uint64_t
stirred(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

static uint64_t
next_random(void)
{
	uint64_t x = state;

	if (x == 0) {
		x = stirred((uint64_t)(uintptr_t)&state ^ mu_sys_now_ns());
		x ^= (uint64_t)mu_sys_gettid() << 32;
		x += x == 0;
	}
	/* Marsaglia's xorshift, 13-7-17: all of 2^64 - 1 states. */
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	state = x;
	return stirred(x);
}

/*
 * Natural logarithm of VALUE > 0: exponent from the bits, the rest by the
 * series of artanh.
 */
static double
natural_log(double value)
{
	uint64_t bits;
	double m, z, zz, sum = 0;
	int exponent, i;

	memcpy(&bits, &value, sizeof(bits));
	exponent = (int)(bits >> 52 & 0x7ff) - 1023;
	bits = (bits & 0xfffffffffffffull) | 0x3ffull << 52;
	memcpy(&m, &bits, sizeof(m)); /* 1 <= m < 2 */
	z = (m - 1) / (m + 1);        /* <= 1/3: 3^-2 a term */
	zz = z * z;
	for (i = 33; i > 0; i -= 2)
		sum = sum * zz + 1.0 / i;
	return 2 * z * sum + exponent * 0.69314718055994530942;
}

/* 1 - exp(-X), accurate also for tiny X. */
static double
hit_probability(double x)
{
	double sum = 0, part;
	int halved = 0, i;

	if (x > 40)
		return 1;
	while (x > 0.25) {
		x /= 2;
		halved++;
	}
	for (i = 14; i > 0; i--)
		sum = (1 - sum) * x / i;
	/* 1 - e^-2x = (1 - e^-x) (2 - (1 - e^-x)) */
	for (part = sum; halved > 0; halved--)
		part *= 2 - part;
	return part;
}

static size_t
draw_gap(void)
{
	/* (0, 1]: 53 bits are as many as a double has. */
	double u = (double)((next_random() >> 11) + 1) * 0x1p-53;
	double gap = -natural_log(u) * mean_bytes;

	return gap < 1 ? 1 : gap > 0x1p62 ? (size_t)1 << 62 : (size_t)gap;
}

bool
sampling_draw(size_t size)
{
	if (sampling_left == 0) {
		sampling_left = draw_gap();
		if (size < sampling_left) {
			sampling_left -= size;
			return false;
		}
	}
	/*
	 * The thread has no earlier hit: the next gap begins after the block.
	 */
	sampling_left = draw_gap();
	return true;
}

double
sampling_weight(size_t size, size_t mean)
{
	double p;

	if (mean <= 1)
		return 1;
	p = hit_probability((double)(size == 0 ? 1 : size) / (double)mean);
	return p >= 1 ? 1 : 1 / p;
}

uint64_t
sampling_estimate(size_t size, uint64_t count, size_t mean)
{
	return (uint64_t)((double)count * sampling_weight(size, mean) + 0.5);
}
