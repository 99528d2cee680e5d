/*
 * Compare the list of live blocks with an independent record, by address and
 * usable size: many threads, many arenas, many heaps of an arena, exhausted
 * memory, children of fork(), and a main heap that malloc shares with others,
 * because brk fails or other code moves it.
 */
#include <sys/resource.h>

#include "tests/support/recorder/recorded_scenarios.h"
#include "tests/support/recorder/recorded_threads.h"
#include "tests/support/suite.h"

#define HEAP_BITS 26 /* 64 MiB, the most that a heap of an arena has */
#define FILL_SIZE 100000
#define PAGE 4096
#define FILL_COUNT 1800 /* more than two heaps of it */

static int
run_one(unsigned seed)
{
	return run_threads(seed, 1, 20000, 2);
}

static int
run_two(unsigned seed)
{
	return run_threads(seed, 2, 12000, 2);
}

static int
run_eight(unsigned seed)
{
	return run_threads(seed, 8, 4000, 2);
}

static int
run_sixty_four(unsigned seed)
{
	return run_threads(seed, 64, 600, 2);
}

/* ---- one arena, many heaps ---- */

static void *filled[FILL_COUNT];

/* How many heaps do the blocks lie in? A thread's are filled one by one. */
static size_t
count_heaps(void)
{
	uintptr_t last = 0;
	size_t i, count = 0;

	for (i = 0; i < FILL_COUNT; i++) {
		if ((uintptr_t)filled[i] >> HEAP_BITS == last)
			continue;
		last = (uintptr_t)filled[i] >> HEAP_BITS;
		count++;
	}
	return count;
}

static void
free_some(unsigned *seed, int of)
{
	size_t i;

	for (i = 0; i < FILL_COUNT; i++) {
		if (rand_r(seed) % of != 0)
			continue;
		free(filled[i]);
		filled[i] = NULL;
	}
}

static void *
fill_arena(void *arg)
{
	unsigned seed = *(unsigned *)arg;
	long bad = 0;
	size_t i;

	for (i = 0; i < FILL_COUNT; i++) {
		filled[i] = malloc(FILL_SIZE + (size_t)rand_r(&seed) % 20000);
		if (i % 400 == 399)
			bad |= check_now("arena filled");
	}
	if (count_heaps() < 3) {
		fprintf(stderr, "only %zu heaps\n", count_heaps());
		bad = 1;
	}
	free_some(&seed, 3);
	bad |= check_now("arena with holes");
	churns[0].seed = seed;
	churns[0].operations = 3000;
	churn(&churns[0]);
	bad |= check_now("arena churned");
	/* The topmost heaps go, one after the other. */
	for (i = FILL_COUNT; i > FILL_COUNT / 4; i--) {
		free(filled[i - 1]);
		filled[i - 1] = NULL;
	}
	bad |= check_now("heaps given back");
	free_some(&seed, 1);
	release(&churns[0]);
	return (void *)(bad | check_now("arena emptied"));
}

static int
run_heaps(unsigned seed)
{
	pthread_t id;
	void *bad;

	if (pthread_create(&id, NULL, fill_arena, &seed) != 0)
		return 1;
	pthread_join(id, &bad);
	return bad != NULL || check_now("its thread is gone");
}

/* ---- no room for an arena ---- */

/* A line of /proc/self/status, in bytes. */
static size_t
status_of(const char *name)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	size_t kib = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			kib = strtoul(line + strlen(name), NULL, 10);
	if (file != NULL)
		fclose(file);
	return kib << 10;
}

/*
 * A new arena reserves 64 MiB and is refused: its thread is given small blocks
 * that are mmapped one by one, or the main arena.
 */
static int
run_no_room(unsigned seed)
{
	struct rlimit limit;
	size_t refused = 0, i;
	int bad;

	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = status_of("VmSize:") + ((size_t)50 << 20);
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		return SKIP;
	bad = run_threads(seed, 8, 3000, 2);
	for (i = 0; i < 8; i++)
		refused += churns[i].refused;
	if (refused == 0) {
		fprintf(stderr, "there was room for everything\n");
		bad = 1;
	}
	return bad;
}

/* ---- a main heap with holes ---- */

static struct churn all;

static void
churn_alone(unsigned seed, size_t operations)
{
	all.seed = seed;
	all.operations = operations;
	churn(&all);
}

static int
run_alone(unsigned seed, size_t operations, const char *when)
{
	churn_alone(seed, operations);
	return check_now(when);
}

/*
 * Whether the memory after a hole is malloc's may remain unproven; the answer
 * is never wrong.
 */
static int
check_behind(const char *when)
{
	return !recorder_check(when, true, NULL);
}

static int
run_behind(unsigned seed, size_t operations, const char *when)
{
	churn_alone(seed, operations);
	return check_behind(when);
}

/* ---- brk fails ---- */

/*
 * A mapping right behind [heap] makes brk fail; without it, it continues, right
 * behind fenceposts, as it would behind other memory.
 */
static int
run_wall(unsigned seed)
{
	char *wall, *end;
	int bad, i;

	/* Memory that is given back below the wall would be reused. */
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	all.untrimmed = true;
	bad = run_alone(seed, 2000, "before");
	end = sbrk(0);
	wall = mmap((void *)(((uintptr_t)end + PAGE - 1) & -(uintptr_t)PAGE),
	    PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
	    -1, 0);
	if (wall == MAP_FAILED)
		return SKIP;
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	for (i = 0; i < 4; i++)
		bad |= run_alone(seed + 1, 3000, "brk fails");
	munmap(wall, PAGE);
	for (i = 0; i < 4; i++)
		bad |= run_behind(seed + 2, 3000, "brk works again");
	release(&all);
	return bad | check_behind("emptied");
}

/* brk() and mmap() fail for some time. */
static int
run_limit(unsigned seed)
{
	int bad = run_alone(seed, 2000, "before"), i;
	struct rlimit limit;
	rlim_t before;

	getrlimit(RLIMIT_DATA, &limit);
	before = limit.rlim_cur;
	/* Private writable memory, which it bounds since Linux 4.7. */
	limit.rlim_cur = status_of("VmData:") + ((size_t)3 << 20);
	if (setrlimit(RLIMIT_DATA, &limit) != 0)
		return SKIP;
	for (i = 0; i < 4 || (all.refused == 0 && i < 40); i++) {
		mallopt(M_MMAP_THRESHOLD, i % 2 ? 4 << 20 : 100000);
		bad |= run_alone(seed + (unsigned)i, 3000, "no more data");
	}
	if (all.refused == 0) {
		fprintf(stderr, "there was memory for everything\n");
		bad = 1;
	}
	limit.rlim_cur = before;
	setrlimit(RLIMIT_DATA, &limit);
	bad |= run_alone(seed + 2, 3000, "data again");
	release(&all);
	return bad | check_now("emptied");
}

/* ---- others move brk ---- */

/* Until brk was moved by malloc once more. */
static void
grow_heap(unsigned seed)
{
	void *before = sbrk(0);
	int i;

	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	for (i = 0; i < 1000 && sbrk(0) == before; i++)
		churn_alone(seed + 77, 400);
}

/* Holes of zeros and of noise, in pages and in odd sizes. */
static int
run_foreign(unsigned seed)
{
	static const long sizes[] = { PAGE, 3 * PAGE, 2 * PAGE, 40, 5000, 12345,
		100 };
	char *hole;
	size_t i, j;
	int bad = run_alone(seed, 2000, "before");

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		hole = sbrk(sizes[i]);
		for (j = 0; seed % 2 != 0 && j < (size_t)sizes[i]; j++)
			hole[j] = (char)(rand_r(&seed) >> 8);
		grow_heap(seed);
		bad |= check_behind("behind a foreign hole");
		bad |= run_behind(seed, 400, "churned behind a foreign hole");
	}
	release(&all);
	return bad | check_behind("emptied");
}

/* A hole full of chunks, up to its end or nearly so, has no blocks. */
static int
run_imitation(unsigned seed)
{
	static const size_t sizes[] = { 0x20, 0x30, 0x100, 0x410 };
	size_t length, skip, at, size;
	int bad = 0, i;
	char *hole;

	churn_alone(seed, 500);
	for (i = 0; i < 6; i++) {
		length = i % 2 ? 4 * PAGE : 4 * PAGE + 0x340;
		hole = sbrk((long)length);
		size = sizes[(size_t)(seed + (unsigned)i) % 4];
		/*
		 * From the start on, from the middle on, or only the last one.
		 */
		skip = i % 3 == 0 ? 0 : i % 3 == 1 ? 0x540 : length - size;
		for (at = skip; length - at >= 2 * size; at += size)
			*(size_t *)(hole + at + 8) = size | 1;
		if (length - at >= 0x20)
			*(size_t *)(hole + at + 8) = (length - at) | 1;
		grow_heap(seed);
		bad |= check_behind("behind an imitation");
		bad |= run_behind(seed, 300, "churned behind an imitation");
	}
	return bad;
}

/* ---- the test ---- */

static const struct scenario scenarios[] = { { "one", run_one },
	{ "two", run_two }, { "eight", run_eight },
	{ "sixty_four", run_sixty_four }, { "heaps", run_heaps },
	{ "no_room", run_no_room }, { "wall", run_wall },
	{ "limit", run_limit }, { "foreign", run_foreign },
	{ "imitation", run_imitation } };

#define SCENARIO_TEST(test_, scenario_, seeds_) \
	TEST_LOOP(test_, 1, 1 + seeds(seeds_))  \
	{                                       \
		play(scenario_, _i, NULL);      \
	}

SCENARIO_TEST(one_thread, "one", 1)
SCENARIO_TEST(two_threads, "two", 2)
SCENARIO_TEST(eight_threads, "eight", 2)
SCENARIO_TEST(sixty_four_threads, "sixty_four", 1)
SCENARIO_TEST(heaps_of_an_arena, "heaps", 1)
SCENARIO_TEST(no_room_for_arenas, "no_room", 2)
SCENARIO_TEST(brk_fails, "wall", 2)
SCENARIO_TEST(nothing_left, "limit", 2)
SCENARIO_TEST(foreign_sbrk, "foreign", 2)
SCENARIO_TEST(foreign_imitation, "imitation", 5)

static int
play_scenario(int argc, char **argv)
{
	return PLAYED(argc, argv, scenarios);
}

SUITE(.play = play_scenario, .timeout = 300);
