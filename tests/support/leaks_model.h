/*
 * Entries by the words of Android's report, slowly: equal ones become one, the
 * heaviest come first.
 */
#ifndef TESTS_SUPPORT_LEAKS_MODEL_H
#define TESTS_SUPPORT_LEAKS_MODEL_H

#include "heapwalk/fold/leaks.h"
#include "mu/sort.h"

_Static_assert(sizeof(struct mu_leak) <= MU_SORT_MOST, "mu_sort() sorts them");

static inline int
compare_words(uintptr_t a, uintptr_t b)
{
	return (a > b) - (a < b);
}

static inline int
compare_frames(const struct mu_leak *a, const struct mu_leak *b)
{
	size_t i;

	if (a->num_frames != b->num_frames)
		return compare_words(a->num_frames, b->num_frames);
	if (a->num_more != b->num_more)
		return compare_words(a->num_more, b->num_more);
	for (i = 0; i < a->num_frames && i < MU_LEAK_FRAMES; i++)
		if (a->frames[i] != b->frames[i])
			return compare_words(a->frames[i], b->frames[i]);
	for (i = 0; i < a->num_more; i++)
		if (a->more[i] != b->more[i])
			return compare_words(a->more[i], b->more[i]);
	return 0;
}

static inline int
by_frames(const void *a, const void *b)
{
	const struct mu_leak *left = a, *right = b;
	int order = compare_frames(left, right);

	return order != 0
	    ? order
	    : compare_words(left->range.begin, right->range.begin);
}

static inline int
by_total_size(const void *a, const void *b)
{
	const struct mu_leak *left = a, *right = b;

	if (left->total_size != right->total_size)
		return compare_words(right->total_size, left->total_size);
	return compare_words(left->range.begin, right->range.begin);
}

static inline void
merge(struct mu_leak *into, const struct mu_leak *leak)
{
	into->similar_count += 1 + leak->similar_count;
	into->similar_size += mu_range_size(leak->range) + leak->similar_size;
	into->similar_referenced_count +=
	    leak->referenced_count + leak->similar_referenced_count;
	into->similar_referenced_size +=
	    leak->referenced_size + leak->similar_referenced_size;
	into->total_size += leak->total_size;
}

static inline __attribute__((unused)) void
model_merge(struct mu_leak *all, size_t *count)
{
	size_t i, out = 0;

	mu_sort(all, *count, sizeof(*all), by_frames);
	for (i = 0; i < *count; i++) {
		if (out > 0 && all[i].num_frames > 0 &&
		    compare_frames(&all[out - 1], &all[i]) == 0)
			merge(&all[out - 1], &all[i]);
		else if (out++ != i)
			all[out - 1] = all[i];
	}
	*count = out;
}

static inline __attribute__((unused)) void
model_sort(struct mu_leak *all, size_t count)
{
	mu_sort(all, count, sizeof(*all), by_total_size);
}

#endif
