#include "lib/growth/growth.h"

#define RISES 3       /* new maxima, in all */
#define RISES_LATER 2 /* of them in the later looks */
#define HOUR_NS 3600e9
#define FALLS 8     /* a gain of so many deepest falls is no chance */
#define LIKE_MAX .8 /* what few looks are believed of the next two */

/* The deepest fall from any value to a later one. */
static uint64_t
deepest_fall(const uint64_t *values, size_t count)
{
	uint64_t high = 0, fall = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (values[i] > high)
			high = values[i];
		if (high - values[i] > fall)
			fall = high - values[i];
	}
	return fall;
}

static bool
falls_much(const uint64_t *values, size_t count)
{
	return deepest_fall(values, count) >
	    mu_gain(values[0], values[count - 1]) / FALLS;
}

/* How often VALUES[AT] occurs, if it is the first such one; else 0. */
static double
ties(const uint64_t *values, size_t count, size_t at)
{
	double same = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (values[i] != values[at])
			continue;
		if (i < at)
			return 0;
		same++;
	}
	return same;
}

/*
 * How many times as much as independent values the order of VALUES varies by
 * chance: what a cache holds is like what it held at the look before. By the
 * correlation of neighbours, as they are above or below the line from the first
 * value to the last; few values make it too small (Marriott and Pope, 1954).
 */
static double
dependence(const uint64_t *values, size_t count)
{
	double n = (double)count, rise, mean = 0, rest, before = 0;
	double with_next = 0, with_itself = 0, like;
	size_t i;

	rise = ((double)values[count - 1] - (double)values[0]) / (n - 1);
	for (i = 0; i < count; i++)
		mean += ((double)values[i] - rise * (double)i) / n;
	for (i = 0; i < count; i++) {
		rest = (double)values[i] - rise * (double)i - mean;
		with_itself += rest * rest;
		with_next += rest * before;
		before = rest;
	}
	if (with_itself <= 0)
		return 1;
	like = with_next / with_itself;
	like += (1 + 4 * like) / n;
	if (like > LIKE_MAX)
		like = LIKE_MAX;
	return like > 0 ? (1 + like) / (1 - like) : 1;
}

/*
 * The test of Mann and Kendall, one-sided, with the correction for ties: pairs
 * that rise against pairs that fall; and with that for values that are like
 * their neighbours, as smooth growth is, too, but that has no falls.
 */
static bool
rises_in_order(const uint64_t *values, size_t count, double certain)
{
	double n = (double)count, same, score = 0, variance;
	size_t i, j;

	variance = n * (n - 1) * (2 * n + 5);
	for (i = 0; i < count; i++) {
		for (j = i + 1; j < count; j++)
			score +=
			    (values[j] > values[i]) - (values[j] < values[i]);
		same = ties(values, count, i);
		variance -= same * (same - 1) * (2 * same + 5);
	}
	variance /= 18;
	if (falls_much(values, count))
		variance *= dependence(values, count);
	/* (score - 1) / sqrt(variance) > certain, without libm */
	return score > 1 &&
	    (score - 1) * (score - 1) > certain * certain * variance;
}

/*
 * The squares of Student's t that one of fifty has by chance, one-sided, by the
 * number of steps; more of them have the last one.
 */
static const double unlikely_t2[] = { 0, 0, 251, 23.6, 12.1, 8.99, 7.55, 6.76,
	6.26, 5.92, 5.67, 5.48 };

#define STEPS_KNOWN (sizeof(unlikely_t2) / sizeof(*unlikely_t2))

/* The step from look I to the next one, or what it is in an hour. */
static double
step_at(const uint64_t *values, const uint64_t *times_ns, size_t i)
{
	double step = (double)values[i + 1] - (double)values[i];

	return times_ns == NULL
	    ? step
	    : step * HOUR_NS / (double)(times_ns[i + 1] - times_ns[i]);
}

/*
 * True if the steps from look to look rise by more than chance: what a cache
 * holds may wander, each step as likely down as up, and then the order of its
 * values proves nothing. Steps that are equal, as of a loop that keeps what it
 * makes, prove it soonest. TIMES_NS may be NULL: all take equally long.
 */
static bool
steps_rise(const uint64_t *values, const uint64_t *times_ns, size_t count)
{
	size_t i, steps = count - 1;
	double n = (double)steps, mean = 0, step, spread = 0;

	for (i = 0; i < steps; i++)
		mean += step_at(values, times_ns, i) / n;
	for (i = 0; i < steps; i++) {
		step = step_at(values, times_ns, i) - mean;
		spread += step * step;
	}
	spread /= n - 1;
	if (steps >= STEPS_KNOWN)
		steps = STEPS_KNOWN - 1;
	return mean > 0 && mean * mean * n >= unlikely_t2[steps] * spread;
}

/* How often there is a new maximum. */
static size_t
count_rises(const uint64_t *values, size_t count)
{
	uint64_t high = values[0];
	size_t i, rises = 0;

	for (i = 1; i < count; i++) {
		rises += values[i] > high;
		high = values[i] > high ? values[i] : high;
	}
	return rises;
}

/*
 * True if the gain between the last two of LOOKS is less than SHARE of that
 * between the first two, each in the same time, as a look that is late finds
 * more; also by the look, unless CURVE: what is lost does not fill up.
 */
static bool
gains_less(const uint64_t *values, const uint64_t *times_ns,
    const size_t looks[3], double share, bool curve)
{
	double then = (double)mu_gain(values[looks[0]], values[looks[1]]);
	double now = (double)mu_gain(values[looks[1]], values[looks[2]]);

	return (curve || now < then * share) &&
	    now * (double)(times_ns[looks[1]] - times_ns[looks[0]]) <
	    then * share * (double)(times_ns[looks[2]] - times_ns[looks[1]]);
}

/*
 * True if no new maximum was reached for longer than twice what separated
 * earlier ones, or if the second half gains less than a third of what the first
 * one did, or a half with CURVE.
 */
static bool
has_stopped(
    const uint64_t *values, const uint64_t *times_ns, size_t count, bool curve)
{
	const size_t looks[] = { 0, (count - 1) / 2, count - 1 };
	size_t i, quiet = 0, gap = 0;
	uint64_t high = values[0];

	for (i = 1; i < count; i++) {
		if (values[i] <= high) {
			quiet++;
			continue;
		}
		high = values[i];
		if (quiet > gap)
			gap = quiet;
		quiet = 0;
	}
	return quiet > 2 * gap + 1 ||
	    gains_less(values, times_ns, looks, curve ? 1. / 2 : 1. / 3, curve);
}

/*
 * True if each quarter gains less than three quarters of what the one before
 * did.
 */
static bool
levels_off(const uint64_t *values, const uint64_t *times_ns, size_t count)
{
	size_t step = (count - 1) / 4, end = count - 1, i;

	if (step < 2)
		return false;
	for (i = 2; i < 4; i++) {
		const size_t looks[] = { end - (5 - i) * step,
			end - (4 - i) * step, end - (3 - i) * step };

		if (!gains_less(values, times_ns, looks, .75, true))
			return false;
	}
	return true;
}

static double
slope_per_hour(const uint64_t *values, const uint64_t *times_ns, size_t count)
{
	double x, y, n = (double)count;
	double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, spread;
	size_t i;

	for (i = 0; i < count; i++) {
		x = (double)(times_ns[i] - times_ns[0]) / HOUR_NS;
		y = (double)values[i] - (double)values[0];
		sum_x += x;
		sum_y += y;
		sum_xx += x * x;
		sum_xy += x * y;
	}
	spread = n * sum_xx - sum_x * sum_x;
	return spread > 0 ? (n * sum_xy - sum_x * sum_y) / spread : 0;
}

/* A quarter for the warm-up, but at least four looks remain. */
static size_t
later_looks(size_t count)
{
	size_t from = count / 4;

	return from + MU_GROWTH_LOOKS > count ? count - MU_GROWTH_LOOKS : from;
}

struct mu_growth
mu_growth_judge(const uint64_t *values, const uint64_t *times_ns, size_t count,
    const struct mu_growth_rule *rule)
{
	struct mu_growth growth = { .grows = false };
	const uint64_t *later;
	size_t num_later;

	if (count < MU_GROWTH_LOOKS)
		return growth;
	growth.from = later_looks(count);
	later = values + growth.from;
	num_later = count - growth.from;
	growth.gained = mu_gain(later[0], values[count - 1]);
	growth.per_hour =
	    slope_per_hour(later, times_ns + growth.from, num_later);
	growth.rises = growth.gained > 0 && growth.gained >= rule->least &&
	    growth.gained / 2 >= deepest_fall(later, num_later) &&
	    count_rises(values, count) >= RISES &&
	    count_rises(later, num_later) >= RISES_LATER &&
	    growth.per_hour > 0 &&
	    rises_in_order(later, num_later, rule->certain) &&
	    !has_stopped(
		later, times_ns + growth.from, num_later, rule->curve) &&
	    !(rule->curve && levels_off(values, times_ns, count));
	growth.grows = growth.rises &&
	    ((!rule->curve && !falls_much(later, num_later)) ||
		steps_rise(later, NULL, num_later) ||
		steps_rise(later, times_ns + growth.from, num_later));
	return growth;
}
