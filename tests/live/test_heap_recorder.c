/*
 * The list of live blocks against an independent record of them: address by
 * address, usable size by usable size, nothing missing, nothing extra.
 *
 * Each scenario is this program again, with the recorder preloaded. It churns,
 * its threads pause, and it reads its own heap.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "heapwalk/heap.h"
#include "tests/support/recorder.h"
#include "tests/support/self_snapshot.h"

#define SKIP 77
#define THREADS 8
#define KEPT 400 /* blocks a thread holds at most */
#define LARGE ((size_t)8 << 20)
#define SHIM "recorder_shim.so"
#define PAGE 4096

struct churn {
	unsigned seed;
	size_t operations;
	void *kept[KEPT];
	uintptr_t tp;
};

static pthread_barrier_t pause_begin, pause_end;
static struct mu_thread threads[THREADS + 1];
static struct churn churns[THREADS + 1];

/* ---- the program that is looked at ---- */

static size_t
random_size(unsigned *seed)
{
	int kind = rand_r(seed) % 100;

	if (kind < 70)
		return (size_t)rand_r(seed) % 300;
	if (kind < 92)
		return (size_t)rand_r(seed) % 5000;
	if (kind < 98)
		return (size_t)rand_r(seed) % 100000;
	if (kind < 99)
		return (size_t)rand_r(seed) % 1000000;
	return (size_t)rand_r(seed) % LARGE;
}

static void *
random_block(unsigned *seed)
{
	size_t size = random_size(seed), alignment;
	void *block = NULL;

	switch (rand_r(seed) % 8) {
	case 0:
		return calloc(1, size);
	case 1:
		alignment = (size_t)16 << rand_r(seed) % 17;
		return memalign(alignment, size);
	case 2:
		alignment = (size_t)16 << rand_r(seed) % 8;
		if (posix_memalign(&block, alignment, size) != 0)
			return NULL;
		return block;
	default:
		return malloc(size);
	}
}

/* Blocks full of what looks like chunks, links and flags. */
static void
scribble(void *block, unsigned *seed)
{
	size_t words = block == NULL ? 0 : malloc_usable_size(block) / 8, i;
	size_t *word = block;

	if (words > 4096 && rand_r(seed) % 8 != 0)
		words = 64;
	for (i = 0; i < words; i++)
		word[i] = rand_r(seed) % 2 ? 0x21 : (size_t)rand_r(seed) % 4096;
}

static void
churn(struct churn *churn)
{
	unsigned *seed = &churn->seed;
	size_t i, slot;
	void *grown;

	for (i = 0; i < churn->operations; i++) {
		slot = (size_t)rand_r(seed) % KEPT;
		if (churn->kept[slot] == NULL) {
			churn->kept[slot] = random_block(seed);
			if (rand_r(seed) % 4 == 0)
				scribble(churn->kept[slot], seed);
		} else if (rand_r(seed) % 4 == 0) {
			grown =
			    realloc(churn->kept[slot], random_size(seed) + 1);
			if (grown != NULL)
				churn->kept[slot] = grown;
		} else {
			free(churn->kept[slot]);
			churn->kept[slot] = NULL;
		}
		if (rand_r(seed) % 5000 == 0)
			malloc_trim(rand_r(seed) % 65536);
	}
}

static void
release(struct churn *churn)
{
	size_t i;

	for (i = 0; i < KEPT; i++) {
		free(churn->kept[i]);
		churn->kept[i] = NULL;
	}
}

/* ---- the comparison ---- */

struct comparison {
	size_t walked, extra, wrong_size;
	uintptr_t first;
};

static bool
compare_one(void *ctx, const struct mu_block *block)
{
	struct comparison *comparison = ctx;
	size_t size;

	comparison->walked++;
	if (!recorder_find(block->range.begin, &size)) {
		comparison->extra++;
		comparison->first = block->range.begin;
	} else if (size != mu_range_size(block->range)) {
		comparison->wrong_size++;
		comparison->first = block->range.begin;
	}
	return true;
}

static bool
is_owned(const struct mu_heap *heap, uintptr_t address)
{
	size_t i;

	for (i = 0; i < heap->num_owned; i++)
		if (mu_range_has(heap->owned[i], address))
			return true;
	return false;
}

/* Recorded blocks that were not listed; UNPROVEN: that are no roots either. */
static size_t
count_missing(const struct mu_heap *heap, bool unproven, uintptr_t *first)
{
	const struct recorder_entry *table;
	struct mu_block block;
	size_t i, slots, missing = 0;
	uintptr_t address;

	table = recorder_table(&slots);
	for (i = 0; i < slots; i++) {
		address = ~table[i].hidden;
		if (table[i].hidden <= 1 ||
		    (mu_blocks_find(&heap->blocks, address, &block) &&
			block.range.begin == address))
			continue;
		if (unproven && !is_owned(heap, address))
			continue;
		*first = address;
		missing++;
	}
	return missing;
}

/* The heap as it is now; 0 if the two agree. */
static int
check_now(const char *when, size_t num_threads, bool unproven)
{
	struct comparison comparison = { 0 };
	struct self_snapshot self;
	struct mu_heap heap;
	enum mu_status status;
	uintptr_t first = 0;
	size_t missing;

	threads[0] = (struct mu_thread) { .tp = mu_arch_tp() };
	status = self_snapshot_take(&self, threads, num_threads + 1);
	if (status == MU_OK)
		status = mu_heap_glibc.list(
		    &heap, &self.snap, &self.arena, &self.why);
	if (status != MU_OK) {
		fprintf(stderr, "%s: %s: %s\n", when, mu_status_name(status),
		    self.why.words);
		return 1;
	}
	mu_blocks_each(&heap.blocks, compare_one, &comparison);
	missing = count_missing(&heap, unproven, &first);
	if (getenv("VERBOSE") != NULL && missing > 0)
		malloc_stats();
	if (missing + comparison.extra + comparison.wrong_size > 0 ||
	    comparison.walked != heap.blocks.count ||
	    (heap.unproven_bytes > 0 && !unproven)) {
		fprintf(stderr,
		    "%s: %zu walked, %zu missing (%#lx), %zu extra, "
		    "%zu of another size (%#lx), %zu bytes unproven\n",
		    when, comparison.walked, missing, (long)first,
		    comparison.extra, comparison.wrong_size,
		    (long)comparison.first, heap.unproven_bytes);
		return 1;
	}
	if (getenv("VERBOSE") != NULL)
		fprintf(stderr, "%s: %zu blocks, %zu bytes unproven\n", when,
		    comparison.walked, heap.unproven_bytes);
	self_snapshot_release(&self);
	return 0;
}

/* ---- scenarios ---- */

static void *
worker(void *arg)
{
	struct churn *mine = arg;

	mine->tp = mu_arch_tp();
	churn(mine);
	pthread_barrier_wait(&pause_begin);
	pthread_barrier_wait(&pause_end);
	/* Some threads leave with their blocks, some clean up first. */
	if (mine->seed % 2 == 0)
		release(mine);
	return NULL;
}

/* Threads come, churn, pause, are looked at, and go; twice over. */
static int
run_threads(unsigned seed, unsigned count, size_t operations)
{
	pthread_t ids[THREADS];
	unsigned round, i;
	int bad = 0;

	pthread_barrier_init(&pause_begin, NULL, count + 1);
	pthread_barrier_init(&pause_end, NULL, count + 1);
	for (round = 0; round < 3 && bad == 0; round++) {
		for (i = 0; i < count; i++) {
			churns[i].seed = seed * 1000 + round * 100 + i;
			churns[i].operations = operations;
			pthread_create(&ids[i], NULL, worker, &churns[i]);
		}
		pthread_barrier_wait(&pause_begin);
		for (i = 0; i < count; i++)
			threads[i + 1] =
			    (struct mu_thread) { .tp = churns[i].tp };
		bad = check_now("threads paused", count, false);
		pthread_barrier_wait(&pause_end);
		for (i = 0; i < count; i++)
			pthread_join(ids[i], NULL);
		bad |= check_now("threads gone", 0, false);
	}
	for (i = 0; i < count; i++)
		release(&churns[i]);
	bad |= check_now("arenas emptied", 0, false);
	malloc_trim(0);
	return bad | check_now("trimmed", 0, false);
}

static int
run_alone(unsigned seed, size_t operations, const char *when)
{
	churns[THREADS].seed = seed;
	churns[THREADS].operations = operations;
	churn(&churns[THREADS]);
	return check_now(when, 0, false);
}

/* A mapping right behind [heap] makes brk fail; without it, it goes on. */
static int
run_brk_fails(unsigned seed)
{
	char *wall, *end;
	int bad = run_alone(seed, 2000, "before"), i;

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
		bad |= run_alone(seed + 2, 3000, "brk works again");
	release(&churns[THREADS]);
	return bad | check_now("emptied", 0, false);
}

/* Until brk was moved by malloc once more. */
static void
grow_heap(unsigned seed)
{
	void *before = sbrk(0);
	int i;

	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	for (i = 0; i < 1000 && sbrk(0) == before; i++) {
		churns[THREADS].seed = seed + 77;
		churns[THREADS].operations = 400;
		churn(&churns[THREADS]);
	}
}

/*
 * Holes of zeros and of noise, in pages and in odd sizes. Behind an odd one it
 * cannot always be told where malloc's memory begins.
 */
static int
run_foreign(unsigned seed)
{
	static const long sizes[] = { PAGE, 3 * PAGE, 2 * PAGE, 40, 5000, 12345,
		100 };
	char *hole;
	size_t i, j;
	int bad = run_alone(seed, 2000, "before");
	bool odd = false;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		hole = sbrk(sizes[i]);
		for (j = 0; seed % 2 != 0 && j < (size_t)sizes[i]; j++)
			hole[j] = (char)(rand_r(&seed) >> 8);
		grow_heap(seed);
		odd |= sizes[i] % PAGE != 0;
		bad |= check_now("behind a foreign hole", 0, odd);
		churn(&churns[THREADS]);
		bad |= check_now("churned behind a foreign hole", 0, odd);
	}
	release(&churns[THREADS]);
	return bad | check_now("emptied", 0, odd);
}

/* A hole full of chunks, up to its end or nearly so, is nobody's blocks. */
static int
run_imitation(unsigned seed)
{
	static const size_t sizes[] = { 0x20, 0x30, 0x100, 0x410 };
	size_t length, skip, at, size;
	int bad = 0, i;
	char *hole;

	churns[THREADS].seed = seed;
	churns[THREADS].operations = 500;
	churn(&churns[THREADS]);
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
		bad |= check_now("behind an imitation", 0, true);
		churns[THREADS].operations = 300;
		churn(&churns[THREADS]);
		bad |= check_now("churned behind an imitation", 0, true);
	}
	return bad;
}

static int
victim(const char *scenario, unsigned seed)
{
	static const struct {
		const char *name;
		unsigned threads;
		size_t operations;
	} churning[] = { { "one", 1, 20000 }, { "two", 2, 12000 },
		{ "eight", 8, 4000 } };
	size_t i;

	if (recorder_table == NULL) {
		fprintf(stderr, "the recorder is not loaded\n");
		return 1;
	}
	for (i = 0; i < sizeof(churning) / sizeof(*churning); i++)
		if (strcmp(scenario, churning[i].name) == 0)
			return run_threads(
			    seed, churning[i].threads, churning[i].operations);
	if (strcmp(scenario, "brk_fails") == 0)
		return run_brk_fails(seed);
	if (strcmp(scenario, "foreign") == 0)
		return run_foreign(seed);
	if (strcmp(scenario, "imitation") == 0)
		return run_imitation(seed);
	return 1;
}

/* ---- the test ---- */

static void
recorder_path(char *path, size_t size)
{
	char *slash;
	ssize_t length = readlink("/proc/self/exe", path, size - 1);

	ck_assert_int_gt(length, 0);
	path[length] = '\0';
	for (int up = 0; up < 2; up++) {
		slash = strrchr(path, '/');
		ck_assert_ptr_nonnull(slash);
		*slash = '\0';
	}
	strncat(path, "/support/" SHIM, size - strlen(path) - 1);
}

/* SCENARIO once; TUNABLES are glibc's own, or NULL. */
static void
play(const char *scenario, int seed, const char *tunables)
{
	char path[PATH_MAX], number[16];
	int status;
	pid_t pid;

	recorder_path(path, sizeof(path));
	ck_assert_msg(access(path, R_OK) == 0, "no %s", path);
	snprintf(number, sizeof(number), "%d", seed);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		setenv("LD_PRELOAD", path, 1);
		if (tunables != NULL)
			setenv("GLIBC_TUNABLES", tunables, 1);
		execl("/proc/self/exe", "test_heap_recorder", "victim",
		    scenario, number, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIP) {
		fprintf(stderr, "SKIP: %s cannot be arranged here\n", scenario);
		return;
	}
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	    "%s, seed %d, %s: ended with %#x", scenario, seed,
	    tunables != NULL ? tunables : "no tunables", status);
}

START_TEST(one_thread)
{
	play("one", _i, NULL);
}
END_TEST

START_TEST(two_threads)
{
	play("two", _i, NULL);
}
END_TEST

START_TEST(eight_threads)
{
	play("eight", _i, NULL);
}
END_TEST

START_TEST(brk_fails)
{
	play("brk_fails", _i, NULL);
}
END_TEST

START_TEST(foreign_sbrk)
{
	play("foreign", _i, NULL);
}
END_TEST

START_TEST(foreign_imitation)
{
	play("imitation", _i, NULL);
}
END_TEST

START_TEST(tunables)
{
	static const char *const some[] = { "glibc.malloc.tcache_count=0",
		"glibc.malloc.tcache_count=100", "glibc.malloc.mxfast=160",
		"glibc.malloc.arena_max=1", "glibc.malloc.perturb=170",
		"glibc.malloc.mmap_threshold=4096:glibc.malloc.mmap_max=9999",
		"glibc.malloc.hugetlb=1", "glibc.malloc.tcache_max=200" };

	play("two", _i, some[_i]);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite *suite = suite_create("heap_recorder");
	TCase *tc = tcase_create("heap_recorder");
	SRunner *sr;
	int failed;

	if (argc == 4 && strcmp(argv[1], "victim") == 0)
		return victim(argv[2], (unsigned)atoi(argv[3]));
	sr = srunner_create(suite);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, one_thread, 1, 3);
	tcase_add_loop_test(tc, two_threads, 1, 3);
	tcase_add_loop_test(tc, eight_threads, 1, 4);
	tcase_add_loop_test(tc, brk_fails, 1, 3);
	tcase_add_loop_test(tc, foreign_sbrk, 1, 5);
	tcase_add_loop_test(tc, foreign_imitation, 1, 6);
	tcase_add_loop_test(tc, tunables, 0, 8);
	suite_add_tcase(suite, tc);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
