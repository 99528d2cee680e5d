/*
 * Compare the list of live blocks with an independent record, under each of
 * glibc's tunables that changes what malloc does. The test verifies that each
 * tunable has its effect.
 */
#include <gnu/libc-version.h>
#include <malloc.h>

#include "tests/support/recorder/recorded_threads.h"
#include "tests/support/suite.h"

/*
 * The effect of each tunable is measured, so that a setting that glibc ignores
 * is noticed.
 */

#define MEASURED 300 /* blocks */

#if __GLIBC_PREREQ(2, 33)
#define MALLINFO mallinfo2
typedef struct mallinfo2 mallinfo_result;
#else
#define MALLINFO mallinfo
typedef struct mallinfo mallinfo_result;
#endif

static void *measured[MEASURED];
static char *measured_brk; /* where it was before all was freed */

static void
measure_fill(size_t size)
{
	size_t i;

	for (i = 0; i < MEASURED; i++)
		measured[i] = malloc(size);
}

static void
measure_empty(void)
{
	size_t i;

	for (i = 0; i < MEASURED; i++)
		free(measured[i]);
}

/*
 * Of many blocks of SIZE bytes freed, how many does the tcache keep? Glibc
 * counts them as in use.
 */
static size_t
measure_tcache(size_t size)
{
	size_t chunk, full, empty;

	/* 2.43 makes the tcache at the first free(). */
	measure_fill(size);
	measure_empty();
	measure_fill(size);
	chunk = malloc_usable_size(measured[0]) + sizeof(size_t);
	full = (size_t)MALLINFO().uordblks;
	measure_empty();
	empty = (size_t)MALLINFO().uordblks;
	return (empty + MEASURED * chunk - full) / chunk;
}

/* Bytes that fastbins hold when many blocks of SIZE bytes were freed. */
static size_t
measure_fastbins(size_t size)
{
	measure_fill(size);
	measure_empty();
	return (size_t)MALLINFO().fsmblks;
}

/*
 * Of a number of blocks of SIZE bytes, how many are mmapped? The first ones may
 * find room in the heap.
 */
static size_t
measure_mmapped(size_t size)
{
	size_t before = (size_t)MALLINFO().hblks, after, i, count;

	count = size > 1000000 ? 10 : MEASURED;
	for (i = 0; i < count; i++)
		measured[i] = malloc(size);
	after = (size_t)MALLINFO().hblks;
	while (i > 0)
		free(measured[--i]);
	return after - before;
}

/* Bytes by which brk moves when the heap grows by little; 0: it never does. */
static size_t
measure_growth(size_t size)
{
	char *before = sbrk(0), *after;
	size_t i;

	for (i = 0; i < MEASURED && sbrk(0) == before; i++)
		measured[i] = malloc(size);
	after = measured_brk = sbrk(0);
	while (i > 0)
		free(measured[--i]);
	return (size_t)(after - before);
}

/* How far does brk, when the heap has grown, end from a huge page's end? */
static size_t
measure_huge_end(size_t size)
{
	measure_growth(size);
	return (uintptr_t)measured_brk % ((size_t)2 << 20);
}

/* Bytes on top that are kept after MEASURED blocks of SIZE were freed. */
static size_t
measure_kept(size_t size)
{
	measure_fill(size);
	measure_empty();
	return (size_t)MALLINFO().keepcost;
}

/* What a new block of SIZE bytes is filled with; 0 if not with one byte. */
static size_t
measure_filling(size_t size)
{
	unsigned char *volatile block = malloc(size);
	unsigned char first;
	size_t i;

	/* The first words may have been links. */
	first = block[64];
	for (i = 64; i < size && block[i] == first; i++)
		;
	free(block);
	return i == size ? first : 0;
}

/* How many arenas are there? */
static size_t
measure_arenas(size_t unused)
{
	size_t size, count = 0;
	char *text = NULL, *at;
	FILE *file = open_memstream(&text, &size);

	(void)unused;
	malloc_info(0, file);
	fclose(file);
	for (at = text; (at = strstr(at, "<heap nr=")) != NULL; at++)
		count++;
	free(text);
	return count;
}

#define MALLOC "glibc.malloc."
#define MANY SIZE_MAX

/* The measurement, the block size, and the limits of the result. */
struct force {
	size_t (*measure)(size_t size);
	size_t size, low, high;
};

struct setting {
	const char *name;
	const char *tunables;    /* without "glibc.malloc." */
	const char *environment; /* another variable, or NULL */
	struct force before[3];  /* when the program starts */
	struct force after;      /* when its threads are gone */
	unsigned first, last;    /* releases that have it; 0: no limit */
};

#define TCACHE(size, low, high)                 \
	{                                       \
		measure_tcache, size, low, high \
	}
#define FASTBINS(size, low, high)                 \
	{                                         \
		measure_fastbins, size, low, high \
	}
#define MMAPPED(size, low, high)                 \
	{                                        \
		measure_mmapped, size, low, high \
	}
#define GROWTH(low, high)                       \
	{                                       \
		measure_growth, 9000, low, high \
	}
#define HUGE_END(low, high)                       \
	{                                         \
		measure_huge_end, 9000, low, high \
	}
#define KEEPS(low, high)                        \
	{                                       \
		measure_kept, 100000, low, high \
	}
#define FILLING(byte)                             \
	{                                         \
		measure_filling, 1000, byte, byte \
	}
#define ARENAS(low, high)                    \
	{                                    \
		measure_arenas, 0, low, high \
	}

/* 2.42: tcache_max to just below 4 MiB, or it is not taken; 2.43: no
 * fastbins; 2.35: hugetlb. */
static const struct setting settings[] = {
	{ "none", NULL, NULL, { TCACHE(24, 7, 16), FILLING(0) },
	    ARENAS(2, MANY), 0, 0 },
	{ "tcache_count 0", "tcache_count=0", NULL, { TCACHE(24, 0, 0) },
	    ARENAS(2, MANY), 0, 0 },
	{ "tcache_count 7", "tcache_count=7", NULL, { TCACHE(24, 7, 7) },
	    ARENAS(2, MANY), 0, 0 },
	{ "tcache_count 127", "tcache_count=127", NULL,
	    { TCACHE(24, 127, 127), TCACHE(1000, 127, 127) }, ARENAS(2, MANY),
	    0, 0 },
	{ "tcache_max 200", "tcache_max=200", NULL,
	    { TCACHE(24, 7, 16), TCACHE(500, 0, 0) }, ARENAS(2, MANY), 0, 0 },
	{ "tcache_max 4 MiB", "tcache_max=4194280", NULL,
	    { TCACHE(24, 7, 16), TCACHE(100000, 7, 16) }, ARENAS(2, MANY), 42,
	    0 },
	{ "tcache 4 MiB x 127",
	    "tcache_max=4194280:" MALLOC "tcache_count=127:" MALLOC
	    "mmap_threshold=65536",
	    NULL, { TCACHE(30000, 127, 127), MMAPPED(5000000, 5, 10) },
	    ARENAS(2, MANY), 42, 0 },
	{ "arena_max 1", "arena_max=1", NULL, { TCACHE(24, 7, 16) },
	    ARENAS(1, 1), 0, 0 },
	{ "arena_max 3", "arena_max=3", NULL, { TCACHE(24, 7, 16) },
	    ARENAS(3, 3), 0, 0 },
	{ "MALLOC_ARENA_MAX 1", NULL, "MALLOC_ARENA_MAX=1",
	    { TCACHE(24, 7, 16) }, ARENAS(1, 1), 0, 0 },
	{ "MALLOC_ARENA_MAX 2", NULL, "MALLOC_ARENA_MAX=2",
	    { TCACHE(24, 7, 16) }, ARENAS(2, 2), 0, 0 },
	{ "mmap_threshold 4096", "mmap_threshold=4096", NULL,
	    { MMAPPED(5000, 200, 300) }, ARENAS(2, MANY), 0, 0 },
	{ "mmap_threshold 32 MiB", "mmap_threshold=33554432", NULL,
	    { MMAPPED(LARGE, 0, 0) }, ARENAS(2, MANY), 0, 0 },
	{ "mmap_max 0", "mmap_max=0", NULL, { MMAPPED(LARGE, 0, 0) },
	    ARENAS(2, MANY), 0, 0 },
	{ "mmap_max 5", "mmap_max=5:" MALLOC "mmap_threshold=4096", NULL,
	    { MMAPPED(5000, 5, 5) }, ARENAS(2, MANY), 0, 0 },
	{ "top_pad 0", "top_pad=0", NULL, { GROWTH(4096, 8192) },
	    ARENAS(2, MANY), 0, 0 },
	{ "top_pad 1 MiB", "top_pad=1048576", NULL, { GROWTH(1048576, MANY) },
	    ARENAS(2, MANY), 0, 0 },
	{ "perturb", "perturb=170", NULL, { FILLING(0x55) }, ARENAS(2, MANY), 0,
	    0 },
	{ "mxfast 0", "mxfast=0:" MALLOC "tcache_count=0", NULL,
	    { FASTBINS(24, 0, 0), TCACHE(24, 0, 0) }, ARENAS(2, MANY), 0, 0 },
	{ "mxfast 160", "mxfast=160", NULL, { FASTBINS(150, 1, MANY) },
	    ARENAS(2, MANY), 0, 42 },
	{ "trim_threshold 1 GiB", "trim_threshold=1073741824", NULL,
	    { KEEPS(20000000, MANY) }, ARENAS(2, MANY), 0, 0 },
	{ "trim_threshold 4096", "trim_threshold=4096:" MALLOC "top_pad=4096",
	    NULL, { KEEPS(0, 20000) }, ARENAS(2, MANY), 0, 0 },
	{ "hugetlb 0", "hugetlb=0", NULL, { GROWTH(1, 1000000) },
	    ARENAS(2, MANY), 35, 0 },
	{ "hugetlb 1", "hugetlb=1", NULL, { HUGE_END(0, 0) }, ARENAS(2, MANY),
	    35, 0 },
	{ "hugetlb 2", "hugetlb=2", NULL, { GROWTH(0, 0) }, ARENAS(2, MANY), 35,
	    0 },
	{ "hugetlb 2 without tcache",
	    "hugetlb=2:" MALLOC "tcache_count=0:" MALLOC "arena_max=2", NULL,
	    { GROWTH(0, 0), TCACHE(24, 0, 0) }, ARENAS(2, 2), 35, 0 },
	{ "all by mmap, perturbed",
	    "mmap_threshold=1024:" MALLOC "perturb=85:" MALLOC "tcache_count=3",
	    NULL, { MMAPPED(2000, 200, 300), TCACHE(24, 3, 3), FILLING(0xaa) },
	    ARENAS(2, MANY), 0, 0 },
	{ "one arena, no caches",
	    "arena_max=1:" MALLOC "tcache_count=0:" MALLOC "mxfast=0:" MALLOC
	    "mmap_max=0:" MALLOC "top_pad=0",
	    NULL,
	    { TCACHE(24, 0, 0), MMAPPED(LARGE, 0, 0), FASTBINS(24, 0, 0) },
	    ARENAS(1, 1), 0, 0 },
};

#define NUM_SETTINGS (sizeof(settings) / sizeof(*settings))

/* ---- the program that is looked at ---- */

static int
is_in_force(const struct force *force)
{
	size_t got;

	if (force->measure == NULL)
		return 1;
	got = force->measure(force->size);
	if (got >= force->low && got <= force->high)
		return 1;
	fprintf(stderr, "not in force: %zu, wanted %zu to %zu (%s)\n", got,
	    force->low, force->high, getenv("GLIBC_TUNABLES"));
	return 0;
}

/* The seed names the setting. */
static int
run_setting(unsigned seed)
{
	const struct setting *setting = &settings[seed % NUM_SETTINGS];
	size_t operations = getenv("RECORDED_FULL") != NULL ? 10000 : 2000;
	int bad = 0, i;

	for (i = 0; i < 3; i++)
		bad |= !is_in_force(&setting->before[i]);
	bad |= check_now("measured");
	bad |= run_threads(seed, 4, operations, 1);
	return bad | !is_in_force(&setting->after);
}

/* ---- the test ---- */

static const struct scenario scenarios[] = { { "setting", run_setting } };

static int
is_of_this_release(const struct setting *setting)
{
	unsigned major, minor;

	if (sscanf(gnu_get_libc_version(), "%u.%u", &major, &minor) != 2)
		return 0;
	return minor >= setting->first &&
	    (setting->last == 0 || minor <= setting->last);
}

/*
 * A child that writes needs a page of its own, or gets SIGBUS: enough of them,
 * or none, in which case glibc does without.
 */
static int
has_pool_for_children(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long free_pages = 0;
	char line[128];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		sscanf(line, "HugePages_Free: %lu", &free_pages);
	if (file != NULL)
		fclose(file);
	return free_pages == 0 || free_pages >= 256;
}

/* glibc takes huge pages only where the kernel says how large they are. */
static int
is_in(const char *path, const char *words)
{
	char text[4096] = "";
	FILE *file = fopen(path, "r");

	if (file == NULL)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return strstr(text, words) != NULL;
}

static int
has_huge_pages(const struct setting *setting)
{
	if (strstr(setting->name, "hugetlb 1") != NULL)
		return is_in(
		    "/sys/kernel/mm/transparent_hugepage/enabled", "[madvise]");
	if (strstr(setting->name, "hugetlb 2") != NULL)
		return is_in("/proc/meminfo", "Hugepagesize:") &&
		    has_pool_for_children();
	return 1;
}

TEST_LOOP(in_force_and_agreed, 0, (int)NUM_SETTINGS)
{
	const struct setting *setting = &settings[_i];
	char tunables[256] = "GLIBC_TUNABLES=" MALLOC;
	const char *variables[3] = { NULL };
	size_t count = 0;

	if (!is_of_this_release(setting)) {
		printf("SKIPPED: %s: glibc %s does not have it\n",
		    setting->name, gnu_get_libc_version());
		return;
	}
	if (!has_huge_pages(setting)) {
		printf("SKIPPED: %s: the kernel has none, or too few\n",
		    setting->name);
		return;
	}
	if (setting->tunables != NULL) {
		strncat(tunables, setting->tunables,
		    sizeof(tunables) - strlen(tunables) - 1);
		variables[count++] = tunables;
	}
	if (setting->environment != NULL)
		variables[count++] = setting->environment;
	play("setting", _i, variables);
}

static int
play_scenario(int argc, char **argv)
{
	return PLAYED(argc, argv, scenarios);
}

SUITE(.play = play_scenario, .timeout = 300);
