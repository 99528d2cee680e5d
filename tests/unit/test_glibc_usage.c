/*
 * The figures of a glibc heap against those that malloc itself keeps, byte by
 * byte: of the same process, at the same moment.
 */
#include <pthread.h>
#include <unistd.h>

#include "heapwalk/heaps/glibc/arena.h"
#include "tests/support/suite.h"
#include "tests/support/usage_image.h"

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

START_TEST(fresh)
{
	ck_assert_int_eq(take(), MU_OK);
	expect_malloc_agrees();
	ck_assert_uint_eq(usage->num_arenas, 1);
	ck_assert_uint_gt(usage->arenas[0].live, 0);
	ck_assert_uint_gt(usage->arenas[0].top, 0);
	ck_assert_uint_eq(usage->mmapped, 0);
	ck_assert_int_eq(mu_usage_judge(usage), MU_VERDICT_NONE);
}
END_TEST

START_TEST(full)
{
	fill(MEDIUM);
	ck_assert_int_eq(take(), MU_OK);
	expect_malloc_agrees();
	ck_assert_int_eq(mu_usage_judge(usage), MU_VERDICT_IN_USE);
	mu_usage_complete(&heap.usage, (MANY / 2) * MEDIUM);
	ck_assert_int_eq(mu_usage_judge(usage), MU_VERDICT_LEAK);
}
END_TEST

START_TEST(fragmented)
{
	fill(MEDIUM);
	free_each_second();
	ck_assert_int_eq(take(), MU_OK);
	expect_malloc_agrees();
	ck_assert_uint_ge(
	    usage->arenas[0].bins, (MANY / 2 - 32) * (MEDIUM + 8));
	ck_assert_int_eq(mu_usage_judge(usage), MU_VERDICT_FRAGMENTATION);
}
END_TEST

START_TEST(fragmented_in_fastbins)
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
END_TEST

START_TEST(free_at_the_end)
{
	size_t i;

	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	fill(MEDIUM);
	for (i = 0; i < MANY; i++)
		free(blocks[i]);
	ck_assert_int_eq(take(), MU_OK);
	expect_malloc_agrees();
	ck_assert_uint_ge(usage->arenas[0].top, (MANY - 32) * (MEDIUM + 8));
	ck_assert_int_eq(mu_usage_judge(usage), MU_VERDICT_SLACK);
}
END_TEST

/* As many of each size as there is room for. */
START_TEST(tcache_full)
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
	    mu_glibc_find(&glibc, &image.self.snap, &tables, &why), MU_OK);
	layout = glibc.layout;
	most = *heap_image_word(&image, glibc.mp + layout->par_tcache_count);
	for (size = 24; size <= 1032; size += 16)
		expected += most * (size + 8);
	ck_assert_uint_eq(usage->arenas[0].tcache, expected);
}
END_TEST

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

START_TEST(arenas)
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
END_TEST

START_TEST(mmapped)
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
END_TEST

/* Nothing of SIZE is left in the main arena. */
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

	/* What is mmapped makes no tcache from 2.43 on. */
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
START_TEST(tcache_mmapped)
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
END_TEST

/* Malloc counts the others' memory as its own; here it is not. */
START_TEST(sbrk_by_others)
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
END_TEST

/* What malloc never says: each one that the program has, and no other. */
START_TEST(live_is_what_we_have)
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
END_TEST

int
main(void)
{
	Suite *suite = suite_create("glibc_usage");
	TCase *tc = tcase_create("glibc_usage");

	tcase_set_timeout(tc, 240);
	tcase_add_checked_fixture(tc, usage_setup, NULL);
	tcase_add_test(tc, fresh);
	tcase_add_test(tc, full);
	tcase_add_test(tc, fragmented);
	tcase_add_test(tc, fragmented_in_fastbins);
	tcase_add_test(tc, free_at_the_end);
	tcase_add_test(tc, tcache_full);
	tcase_add_test(tc, arenas);
	tcase_add_test(tc, mmapped);
	tcase_add_test(tc, tcache_mmapped);
	tcase_add_test(tc, sbrk_by_others);
	tcase_add_test(tc, live_is_what_we_have);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
