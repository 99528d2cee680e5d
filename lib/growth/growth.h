/*
 * Does a series of figures grow? It does if it rises over the later looks,
 * - more than once, and by twice its deepest fall or more, which rules out
 *   caches that evict, sawteeth and noise;
 * - in an order that is unlikely by chance (the test of Mann and Kendall), also
 *   if each value is like the one before;
 * - in steps that are no chance (Student's test), where it falls at times, or
 *   CURVE is set: what wanders up, as a cache may, has an order, too;
 * - and still does: what has stopped to rise, or rises ever less, is warm.
 *
 * Pure.
 */
#ifndef LIB_GROWTH_GROWTH_H
#define LIB_GROWTH_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_GROWTH_LOOKS 4 /* fewer have no verdict */

/*
 * How certain the order is: the quantile of the normal distribution. ONE is for
 * one series, of which one in twenty is above by chance; MANY for any of
 * hundreds of groups, one in a thousand.
 */
#define MU_GROWTH_ONE 1.645
#define MU_GROWTH_MANY 3.09

struct mu_growth_rule {
	double certain; /* MU_GROWTH_ONE, MU_GROWTH_MANY */
	uint64_t least; /* what is less is no growth, in all */
	bool curve;     /* it may fall: what levels off, as a cache that fills,
			   and what wanders up is none */
};

struct mu_growth {
	bool grows;
	bool rises;      /* more looks tell whether it grows; or it does */
	size_t from;     /* the first of the later looks */
	uint64_t gained; /* from there to the last; 0 if it is less */
	double per_hour; /* slope of the line that fits these best */
};

/* From BEFORE to AFTER; 0: it is none. */
static inline uint64_t
mu_gain(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

/* VALUES at TIMES_NS, which rise. */
struct mu_growth mu_growth_judge(const uint64_t *values,
    const uint64_t *times_ns, size_t count, const struct mu_growth_rule *rule);

#endif
