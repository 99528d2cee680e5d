/*
 * lib/watch/: when a series grows, what a verdict says, what is kept of a long
 * watch, when the next look is, and the lines.
 */
#include <jansson.h>

#include "lib/cli/options.h"
#include "lib/growth/growth.h"
#include "lib/watch/lines.h"
#include "lib/watch/plan.h"
#include "lib/watch/spark.h"
#include "lib/writers/exit_status.h"
#include "tests/support/suite.h"

#define S 1000000000ull
#define MAX 64

static uint64_t times[MAX];
static struct mu_series series;
static struct mu_watch_look look;
static struct mu_watch_result result;
static char text[8192];

static bool
grows(const uint64_t *values, size_t count, bool curve)
{
	const struct mu_growth_rule rule = {
		.certain = MU_GROWTH_ONE, .least = 100, .curve = curve
	};
	size_t i;

	for (i = 0; i < count; i++)
		times[i] = (7 + 60 * i) * S;
	return mu_growth_judge(values, times, count, &rule).grows;
}

#define GROWS(...) grows(SERIES(__VA_ARGS__), false)
#define GROWS_LIVE(...) grows(SERIES(__VA_ARGS__), true)
#define SERIES(...)                         \
	(const uint64_t[]) { __VA_ARGS__ }, \
	    sizeof((const uint64_t[]) { __VA_ARGS__ }) / sizeof(uint64_t)

TEST(what_grows)
{
	ck_assert(GROWS(0, 100, 200, 300));
	ck_assert(GROWS_LIVE(5000, 5100, 5200, 5300, 5400));
	/* after a warm-up */
	ck_assert(GROWS(0, 5000, 5000, 5040, 5080, 5120, 5160, 5200, 5240));
	/* with pauses */
	ck_assert(GROWS(0, 0, 90, 90, 90, 180, 180, 180, 270, 270, 270, 360));
	/* more than its noise */
	ck_assert(GROWS(0, 300, 500, 480, 800, 1000, 990, 1300, 1500, 1460));
}

/*
 * COUNT looks a second apart, but for LATE seconds before look AT; GAIN bytes
 * come in a second, in each as many by SHARE as in the one before.
 */
static bool
grows_late(size_t count, size_t at, unsigned late, double share, bool curve)
{
	const struct mu_growth_rule rule = {
		.certain = MU_GROWTH_ONE, .least = 100, .curve = curve
	};
	double value = 100000, gain = 40000;
	uint64_t values[MAX];
	size_t i;
	unsigned j;

	for (i = 0; i < count; i++) {
		times[i] = i == 0 ? 7 * S : times[i - 1];
		for (j = i == 0 ? 0 : i == at ? late : 1; j > 0; j--) {
			times[i] += S;
			value += gain;
			gain *= share;
		}
		values[i] = (uint64_t)value;
	}
	return mu_growth_judge(values, times, count, &rule).grows;
}

/* What takes longer for once, as a look that finds types, changes nothing. */
TEST(late_looks)
{
	size_t count, at;

	for (count = 6; count < 20; count++)
		for (at = 1; at < count; at++) {
			ck_assert(grows_late(count, at, 8, 1, false));
			ck_assert(grows_late(count, at, 8, 1, true));
			ck_assert(!grows_late(count, at, 8, .5, true));
			ck_assert(!grows_late(count, at, 8, .3, false));
		}
	for (count = 9; count < 20; count++)
		for (at = 1; at < count; at++) {
			ck_assert(!grows_late(count, at, 8, .7, true));
			ck_assert(!grows_late(count, at, 8, .85, true));
		}
}

TEST(what_does_not)
{
	/* too few */
	ck_assert(!GROWS(0, 1000, 2000));
	/* too little */
	ck_assert(!GROWS(0, 10, 20, 30, 40));
	ck_assert(!GROWS(500, 500, 500, 500, 500, 500));
	ck_assert(!GROWS(900, 800, 700, 600, 500));
	/* once, wherever that is */
	ck_assert(!GROWS(0, 0, 900, 900, 900, 900, 900, 900));
	ck_assert(!GROWS(0, 0, 0, 0, 0, 900, 900, 900));
	ck_assert(!GROWS(0, 0, 0, 0, 0, 0, 0, 900));
	/* a warm-up */
	ck_assert(!GROWS(0, 500, 900, 900, 900, 900, 900));
	ck_assert(!GROWS(0, 100, 200, 300, 400, 400, 400, 400, 400, 400));
	ck_assert(!GROWS_LIVE(0, 500, 750, 875, 937, 968, 984, 992, 996, 998));
	/* a sawtooth */
	ck_assert(!GROWS(0, 300, 600, 0, 300, 600, 0, 300, 600));
	ck_assert(!GROWS(0, 300, 600, 900, 0, 300, 600, 900, 1200));
	/* noise */
	ck_assert(!GROWS(510, 490, 520, 480, 530, 470, 500, 540, 460, 550));
}

/* No series of noise of 16 looks, however it falls, is growth often. */
TEST(noise_is_no_growth)
{
	uint64_t values[16];
	unsigned seed = 1, i, run, wrong = 0;

	for (run = 0; run < 2000; run++) {
		for (i = 0; i < 16; i++) {
			seed = seed * 1103515245 + 12345;
			values[i] = 100000 + (seed >> 16) % 50000;
		}
		wrong += grows(values, 16, true);
	}
	ck_assert_uint_le(wrong, 2);
}

/*
 * One of many groups of a cache whose entries change little from look to look:
 * a value is four fifths of the one before, and noise.
 */
TEST(slow_noise_is_no_growth)
{
	const struct mu_growth_rule rule = {
		.certain = MU_GROWTH_MANY, .least = 100, .curve = true
	};
	uint64_t values[20];
	unsigned seed = 1, i, j, run, wrong = 0;
	int64_t high, shift = 0;

	for (i = 0; i < 20; i++)
		times[i] = (7 + 60 * i) * S;
	for (run = 0; run < 4000; run++) {
		for (i = 0; i < 20; i++) {
			for (j = 0, high = 0; j < 8; j++) {
				seed = seed * 1103515245 + 12345;
				high += (int)((seed >> 16) % 2001) - 1000;
			}
			shift = shift * 4 / 5 + high;
			values[i] = (uint64_t)(1000000 + shift);
		}
		wrong += mu_growth_judge(values, times, 20, &rule).grows;
	}
	ck_assert_uint_le(wrong, 30);
}

/*
 * What a cache holds may wander, each step as likely down as up: then an order
 * says nothing, however many looks there are.
 */
TEST(wandering_is_no_growth)
{
	static const size_t counts[] = { 4, 6, 8, 10, 20, 60 };
	uint64_t values[60];
	unsigned seed = 1, i, j, k, run, wrong;
	int64_t at;

	for (k = 0; k < sizeof(counts) / sizeof(*counts); k++) {
		for (run = 0, wrong = 0; run < 2000; run++) {
			for (i = 0, at = 100000000; i < counts[k]; i++) {
				for (j = 0; j < 8; j++) {
					seed = seed * 1103515245 + 12345;
					at += (int)((seed >> 16) % 2001) - 1000;
				}
				values[i] = (uint64_t)at;
			}
			wrong += grows(values, counts[k], true);
		}
		ck_assert_msg(
		    wrong <= 60, "%zu looks: %u of 2000", counts[k], wrong);
	}
}

/* A loop keeps what it makes, now more, now less, beside noise. */
TEST(uneven_growth)
{
	uint64_t values[10];
	unsigned seed = 1, i, run, right = 0;
	uint64_t sum;

	for (run = 0; run < 1000; run++) {
		for (i = 0, sum = 1000000; i < 10; i++) {
			seed = seed * 1103515245 + 12345;
			sum += 5000 + (seed >> 16) % 10000;
			seed = seed * 1103515245 + 12345;
			values[i] = sum + (seed >> 16) % 5000;
		}
		right += grows(values, 10, true);
	}
	ck_assert_uint_ge(right, 950);
}

TEST(rate)
{
	const struct mu_growth_rule rule = { .certain = MU_GROWTH_ONE };
	struct mu_growth growth;

	/* 100 bytes a minute */
	ck_assert(GROWS(0, 100, 200, 300, 400));
	growth = mu_growth_judge(
	    (const uint64_t[]) { 0, 100, 200, 300, 400 }, times, 5, &rule);
	ck_assert_double_eq_tol(growth.per_hour, 6000, 1e-6);
	ck_assert_uint_eq(growth.from, 1);
	ck_assert_uint_eq(growth.gained, 300);
}

static void
add_group(enum mu_watch_kind kind, const char *name, uint64_t bytes)
{
	struct mu_watch_group *group = &look.groups[look.num_groups++];

	group->kind = kind;
	strcpy(group->name, name);
	group->bytes = bytes;
	group->blocks = bytes / 100;
	if (kind == MU_WATCH_LIVE)
		look.typed = MU_TYPED;
}

static void
new_look(size_t number, uint64_t live, uint64_t lost, uint64_t held_free)
{
	memset(&look, 0, sizeof(look));
	look.real_ns = (1795800000ull + 60 * number) * S + 42000000;
	look.mono_ns = (7 + 60 * number) * S;
	look.pid = 4711;
	strcpy(look.program, "/usr/sbin/served");
	look.rss = 8 << 20;
	look.live = live;
	look.lost = lost;
	look.held_free = held_free;
	look.pause_ns = 1500000;
}

static void
judge(void)
{
	struct mu_text words = { text, sizeof(text), 0 };
	struct mu_out out = mu_out_text(&words);

	mu_watch_judge(&series, &result);
	mu_watch_verdict_text(&out, &result);
}

static void
begin(void)
{
	memset(&series, 0, sizeof(series));
	text[0] = '\0';
}

static void
fill_leak(void)
{
	size_t i;

	begin();
	for (i = 0; i < 8; i++) {
		new_look(i, 1 << 20, 50000 * i, 0);
		add_group(MU_WATCH_LOST, "Session (handle at served.c:16)",
		    47000 * i);
		add_group(MU_WATCH_LOST, "blocks of 48 bytes", 3000 * i);
		mu_series_add(&series, &look);
	}
	judge();
}

TEST(leak_by_name)
{
	fill_leak();
	ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_LEAK);
	ck_assert_int_eq(mu_watch_exit_status(&result), MU_EXIT_LEAKS);
	ck_assert_str_eq(text,
	    "leak: +2.9 MiB/h lost, 94 % of it Session (handle at"
	    " served.c:16)\n"
	    "  8 looks in 420.00 s\n"
	    "  lost  +2.7 MiB/h  94 %  Session (handle at served.c:16)\n"
	    "  lost  +175.8 KiB/h  6 %  blocks of 48 bytes\n");
}

/* A list of sessions that grows; the first COUNT looks name it so, then so. */
static void
fill_renamed(const char *first, const char *then, size_t count,
    enum mu_watch_typed typed)
{
	size_t i;

	begin();
	for (i = 0; i < 8; i++) {
		new_look(i, (1 << 20) + 50000 * i, 0, 0);
		add_group(
		    MU_WATCH_LIVE, i < count ? first : then, 40000 + 50000 * i);
		look.typed = i < count ? MU_TYPED : typed;
		mu_series_add(&series, &look);
	}
	judge();
}

TEST(growth_of_what_is_sometimes_proven)
{
	size_t i;

	for (i = 0; i <= 8; i++) {
		fill_renamed("Session", "probably Session", i, MU_TYPED);
		ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_GROWTH);
		ck_assert_uint_eq(result.num_growing, 1);
		ck_assert_str_eq(result.growing[0].name,
		    i == 8 ? "Session" : "probably Session");
		ck_assert_double_eq(result.growing[0].share, 1);
	}
}

/* What had no time for names says nothing of groups. */
TEST(growth_of_what_sometimes_has_no_name)
{
	fill_renamed("Session", "blocks of 48 bytes", 7, MU_TYPED_PARTLY);
	ck_assert_uint_eq(result.num_growing, 1);
	ck_assert_str_eq(result.growing[0].name, "Session");
	/* From the first look on: there is nothing better. */
	fill_renamed("", "blocks of 48 bytes", 0, MU_TYPED_PARTLY);
	ck_assert_uint_eq(result.num_growing, 1);
	ck_assert_str_eq(result.growing[0].name, "blocks of 48 bytes");
}

/* The looks from FIRST to LAST have groups. */
static void
fill_growth(size_t first, size_t last)
{
	size_t i;

	begin();
	for (i = 0; i < 8; i++) {
		new_look(i, (1 << 20) + 60000 * i, 4096, 0);
		if (i >= first && i <= last) {
			add_group(MU_WATCH_LIVE, "cache entry", 60000 * i);
			add_group(MU_WATCH_LIVE, "others", 1 << 20);
		}
		mu_series_add(&series, &look);
	}
	judge();
}

TEST(growth_by_name)
{
	fill_growth(2, 7);
	ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_GROWTH);
	ck_assert_int_eq(mu_watch_exit_status(&result), MU_EXIT_CLEAN);
	ck_assert_msg(strstr(text,
			  "growth: +3.4 MiB/h in use, 100 % of it"
			  " cache entry\n") == text,
	    "%s", text);
}

/* Types take long to find: only some of the looks may know them. */
TEST(growth_of_what_few_looks_name)
{
	size_t i;

	begin();
	for (i = 0; i < 8; i++) {
		new_look(i, (1 << 20) + 60000 * i, 4096, 0);
		if (i == 1)
			add_group(MU_WATCH_LIVE, "cache entry", 60000);
		mu_series_add(&series, &look);
	}
	judge();
	ck_assert_msg(strstr(text,
			  "growth: +3.4 MiB/h in use, of types that are"
			  " known of 1 look only: more looks, or a longer"
			  " --every, find them\n") == text,
	    "%s", text);
}

/* The share is that of the looks that know the groups. */
TEST(growth_of_what_late_looks_name)
{
	fill_growth(3, 7);
	ck_assert_uint_eq(result.num_growing, 1);
	ck_assert_double_eq(result.growing[0].share, 1);
	fill_growth(2, 6);
	ck_assert_uint_eq(result.num_growing, 1);
	ck_assert_double_eq(result.growing[0].share, 1);
}

/* Only the last look knows the groups well: all looks tell their shares. */
TEST(growth_of_what_the_last_look_names)
{
	size_t i;

	begin();
	for (i = 0; i < 8; i++) {
		new_look(i, (1 << 20) + 60000 * i, 4096, 0);
		add_group(MU_WATCH_LIVE, "page", 45000 * i);
		add_group(MU_WATCH_LIVE, "others", 1 << 20);
		look.typed = i < 7 ? MU_TYPED_PARTLY : MU_TYPED;
		mu_series_add(&series, &look);
	}
	judge();
	ck_assert_uint_eq(result.num_growing, 1);
	ck_assert_double_eq(result.growing[0].share, 0.75);
}

/* What moves from one holder to another one while caches fill is no growth. */
TEST(steady_with_paths)
{
	static const uint64_t fill[] = { 0, 500, 750, 875, 937, 968, 984, 992,
		996, 998 };
	size_t i;

	begin();
	for (i = 0; i < 10; i++) {
		new_look(i, (1 << 20) + 1000 * fill[i], 0, 4096);
		add_group(MU_WATCH_LIVE, "page", 100000 + 1000 * fill[i]);
		add_group(MU_WATCH_HELD, "done", 40000 * i);
		add_group(MU_WATCH_HELD, "old", 20000 * i);
		add_group(
		    MU_WATCH_HELD, "todo", 800000 + 1000 * fill[i] - 60000 * i);
		mu_series_add(&series, &look);
	}
	judge();
	ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_STEADY);
	ck_assert_uint_eq(result.num_growing, 0);
}

/* Objects of CPython are mostly not in malloc's memory. */
TEST(growth_by_path_outside)
{
	size_t i;

	begin();
	for (i = 0; i < 8; i++) {
		new_look(i, (1 << 20) + 8192 * i, 0, 0);
		look.anon = look.live + 400000 * i;
		add_group(MU_WATCH_LIVE, "part of a dict", 8192 * i);
		add_group(MU_WATCH_HELD, "__main__.sessions", 300000 * i);
		look.groups[1].blocks = 1000 * i;
		add_group(
		    MU_WATCH_HELD, "__main__.sessions[].orders", 90000 * i);
		look.groups[2].blocks = 5000 * i;
		mu_series_add(&series, &look);
	}
	judge();
	ck_assert_uint_eq(result.num_growing, 2);
	ck_assert_msg(strstr(text,
			  ", 73 % of all that came in __main__.sessions, +60000"
			  " elements/h\n") != NULL,
	    "%s", text);
}

/* The bytes of a table that doubles are no steady growth, its elements are. */
TEST(growth_in_a_table)
{
	static const uint64_t tables[] = { 0, 0, 0, 0, 0, 0, 200000, 200000,
		200000, 200000 };
	size_t i;

	begin();
	for (i = 0; i < 10; i++) {
		new_look(i, (1 << 20) + 60000 * i, 0, 0);
		add_group(MU_WATCH_LIVE, "str", 60000 * i);
		add_group(MU_WATCH_HELD, "names", 30000 * i + tables[i]);
		look.groups[1].blocks = 100 * i;
		add_group(MU_WATCH_HELD, "larger", 30000 * i);
		look.groups[2].blocks = 100;
		mu_series_add(&series, &look);
	}
	judge();
	ck_assert_uint_eq(result.num_growing, 2);
	ck_assert_str_eq(result.growing[1].name, "names");
}

/* What holds the growth is named, but not what only its elements have. */
TEST(growth_by_path)
{
	size_t i;

	begin();
	for (i = 0; i < 8; i++) {
		new_look(i, (1 << 20) + 60000 * i, 4096, 0);
		add_group(MU_WATCH_LIVE, "session", 40000 * i);
		add_group(MU_WATCH_LIVE, "char[]", 20000 * i);
		add_group(MU_WATCH_HELD, "cache", (1 << 20) + 60000 * i);
		look.groups[2].blocks = 1;
		add_group(MU_WATCH_HELD, "cache.sessions", 58200 * i);
		look.groups[3].blocks = 20 * i;
		add_group(MU_WATCH_HELD, "cache.sessions.name", 20000 * i);
		add_group(MU_WATCH_HELD, "pool", 1 << 20);
		mu_series_add(&series, &look);
	}
	judge();
	ck_assert_str_eq(text,
	    "growth: +3.4 MiB/h in use, 67 % of it session, 97 % in"
	    " cache.sessions, +1200 elements/h\n"
	    "  8 looks in 420.00 s\n"
	    "  live  +2.3 MiB/h  67 %  session\n"
	    "  live  +1.1 MiB/h  33 %  char[]\n"
	    "  held  +3.3 MiB/h  97 %  cache.sessions, +1200 elements/h\n");
}

/* Each look has so much more lost, and so much more in use by pages. */
static void
fill_both(size_t lost, size_t live)
{
	size_t i;

	begin();
	for (i = 0; i < 8; i++) {
		new_look(i, (1 << 20) + live * i, lost * i, 4096);
		add_group(MU_WATCH_LOST, "request", lost * i);
		add_group(MU_WATCH_LIVE, "page", live * i);
		add_group(MU_WATCH_HELD, "pages.buckets[]", live * i);
		look.groups[2].blocks = 20 * i;
		mu_series_add(&series, &look);
	}
	judge();
	ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_LEAK);
	ck_assert_int_eq(mu_watch_exit_status(&result), MU_EXIT_LEAKS);
	ck_assert_uint_eq(mu_watch_main_gain(&result).gained, 5 * lost);
}

/* What grows most is said first; what is lost is a leak all the same. */
TEST(leak_and_growth_by_path)
{
	fill_both(1000, 60000);
	ck_assert_str_eq(text,
	    "growth: +3.4 MiB/h in use, 100 % of it page, 100 % in"
	    " pages.buckets[], +1200 elements/h; leak: +58.6 KiB/h lost,"
	    " 100 % of it request\n"
	    "  8 looks in 420.00 s\n"
	    "  live  +3.4 MiB/h  100 %  page\n"
	    "  held  +3.4 MiB/h  100 %  pages.buckets[], +1200 elements/h\n"
	    "  lost  +58.6 KiB/h  100 %  request\n");
	fill_both(60000, 30000);
	ck_assert_str_eq(text,
	    "leak: +3.4 MiB/h lost, 100 % of it request; growth: +1.7 MiB/h"
	    " in use, 100 % of it page, 100 % in pages.buckets[], +1200"
	    " elements/h\n"
	    "  8 looks in 420.00 s\n"
	    "  lost  +3.4 MiB/h  100 %  request\n"
	    "  live  +1.7 MiB/h  100 %  page\n"
	    "  held  +1.7 MiB/h  100 %  pages.buckets[], +1200 elements/h\n");
}

/* In JSON the verdict is the worst, and the gains are in that order. */
TEST(json_gains)
{
	const json_t *gain;
	json_t *object;

	fill_both(1000, 60000);
	object = mu_watch_json_verdict(&result, &series, NULL, &look);
	ck_assert_str_eq(
	    json_string_value(json_object_get(object, "verdict")), "leak");
	ck_assert_int_eq(
	    json_integer_value(json_object_get(object, "gained_bytes")), 5000);
	gain = json_array_get(json_object_get(object, "gains"), 0);
	ck_assert_str_eq(
	    json_string_value(json_object_get(gain, "verdict")), "growth");
	ck_assert_int_eq(
	    json_integer_value(json_object_get(gain, "gained_bytes")), 300000);
	gain = json_array_get(json_object_get(object, "gains"), 1);
	ck_assert_str_eq(
	    json_string_value(json_object_get(gain, "verdict")), "leak");
	json_decref(object);
}

/* Rounds that each lose some are a leak beside the growth of the looks. */
TEST(rounds_beside_growth)
{
	fill_growth(0, 7);
	mu_watch_judge_rounds(&result, true);
	ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_LEAK);
	ck_assert_uint_eq(result.num_gains, 2);
	ck_assert_int_eq(
	    result.gains[0].verdict, MEMUNREACHABLE_VERDICT_GROWTH);
	ck_assert_int_eq(result.gains[1].verdict, MEMUNREACHABLE_VERDICT_LEAK);
}

/* Blocks that now have another name are no growth of that. */
TEST(a_change_of_name)
{
	size_t i;

	begin();
	for (i = 0; i < 10; i++) {
		new_look(i, 1 << 20, 9000, 0);
		add_group(MU_WATCH_LIVE, "A", (1 << 20) - 90000 * i);
		add_group(MU_WATCH_LIVE, "B", 90000 * i);
		add_group(MU_WATCH_LOST, "C", 9000 - 1000 * i);
		add_group(MU_WATCH_LOST, "D", 1000 * i);
		mu_series_add(&series, &look);
	}
	judge();
	ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_STEADY);
	ck_assert_msg(strstr(text,
			  "steady: 1.0 MiB in use, 0 bytes held free,"
			  " 8.8 KiB lost, none of it new\n") == text,
	    "%s", text);
}

/* Four looks that rise, each by something else, prove nothing yet. */
TEST(rising)
{
	static const uint64_t live[] = { 1000000, 1090000, 1100000, 1400000 };
	size_t i;

	begin();
	for (i = 0; i < 4; i++) {
		new_look(i, live[i], 0, 0);
		mu_series_add(&series, &look);
	}
	judge();
	ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_STEADY);
	ck_assert(result.rising);
	ck_assert_msg(strstr(text,
			  "nothing lost; what is in use rises, and"
			  " more looks tell whether it grows\n") != NULL,
	    "%s", text);
}

TEST(fragmentation)
{
	size_t i;

	begin();
	for (i = 0; i < 8; i++) {
		new_look(i, 10 << 20, 0, 8 * i << 20);
		mu_series_add(&series, &look);
	}
	judge();
	ck_assert_msg(strstr(text,
			  "fragmentation: live bytes steady, held free"
			  " +40.0 MiB\n") == text,
	    "%s", text);
}

TEST(too_few_or_none)
{
	begin();
	judge();
	ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_UNCHECKED);
	ck_assert_int_eq(mu_watch_exit_status(&result), MU_EXIT_UNCHECKED);
	new_look(0, 0, 0, 0);
	look.status = MEMUNREACHABLE_TARGET_GONE;
	strcpy(look.reason, "process 4711 has ended");
	mu_series_add(&series, &look);
	judge();
	ck_assert_str_eq(text, "not checked: process 4711 has ended\n");
	begin();
	new_look(0, 1000, 10, 0);
	mu_series_add(&series, &look);
	judge();
	ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_TOO_FEW);
	ck_assert_int_eq(mu_watch_exit_status(&result), MU_EXIT_PARTIAL);
	ck_assert_str_eq(text,
	    "too few looks: 1 checked the heap, and a verdict needs 4\n"
	    "  1 look in 0 ns\n");
}

static struct mu_rounds rounds;

/* BLOCKS of 100 bytes each, of NAME. */
static void
add_blocks(enum mu_watch_kind kind, const char *name, uint64_t blocks)
{
	if (blocks > 0)
		add_group(kind, name, 100 * blocks);
}

TEST(rounds_that_leave_blocks)
{
	static const unsigned some[] = { 5, 9, 7, 7, 9, 8 };
	static const char *const names[] = { "exact", "cache", "first", "each",
		"some" };
	struct mu_text words = { text, sizeof(text), 0 };
	struct mu_out out = mu_out_text(&words);
	unsigned i;

	begin();
	for (i = 0; i < 6; i++) {
		new_look(i, 1 << 20, 600 * i, 0);
		add_blocks(MU_WATCH_LIVE, "some", some[i]);
		add_blocks(MU_WATCH_LIVE, "each", 3 * i + (i > 2) + 1);
		add_blocks(MU_WATCH_LIVE, "first", i == 0 ? 0 : 50 + i);
		add_blocks(MU_WATCH_LIVE, "steady", 70);
		add_blocks(MU_WATCH_LIVE, "shrinks", 90 - i);
		add_blocks(MU_WATCH_LIVE, "cache", 1000 + 2 * i);
		add_blocks(MU_WATCH_LOST, "exact", 3 * i);
		mu_series_add(&series, &look);
	}
	mu_rounds_compare(&series, &rounds);
	ck_assert_uint_eq(rounds.count, 5);
	ck_assert_uint_eq(rounds.num_left, 5);
	ck_assert(rounds.leak);
	for (i = 0; i < 5; i++)
		ck_assert_str_eq(rounds.left[i].name, names[i]);
	mu_rounds_text(&out, &rounds);
	ck_assert_str_eq(text,
	    "5 rounds left behind:\n"
	    "  lost  3 blocks, 300 bytes in each round: exact\n"
	    "  live  2 blocks, 200 bytes in each round: cache\n"
	    "  live  1 block, 100 bytes in each round but the first: first\n"
	    "  live  3 blocks, 300 bytes in the last round, some in each: each\n"
	    "  live  3 blocks, 300 bytes in all rounds together: some\n");
}

/* Two rounds are too few for a verdict of their looks. */
TEST(rounds_that_lose_blocks)
{
	size_t i;

	begin();
	for (i = 0; i < 3; i++) {
		new_look(i, 1 << 20, 300 * i, 0);
		add_blocks(MU_WATCH_LOST, "it", 3 * i);
		mu_series_add(&series, &look);
	}
	mu_rounds_compare(&series, &rounds);
	mu_watch_judge(&series, &result);
	ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_TOO_FEW);
	mu_watch_judge_rounds(&result, rounds.leak);
	ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_LEAK);
	ck_assert_uint_eq(mu_watch_main_gain(&result).gained, 600);
	ck_assert_double_eq_tol(
	    mu_watch_main_gain(&result).per_hour, 18000, 1e-6);
}

TEST(rounds_without_looks)
{
	struct mu_text words = { text, sizeof(text), 0 };
	struct mu_out out = mu_out_text(&words);

	begin();
	mu_rounds_compare(&series, &rounds);
	ck_assert_uint_eq(rounds.count, 0);
	ck_assert(!rounds.leak);
	new_look(0, 1000, 0, 0);
	add_blocks(MU_WATCH_LOST, "it", 3);
	mu_series_add(&series, &look);
	mu_rounds_compare(&series, &rounds);
	ck_assert_uint_eq(rounds.num_left, 0);
	mu_rounds_text(&out, &rounds);
	ck_assert_str_eq(text, "no round was looked at\n");
}

/* A look at a program that has no block yet knows all live groups. */
TEST(rounds_from_an_empty_heap)
{
	struct mu_explained explained = { .num_in_use = 0 };
	struct mu_report report = {
		.program = "",
		.info.status = MEMUNREACHABLE_COMPLETE,
		.explained = &explained,
	};
	unsigned i;

	begin();
	new_look(0, 0, 0, 0);
	look.typed = MU_TYPED_NOT;
	mu_watch_look_fill(&look, &report);
	mu_series_add(&series, &look);
	for (i = 1; i < 4; i++) {
		new_look(i, 100 * i, 0, 0);
		add_blocks(MU_WATCH_LIVE, "kept", i);
		mu_series_add(&series, &look);
	}
	mu_rounds_compare(&series, &rounds);
	ck_assert_uint_eq(rounds.num_left, 1);
	ck_assert_int_eq(rounds.left[0].manner, MU_ROUNDS_EXACT);
}

/* Days of looks need no more memory, and their order stays. */
TEST(long_watches)
{
	size_t i, before;
	char name[32];

	begin();
	for (i = 0; i < 20000; i++) {
		new_look(i, 1 << 20, 10 * i, 0);
		snprintf(name, sizeof(name), "group %zu", i);
		add_group(MU_WATCH_LIVE, name, 100 + i % 7);
		add_group(MU_WATCH_LOST, "it", 10 * i);
		mu_series_add(&series, &look);
		ck_assert_uint_le(series.count, MU_SERIES_LOOKS);
		ck_assert_uint_le(series.num_lines, MU_SERIES_LINES);
		ck_assert_uint_eq(
		    series.times_ns[series.count - 1], look.mono_ns);
	}
	for (i = 1; i < series.count; i++) {
		before = series.times_ns[i - 1];
		ck_assert_uint_gt(series.times_ns[i], before);
		ck_assert_uint_eq(series.totals[MU_HEAP_LOST][i],
		    (series.times_ns[i] / S - 7) / 6);
	}
	ck_assert_uint_eq(series.times_ns[0], 7 * S);
	judge();
	ck_assert_int_eq(result.verdict, MEMUNREACHABLE_VERDICT_LEAK);
	ck_assert_uint_eq(result.looks, 20000);
	ck_assert_str_eq(result.growing[0].name, "it");
}

TEST(stops_are_one_percent)
{
	struct mu_watch_plan plan = { .begin_ns = 5 * S, .every_ns = S };
	bool stretched;
	uint64_t at = 5 * S, i;

	mu_watch_plan_stop(&plan, 2000000);
	ck_assert_uint_eq(mu_watch_plan_next(&plan, at, &stretched), 6 * S);
	ck_assert(!stretched);
	for (i = 0; i < 50; i++) {
		mu_watch_plan_stop(&plan, 20000000 + i % 3 * 5000000);
		at = mu_watch_plan_next(&plan, at, &stretched);
		/* with the stop that is then to come */
		ck_assert_uint_ge(
		    at - plan.begin_ns, 100 * (plan.stops_ns + 20000000));
	}
	ck_assert(stretched);
}

TEST(end_of_a_watch)
{
	struct mu_watch_plan plan = {
		.begin_ns = S, .every_ns = 10 * S, .end_ns = 26 * S
	};
	bool stretched;

	ck_assert_uint_eq(mu_watch_plan_next(&plan, S, &stretched), 11 * S);
	/* one more at the end, unless one was just before */
	ck_assert_uint_eq(
	    mu_watch_plan_next(&plan, 21 * S, &stretched), 26 * S);
	ck_assert_uint_eq(mu_watch_plan_next(&plan, 22 * S, &stretched), 0);
	mu_watch_plan_stop(&plan, S);
	ck_assert_uint_eq(mu_watch_plan_next(&plan, 11 * S, &stretched), 0);
}

TEST(json_lines)
{
	json_t *object, *growing;

	fill_leak();
	new_look(3, 1000, 200, 30);
	look.new_lost = 10;
	object = mu_watch_json_look(&look, 3 * S);
	ck_assert_str_eq(json_string_value(json_object_get(object, "time")),
	    "2026-11-27T17:23:00.042Z");
#define IS(name, value)   \
	ck_assert_int_eq( \
	    json_integer_value(json_object_get(object, name)), value)
	IS("pid", 4711);
	IS("rss_bytes", 8 << 20);
	IS("heap_live_bytes", 1000);
	IS("heap_lost_bytes", 200);
	IS("heap_free_bytes", 30);
	IS("new_lost_bytes", 10);
	IS("pause_ns", 1500000);
	ck_assert(json_is_null(json_object_get(object, "pss_bytes")));
	ck_assert_str_eq(
	    json_string_value(json_object_get(object, "status")), "complete");
	json_decref(object);
	object = mu_watch_json_verdict(&result, &series, NULL, &look);
	ck_assert_str_eq(
	    json_string_value(json_object_get(object, "verdict")), "leak");
	growing = json_array_get(json_object_get(object, "growing"), 0);
	ck_assert_str_eq(
	    json_string_value(json_object_get(growing, "kind")), "lost");
	ck_assert_double_eq_tol(
	    json_real_value(json_object_get(growing, "share")), 0.94, 1e-9);
	json_decref(object);
}

TEST(csv_lines)
{
	struct mu_text words = { text, sizeof(text), 0 };
	struct mu_out out = mu_out_text(&words);

	new_look(0, 1000, 200, 30);
	look.status = MEMUNREACHABLE_TARGET_GONE;
	strcpy(look.reason, "\"it\", they say\n");
	mu_watch_csv_look(&out, &look);
	ck_assert_str_eq(text,
	    "2026-11-27T17:20:00.042Z,4711,8388608,,,,,,1500000,target_gone,0,"
	    "\"\"\"it\"\", they say\\x0a\"\n");
}

TEST(prometheus_labels)
{
	struct mu_text words = { text, sizeof(text), 0 };
	struct mu_out out = mu_out_text(&words);

	new_look(0, 1000, 200, 30);
	strcpy(look.program, "/x/a \"b\"\\c\n");
	mu_watch_prometheus(&out, &look);
	ck_assert_ptr_nonnull(strstr(text,
	    "# HELP memunreachable_lost_bytes Bytes that nothing points to.\n"
	    "# TYPE memunreachable_lost_bytes gauge\n"
	    "memunreachable_lost_bytes{pid=\"4711\",program=\"a"
	    " \\\"b\\\"\\\\c\\\\x0a\"} 200\n"));
	ck_assert_ptr_nonnull(strstr(text, "pause_seconds{"));
	ck_assert_ptr_nonnull(strstr(text, "} 0.0015\n"));
	words.length = 0;
	look.status = MEMUNREACHABLE_TARGET_GONE;
	mu_watch_prometheus(&out, &look);
	ck_assert_ptr_null(strstr(text, "lost_bytes"));
	ck_assert_ptr_nonnull(strstr(text, "check_success{"));
}

TEST(bars)
{
	uint64_t values[100];
	size_t i;

	ck_assert_str_eq(
	    mu_spark((const uint64_t[]) { 0, 1, 2, 3, 4, 5, 6, 7 }, 8, 8).text,
	    "▁▂▃▄▅▆▇█");
	ck_assert_str_eq(
	    mu_spark((const uint64_t[]) { 900, 907, 900 }, 3, 12).text, "▁█▁");
	ck_assert_str_eq(
	    mu_spark((const uint64_t[]) { 5, 5, 5 }, 3, 12).text, "▁▁▁");
	ck_assert_str_eq(
	    mu_spark((const uint64_t[]) { 0, UINT64_MAX }, 2, 12).text, "▁█");
	ck_assert_str_eq(mu_spark(values, 0, 12).text, "");
	for (i = 0; i < 100; i++)
		values[i] = i;
	ck_assert_str_eq(mu_spark(values, 100, 8).text, "▁▂▃▄▅▆▇█");
	ck_assert_uint_eq(
	    strlen(mu_spark(values, 100, 100).text), MU_SPARK_MOST * 3);
}

/* A wide terminal has the bars of the totals and of what grows. */
TEST(bars_below_the_verdict)
{
	struct mu_text words = { text, sizeof(text), 0 };
	struct mu_out out = mu_out_text(&words);

	fill_leak();
	words.length = 0;
	mu_spark_lines(&out, &series, &result);
	ck_assert_str_eq(text,
	    "  in use        1.0 MiB ▁▁▁▁▁▁▁▁ 1.0 MiB\n"
	    "  held free     0 bytes ▁▁▁▁▁▁▁▁ 0 bytes\n"
	    "  lost          0 bytes ▁▂▃▄▅▆▇█ 341.8 KiB\n"
	    "  lost          0 bytes ▁▂▃▄▅▆▇█ 321.3 KiB  Session (handle at"
	    " served.c:16)\n"
	    "  lost          0 bytes ▁▂▃▄▅▆▇█ 20.5 KiB  blocks of 48 bytes\n");
	words.length = 0;
	mu_watch_text_look(&out, &look, &series);
	ck_assert_msg(
	    strstr(text, "     ▁▁▁▁▁▁▁▁     ▁▁▁▁▁▁▁▁     ▁▂▃▄▅▆▇█\n") != NULL,
	    "%s", text);
}
