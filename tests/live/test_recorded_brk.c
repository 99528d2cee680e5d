/*
 * The list of live blocks against an independent record of them, where the
 * main heap is not all malloc's own: brk fails, brk fails and so does all else,
 * and others move brk too.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/support/recorded_churn.h"
#include "tests/support/recorded_scenarios.h"
#include "tests/support/suite.h"

#define PAGE 4096

static struct churn all;

static int
run_alone(unsigned seed, size_t operations, const char *when)
{
	all.seed = seed;
	all.operations = operations;
	churn(&all);
	return check_now(when);
}

/* Where malloc's memory goes on behind a hole may not be proven: never wrong.
 */
static int
check_behind(const char *when)
{
	return !recorder_check(when, true, NULL);
}

static int
run_behind(unsigned seed, size_t operations, const char *when)
{
	all.seed = seed;
	all.operations = operations;
	churn(&all);
	return check_behind(when);
}

/* ---- brk fails ---- */

/*
 * A mapping right behind [heap] makes brk fail; without it, it goes on, right
 * behind fenceposts, as it would behind other memory.
 */
static int
run_wall(unsigned seed)
{
	char *wall, *end;
	int bad, i;

	/* What is given back below the wall would be taken again. */
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

/* Bytes of private writable memory, which RLIMIT_DATA bounds since 4.7. */
static size_t
data_size(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	size_t kib = 0, more;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "VmData: %zu", &more) == 1)
			kib = more;
	if (file != NULL)
		fclose(file);
	return kib << 10;
}

/* Neither brk nor mmap gives any more; then they do again. */
static int
run_limit(unsigned seed)
{
	int bad = run_alone(seed, 2000, "before"), i;
	struct rlimit limit;
	rlim_t before;

	getrlimit(RLIMIT_DATA, &limit);
	before = limit.rlim_cur;
	limit.rlim_cur = data_size() + ((size_t)3 << 20);
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
	for (i = 0; i < 1000 && sbrk(0) == before; i++) {
		all.seed = seed + 77;
		all.operations = 400;
		churn(&all);
	}
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

	all.seed = seed;
	all.operations = 500;
	churn(&all);
	for (i = 0; i < 6; i++) {
		length = i % 2 ? 4 * PAGE : 4 * PAGE + 0x340;
		hole = sbrk((long)length);
		size = sizes[(size_t)(seed + (unsigned)i) % 4];
		/* From the start on, from the middle, or the last one only. */
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

static const struct scenario scenarios[] = { { "wall", run_wall },
	{ "limit", run_limit }, { "foreign", run_foreign },
	{ "imitation", run_imitation } };

TEST_LOOP(brk_fails, 1, 1 + seeds(2))
{
	play("wall", _i, NULL);
}

TEST_LOOP(nothing_left, 1, 1 + seeds(2))
{
	play("limit", _i, NULL);
}

TEST_LOOP(foreign_sbrk, 1, 1 + seeds(4))
{
	play("foreign", _i, NULL);
}

TEST_LOOP(foreign_imitation, 1, 1 + seeds(5))
{
	play("imitation", _i, NULL);
}

static int
play_scenario(int argc, char **argv)
{
	return PLAYED(argc, argv, scenarios);
}

SUITE(.play = play_scenario, .timeout = 300);
