#include "lib/helpers/shared_sift.h"

#include <string.h>

#include "mu/range.h"

/* How far the heap may grow until the stop: addresses, not memory. */
#define GROWTH ((uintptr_t)16 << 30)

/*
 * mmap() takes the highest hole below the stack. Between stack and first
 * mapping are at most the limit of the stack, its random offset and that of
 * the mappings: 2^28 pages on x86-64 (arch/x86/mm/mmap.c). A larger hole is
 * the end of what it has taken.
 */
#define HOLE ((uintptr_t)2 << 40)

static bool
is_private(const struct mu_mapping *mapping)
{
	return mapping->inode == 0 && !mapping->shared;
}

/* Addresses of the kernel's half: [vsyscall]. */
static bool
is_kernels(const struct mu_mapping *mapping)
{
	return (intptr_t)mapping->range.begin < 0;
}

static uintptr_t
minus(uintptr_t address, uintptr_t less)
{
	return address > less ? address - less : 0;
}

static void
find_low(struct mu_sift *sift, const struct mu_mapping *mappings, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (strcmp(mappings[i].name, "[heap]") != 0)
			continue;
		if (sift->low.end == 0)
			sift->low.begin = mappings[i].range.begin;
		sift->low.end = mappings[i].range.end + GROWTH;
	}
}

static void
find_high(struct mu_sift *sift, const struct mu_mapping *mappings, size_t count)
{
	const struct mu_mapping *mapping;
	uintptr_t begin = 0;
	size_t i;

	for (i = count; i > 0; i--) {
		mapping = &mappings[i - 1];
		if (is_kernels(mapping) || !is_private(mapping))
			continue;
		if (begin == 0)
			sift->high.end = mapping->range.end;
		else if (begin - mapping->range.end > HOLE)
			break;
		begin = mapping->range.begin;
	}
	sift->high.begin = minus(begin, GROWTH);
}

void
mu_sift_find(
    struct mu_sift *sift, const struct mu_mapping *mappings, size_t count)
{
	*sift = (struct mu_sift) { { 0, 0 }, { 0, 0 } };
	find_low(sift, mappings, count);
	find_high(sift, mappings, count);
}

/*
 * A quick test of halves of words: 0.15 us for a page of 4 KiB, a quarter of
 * what whole words take without AVX.
 */
#define LANES 4
typedef uint32_t halves __attribute__((vector_size(LANES * sizeof(uint32_t))));
typedef int32_t ordered __attribute__((vector_size(sizeof(halves))));

/* SSE2 compares signed numbers only. */
#define SIGN 0x80000000u

struct near {
	uint32_t less;
	int32_t end;
};

static struct near
near_of(struct mu_range range)
{
	uint32_t begin = (uint32_t)(range.begin >> 32);
	uint32_t count = (uint32_t)(range.end >> 32) - begin + 1;

	return (struct near) { begin - SIGN, (int32_t)(count - SIGN) };
}

/* True if the upper half of any word may be that of an address in a range. */
static bool
is_near(const struct mu_sift *sift, const char *page, size_t size)
{
	struct near low = near_of(sift->low), high = near_of(sift->high);
	ordered any = { 0 };
	halves at;
	size_t i;

	for (i = 0; i < size; i += sizeof(at)) {
		memcpy(&at, page + i, sizeof(at));
		any |= ((ordered)(at - low.less) < low.end) |
		    ((ordered)(at - high.less) < high.end);
	}
	return (any[0] | any[1] | any[2] | any[3]) != 0;
}

bool
mu_sift_keeps(const struct mu_sift *sift, const char *page, size_t size)
{
	uintptr_t low_size = mu_range_size(sift->low);
	uintptr_t high_size = mu_range_size(sift->high);
	uintptr_t word;
	size_t i;

	if (!is_near(sift, page, size))
		return false;
	for (i = 0; i < size; i += sizeof(word)) {
		memcpy(&word, page + i, sizeof(word));
		if (word - sift->low.begin < low_size ||
		    word - sift->high.begin < high_size)
			return true;
	}
	return false;
}

bool
mu_sift_covers(const struct mu_sift *sift, struct mu_range range)
{
	const struct mu_range *at =
	    range.begin < sift->high.begin ? &sift->low : &sift->high;

	return range.begin >= at->begin && range.end <= at->end;
}
