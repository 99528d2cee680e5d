/*
 * The list of live blocks against an independent record of them, address by
 * address and usable size by usable size: many threads, many arenas, many heaps
 * of an arena, no memory left, and children of fork().
 */
#include <sys/resource.h>

#include "tests/support/recorded_threads.h"
#include "tests/support/suite.h"

#define HEAP_BITS 26 /* 64 MiB, the most that a heap of an arena has */
#define FILL_SIZE 100000
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

/* ---- the test ---- */

static const struct scenario scenarios[] = { { "one", run_one },
	{ "two", run_two }, { "eight", run_eight },
	{ "sixty_four", run_sixty_four }, { "heaps", run_heaps },
	{ "no_room", run_no_room } };

TEST_LOOP(one_thread, 1, 1 + seeds(1))
{
	play("one", _i, NULL);
}

TEST_LOOP(two_threads, 1, 1 + seeds(2))
{
	play("two", _i, NULL);
}

TEST_LOOP(eight_threads, 1, 1 + seeds(2))
{
	play("eight", _i, NULL);
}

TEST_LOOP(sixty_four_threads, 1, 1 + seeds(1))
{
	play("sixty_four", _i, NULL);
}

TEST_LOOP(heaps_of_an_arena, 1, 1 + seeds(1))
{
	play("heaps", _i, NULL);
}

TEST_LOOP(no_room_for_arenas, 1, 1 + seeds(2))
{
	play("no_room", _i, NULL);
}

static int
play_scenario(int argc, char **argv)
{
	return PLAYED(argc, argv, scenarios);
}

SUITE(.play = play_scenario, .timeout = 300);
