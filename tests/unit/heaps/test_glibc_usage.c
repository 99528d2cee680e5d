/*
 * The figures of a glibc heap are exactly those that malloc keeps, in the same
 * process at the same moment.
 */
#include <malloc.h>

#include "heapwalk/heaps/glibc/arena.h"
#include "tests/support/heaps/heap_image.h"
#include "tests/support/suite.h"

/*
 * This process's own heap, read, beside what malloc says of it at the same
 * moment.
 */

/*
 * What malloc itself says of its heap: mallinfo2() and malloc_info(). To ask
 * takes none of its memory.
 *
 * Chunks in tcaches count as in use there. The sizes of chunks in bins are
 * summed up flags and all in malloc_info(), and such a chunk always has one:
 * PREV_INUSE, which is 1.
 */

#define FIGURES_ARENAS 64
#define FIGURES_TEXT ((size_t)1 << 20)

struct figures_arena {
	size_t system_mem;
	size_t num_fast, fast; /* chunks in fastbins; bytes */
	size_t num_rest, rest; /* chunks in other bins, and top; bytes */
};

struct figures {
	size_t system_mem, free, fast, used, top; /* top: of the main arena */
	size_t num_mmapped, mmapped;
};

struct malloc_figures {
	FILE *file;
	char buffer[4096], text[FIGURES_TEXT];
	struct figures sums;
	struct figures_arena arenas[FIGURES_ARENAS];
	size_t num_arenas;
};

static void
malloc_figures_open(struct malloc_figures *figures)
{
	memset(figures, 0, sizeof(*figures));
	figures->file = tmpfile();
	ck_assert_ptr_nonnull(figures->file);
	setvbuf(
	    figures->file, figures->buffer, _IOFBF, sizeof(figures->buffer));
}

/* Assertions would allocate. */
static bool
malloc_figures_ask(struct malloc_figures *figures)
{
#if __GLIBC_PREREQ(2, 33)
	struct mallinfo2 info = mallinfo2();
#else
	struct mallinfo info = mallinfo();
#endif
	int fd = fileno(figures->file);
	ssize_t length;

	figures->sums = (struct figures) {
		.system_mem = (size_t)info.arena,
		.free = (size_t)info.fordblks,
		.fast = (size_t)info.fsmblks,
		.used = (size_t)info.uordblks,
		.top = (size_t)info.keepcost,
		.num_mmapped = (size_t)info.hblks,
		.mmapped = (size_t)info.hblkhd,
	};
	rewind(figures->file);
	if (ftruncate(fd, 0) != 0 || malloc_info(0, figures->file) != 0 ||
	    fflush(figures->file) != 0)
		return false;
	length = pread(fd, figures->text, FIGURES_TEXT - 1, 0);
	figures->text[length < 0 ? 0 : length] = '\0';
	return length > 0 && (size_t)length < FIGURES_TEXT - 1;
}

/* The number that follows KEY and then NAME behind AT. */
static size_t
malloc_figures_number(const char *at, const char *key, const char *name)
{
	at = strstr(at, key);
	ck_assert_msg(at != NULL, "malloc_info(): no %s", key);
	at = strstr(at, name);
	ck_assert_msg(at != NULL, "malloc_info(): no %s", name);
	return strtoul(at + strlen(name), NULL, 10);
}

/* Take apart what was asked last. */
static void
malloc_figures_read(struct malloc_figures *figures)
{
	const char *at = figures->text, *fast = "<total type=\"fast\"";
	const char *rest = "<total type=\"rest\"", *system = "\"current\"";
	struct figures_arena *arena = figures->arenas;
	bool has_fast = strstr(at, fast) != NULL; /* up to glibc 2.42 */

	for (figures->num_arenas = 0; (at = strstr(at, "<heap nr=")) != NULL;
	     arena++, figures->num_arenas++, at++) {
		ck_assert_uint_lt(figures->num_arenas, FIGURES_ARENAS);
		arena->system_mem =
		    malloc_figures_number(at, system, " size=\"");
		arena->num_fast =
		    has_fast ? malloc_figures_number(at, fast, " count=\"") : 0;
		arena->fast =
		    has_fast ? malloc_figures_number(at, fast, " size=\"") : 0;
		arena->num_rest = malloc_figures_number(at, rest, " count=\"");
		arena->rest = malloc_figures_number(at, rest, " size=\"");
	}
}

#define USAGE_THREADS 9

static struct malloc_figures before, after;
static struct heap_image image;
static struct mu_thread threads[USAGE_THREADS];
static size_t num_threads;
static struct mu_arena tables;
static struct mu_heap heap;
static const struct mu_heap_usage *const usage = &heap.usage;

static void
usage_setup(void)
{
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	malloc_figures_open(&before);
	malloc_figures_open(&after);
	threads[0] = (struct mu_thread) { .tid = getpid(), .tp = mu_arch_tp() };
	num_threads = 1;
}

/* The heap as it is now, and what malloc says of it. */
static enum mu_status
take(void)
{
	struct mu_why why = { .text = "" };
	enum mu_status status;
	bool asked;

	/* Whatever it takes to make assertions is there after the first. */
	heap_image_take(&image, threads, num_threads);
	heap_image_release(&image);
	asked = malloc_figures_ask(&before);
	heap_image_take(&image, threads, num_threads);
	asked = malloc_figures_ask(&after) && asked;
	ck_assert(asked);
	ck_assert_mem_eq(&before.sums, &after.sums, sizeof(before.sums));
	ck_assert_str_eq(before.text, after.text);
	malloc_figures_read(&before);

	mu_arena_open(&tables, (size_t)1 << 30);
	status = mu_heaps_list(&heap, &image.self.snap, &tables, &why);
	ck_assert_msg(status == MU_OK || status == MU_PARTIAL, "%s", why.text);
	return status;
}

/* What holds of every heap: nothing is counted twice, and nothing is left. */
static struct mu_arena_usage
expect_sums(void)
{
	struct mu_arena_usage sum = { 0 }, one;
	size_t i;

	for (i = 0; i < usage->num_arenas; i++) {
		one = usage->arenas[i];
		ck_assert_uint_eq(one.span,
		    one.live + one.bins + one.tcache + one.top + one.overhead);
		ck_assert_uint_le(one.fastbins, one.bins);
		sum.span += one.span;
		sum.live += one.live;
		sum.bins += one.bins;
		sum.fastbins += one.fastbins;
		sum.tcache += one.tcache;
		sum.top += one.top;
		sum.overhead += one.overhead;
	}
	ck_assert_uint_eq(sum.live + usage->mmapped_live, heap.blocks.bytes);
	ck_assert_uint_eq(usage->live_reachable, heap.blocks.bytes);
	ck_assert_uint_eq(usage->live_unreachable, 0);
	ck_assert_uint_eq(usage->free_held,
	    sum.bins + sum.tcache + sum.top + usage->mmapped_free);
	ck_assert_uint_eq(
	    sum.span + usage->mmapped + usage->unproven, mu_usage_held(usage));
	return sum;
}

static void
expect_arena(
    const struct mu_arena_usage *arena, const struct figures_arena *figures)
{
	ck_assert_uint_eq(arena->span, figures->system_mem);
	ck_assert_uint_eq(arena->fastbins, figures->fast);
	/* A flag, which is 1, for each chunk but top. */
	ck_assert_uint_eq(arena->bins - arena->fastbins + arena->top,
	    figures->rest - (figures->num_rest - 1));
}

/* The same things are the same. */
static void
expect_malloc_agrees(void)
{
	struct mu_arena_usage sum = expect_sums();
	size_t i;

	ck_assert_uint_eq(usage->num_arenas, before.num_arenas);
	for (i = 0; i < usage->num_arenas; i++)
		expect_arena(&usage->arenas[i], &before.arenas[i]);
	ck_assert_uint_eq(sum.span, before.sums.system_mem);
	ck_assert_uint_eq(sum.bins + sum.top, before.sums.free);
	ck_assert_uint_eq(sum.fastbins, before.sums.fast);
	ck_assert_uint_eq(
	    sum.live + sum.tcache + sum.overhead, before.sums.used);
	ck_assert_uint_eq(usage->arenas[0].top, before.sums.top);
	ck_assert_uint_eq(usage->mmapped, before.sums.mmapped);
	ck_assert_uint_eq(usage->mmapped_unproven, 0);
	ck_assert_uint_eq(usage->unproven, 0);
}

#define MANY 20000
#define MEDIUM 200 /* bytes: into bins, once the tcache is full */
#define SMALL 40   /* into fastbins, where there are any */
#define THREADS (USAGE_THREADS - 1)
#define LARGE 100000 /* not mmapped yet */
#define LARGES 1000  /* more than one heap of an arena */
#define MMAPPED 12

static void *blocks[MANY];
static void *volatile kept;
static pthread_barrier_t barrier;

static void
fill(size_t size)
{
	size_t i;

	for (i = 0; i < MANY; i++) {
		blocks[i] = malloc(size);
		ck_assert_ptr_nonnull(blocks[i]);
	}
}

static void
free_each_second(void)
{
	size_t i;

	for (i = 0; i < MANY; i += 2) {
		free(blocks[i]);
		blocks[i] = NULL;
	}
}

TEST(fresh)
{
	ck_assert_int_eq(take(), MU_OK);
	expect_malloc_agrees();
	ck_assert_uint_eq(usage->num_arenas, 1);
	ck_assert_uint_gt(usage->arenas[0].live, 0);
	ck_assert_uint_gt(usage->arenas[0].top, 0);
	ck_assert_uint_eq(usage->mmapped, 0);
	ck_assert_int_eq(mu_usage_verdict(usage), MU_VERDICT_NONE);
}

TEST(full)
{
	fill(MEDIUM);
	ck_assert_int_eq(take(), MU_OK);
	expect_malloc_agrees();
	ck_assert_int_eq(mu_usage_verdict(usage), MU_VERDICT_IN_USE);
	mu_usage_complete(&heap.usage, (MANY / 2) * MEDIUM);
	ck_assert_int_eq(mu_usage_verdict(usage), MU_VERDICT_LEAK);
}

TEST(fragmented)
{
	fill(MEDIUM);
	free_each_second();
	ck_assert_int_eq(take(), MU_OK);
	expect_malloc_agrees();
	ck_assert_uint_ge(
	    usage->arenas[0].bins, (MANY / 2 - 32) * (MEDIUM + 8));
	ck_assert_int_eq(mu_usage_verdict(usage), MU_VERDICT_FRAGMENTATION);
}

TEST(fragmented_in_fastbins)
{
	fill(SMALL);
	free_each_second();
	ck_assert_int_eq(take(), MU_OK);
	expect_malloc_agrees();
	if (before.sums.fast > 0)
		ck_assert_uint_ge(
		    usage->arenas[0].fastbins, (MANY / 2 - 32) * (SMALL + 8));
	ck_assert_uint_ge(usage->arenas[0].bins, (MANY / 2 - 32) * (SMALL + 8));
}

TEST(free_at_the_end)
{
	size_t i;

	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	fill(MEDIUM);
	for (i = 0; i < MANY; i++)
		free(blocks[i]);
	ck_assert_int_eq(take(), MU_OK);
	expect_malloc_agrees();
	ck_assert_uint_ge(usage->arenas[0].top, (MANY - 32) * (MEDIUM + 8));
	ck_assert_int_eq(mu_usage_verdict(usage), MU_VERDICT_SLACK);
}

/* As many of each size as there is room for. */
TEST(tcache_full)
{
	const struct mu_glibc_layout *layout;
	struct mu_glibc glibc;
	struct mu_why why;
	size_t size, i, most, expected = 0;

	for (size = 24; size <= 1032; size += 16) {
		for (i = 0; i < 32; i++)
			blocks[i] = malloc(size);
		for (i = 0; i < 32; i++)
			free(blocks[i]);
	}
	ck_assert_int_eq(take(), MU_OK);
	expect_malloc_agrees();
	ck_assert_int_eq(
	    mu_glibc_find(&glibc, NULL, &image.self.snap, &tables, &why),
	    MU_OK);
	layout = glibc.layout;
	most = *heap_image_word(&image, glibc.mp + layout->par_tcache_count);
	for (size = 24; size <= 1032; size += 16)
		expected += most * (size + 8);
	ck_assert_uint_eq(usage->arenas[0].tcache, expected);
}

/* Heaps of other arenas, more than one each of some; who has them may end. */
static void *
use_arena(void *arg)
{
	struct mu_thread *thread = arg;
	size_t number = (size_t)(thread - threads), i;
	unsigned seed = (unsigned)number;
	static __thread void *mine[MANY / 10];

	for (i = 0; i < MANY / 10; i++)
		mine[i] = malloc(rand_r(&seed) % 2000);
	for (i = 0; i < MANY / 10; i++)
		if (rand_r(&seed) % 3 != 0)
			free(mine[i]);
	for (i = 0; number % 4 == 1 && i < LARGES; i++)
		mine[i] = malloc(LARGE);
	for (i = 0; number % 4 == 1 && i < LARGES; i += 3)
		free(mine[i]);
	thread->tp = mu_arch_tp();
	pthread_barrier_wait(&barrier);
	if (number % 2 != 0)
		return NULL;
	for (;;)
		pause();
}

TEST(arenas)
{
	pthread_t ids[1 + THREADS];
	size_t i;

	mallopt(M_ARENA_MAX, 1 + THREADS);
	pthread_barrier_init(&barrier, NULL, 1 + THREADS);
	for (i = 1; i <= THREADS; i++) {
		threads[i].tid = getpid() + (pid_t)i;
		ck_assert_int_eq(
		    pthread_create(&ids[i], NULL, use_arena, &threads[i]), 0);
	}
	pthread_barrier_wait(&barrier);
	for (i = 1; i <= THREADS; i += 2)
		pthread_join(ids[i], NULL);
	for (i = 2; i <= THREADS; i += 2)
		threads[num_threads++] = threads[i];
	ck_assert_int_eq(take(), MU_OK);
	ck_assert_uint_eq(usage->num_arenas, 1 + THREADS);
	expect_malloc_agrees();
}

TEST(mmapped)
{
	size_t i, live = 0;

	for (i = 0; i < MMAPPED; i++) {
		blocks[i] = i % 3 == 0 ? memalign(64 << 10, (i + 1) << 20)
		    : i % 3 == 1       ? memalign(64, (i + 1) << 20)
				       : malloc((i + 1) * 300000);
		ck_assert_ptr_nonnull(blocks[i]);
	}
	for (i = 0; i < MMAPPED; i += 5)
		free(blocks[i]);
	for (i = 0; i < MMAPPED; i++)
		live += i % 5 == 0 ? 0 : malloc_usable_size(blocks[i]);
	ck_assert_int_eq(take(), MU_OK);
	expect_malloc_agrees();
	ck_assert_uint_eq(usage->mmapped_live, live);
	ck_assert_uint_gt(usage->mmapped, live);
	ck_assert_uint_eq(usage->mmapped_free, 0);
}

/* The main arena has no free chunk of SIZE. */
static void
exhaust(size_t size)
{
	uintptr_t block;

	do {
		block = (uintptr_t)malloc(size);
	} while ((*(size_t *)(block - 8) & MU_IS_MMAPPED) == 0);
}

static void *
take_and_give(void *arg)
{
	struct mu_thread *thread = arg;

	/* Since 2.43 an mmapped chunk creates no tcache. */
	kept = malloc(24);
	free(kept);
	kept = malloc(640);
	free(kept);
	thread->tp = mu_arch_tp();
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return NULL;
}

/* Even the struct of a tcache can be mmapped. */
TEST(tcache_mmapped)
{
	size_t free;
	pthread_t id;

	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 64);
	exhaust(4000);
	exhaust(640);
	pthread_barrier_init(&barrier, NULL, 2);
	threads[1].tid = getpid() + 1;
	ck_assert_int_eq(
	    pthread_create(&id, NULL, take_and_give, &threads[1]), 0);
	pthread_barrier_wait(&barrier);
	num_threads = 2;
	ck_assert_int_eq(take(), MU_OK);
	expect_malloc_agrees();
	ck_assert_uint_eq(usage->num_arenas, 1);

	/* A tcache keeps what is mmapped from 2.43 on. */
	free = usage->mmapped_free;
	ck_assert(free == 0 || free == image.self.snap.memory.page_size);
	ck_assert_uint_ge(usage->mmapped - usage->mmapped_live - free, 4096);
}

/* Malloc counts the others' memory as its own; here it is not. */
TEST(sbrk_by_others)
{
	size_t i, hole = 1 << 20;
	char *end;

	fill(MEDIUM);
	end = sbrk((long)hole);
	ck_assert_ptr_ne(end, (void *)-1);
	for (i = 0; i < MANY; i++) /* none may be optimised away */
		kept = malloc(MEDIUM);
	free_each_second();
	take();
	expect_sums();
	ck_assert_uint_eq(before.sums.system_mem - hole,
	    usage->arenas[0].span + usage->unproven);
	ck_assert_uint_eq(usage->arenas[0].top, before.sums.top);
	ck_assert_uint_eq(
	    usage->arenas[0].bins + usage->arenas[0].top, before.sums.free);
}

/* What malloc never says: each one that the program has, and no other. */
TEST(live_is_what_we_have)
{
	size_t i, live, had;

	take();
	had = usage->arenas[0].live;
	heap_image_release(&image);
	mu_arena_close(&tables);
	fill(MEDIUM);
	free_each_second();
	for (i = 0, live = 0; i < MANY; i++)
		if (blocks[i] != NULL)
			live += malloc_usable_size(blocks[i]);
	take();
	ck_assert_uint_eq(usage->arenas[0].live, had + live);
	expect_malloc_agrees();
}

SUITE(.setup = usage_setup);
