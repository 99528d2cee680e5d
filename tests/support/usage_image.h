/*
 * This process's own heap, read, beside what malloc says of it at the same
 * moment (tests/support/malloc_figures.h).
 */
#ifndef TESTS_SUPPORT_USAGE_IMAGE_H
#define TESTS_SUPPORT_USAGE_IMAGE_H

#include <unistd.h>

#include "tests/support/heap_image.h"
#include "tests/support/malloc_figures.h"

#define USAGE_THREADS 9

static struct malloc_figures before, after;
static struct heap_image image;
static struct mu_thread threads[USAGE_THREADS];
static size_t num_threads;
static struct mu_arena tables;
static struct mu_heap heap;
static const struct mu_heap_usage *const usage = &heap.usage;

static inline void
usage_setup(void)
{
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	malloc_figures_open(&before);
	malloc_figures_open(&after);
	threads[0] = (struct mu_thread) { .tid = getpid(), .tp = mu_arch_tp() };
	num_threads = 1;
}

/* The heap as it is now, and what malloc says of it. */
static inline enum mu_status
take(void)
{
	struct mu_why why = { .words = "" };
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
	ck_assert_msg(status == MU_OK || status == MU_PARTIAL, "%s", why.words);
	return status;
}

/* What holds of every heap: nothing is counted twice, and nothing is left. */
static inline struct mu_arena_usage
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

static inline void
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
static inline void
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

#endif
