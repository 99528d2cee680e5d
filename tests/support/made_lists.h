/*
 * Two arenas made by hand, with long lists of free chunks.
 */
#ifndef TESTS_SUPPORT_MADE_LISTS_H
#define TESTS_SUPPORT_MADE_LISTS_H

#include "tests/support/made_chain.h"

#define PAGE 4096
#define ARENAS 2
#define HEAP_BYTES ((size_t)4 << 20) /* of each arena */
#define CHUNKS_MAX (HEAP_BYTES / 32)
#define SPAN_WORDS (HEAP_BYTES / 1024 + 1)

/* struct malloc_state, as the layout below says. */
#define FASTBINS 16
#define BINS 112

struct arena {
	size_t words[(BINS + MU_GLIBC_BINS * 16) / 8 + 2];
};

static struct arena arenas[ARENAS];
static const struct mu_glibc_layout layout = { .arena_fastbins = FASTBINS,
	.arena_bins = BINS,
	.tcache_size = 0x280,
	.safe_linking = true };

/* Of the arena that is being made. */
static size_t members[CHUNKS_MAX]; /* offsets of chunks */
static size_t num_members;

/* Chunks in lists, of all arenas: what may be damaged. */
static size_t listed[ARENAS * CHUNKS_MAX];
static size_t num_listed;

static inline void
shuffle(void)
{
	size_t i, j, member;

	for (i = num_members; i > 1; i--) {
		j = random_below(i);
		member = members[i - 1];
		members[i - 1] = members[j];
		members[j] = member;
	}
}

static inline size_t
size_at(size_t at)
{
	return *word_at(at + 8) & ~(size_t)7;
}

/* The chunks from AT to TOP that are free, or in use. */
static inline void
gather(size_t at, size_t top, bool in_use, size_t size, bool all)
{
	size_t next;

	num_members = 0;
	for (; at < top; at = next) {
		next = at + size_at(at);
		if (((*word_at(next + 8) & MU_PREV_INUSE) != 0) != in_use ||
		    (size != 0 && size_at(at) != size) ||
		    (!all && random_below(2) == 0))
			continue;
		members[num_members++] = at;
		listed[num_listed++] = at;
	}
}

/* What a word of a list is to hold so that it leads to chunk AT. */
static inline size_t
pointer_to(size_t at)
{
	return (size_t)heap + at;
}

static inline size_t *
bin_of(size_t arena, size_t bin)
{
	return (size_t *)((char *)&arenas[arena] + BINS + (bin - 1) * 16);
}

/* Sorted or not, as a coin says; in that order. */
static inline void
link_bins(size_t arena)
{
	size_t bin, *head, i, at;

	for (bin = 1; bin <= MU_GLIBC_BINS; bin++) {
		head = bin_of(arena, bin);
		head[0] = head[1] = (size_t)(head - 2);
	}
	for (i = 0; i < num_members; i++) {
		at = members[i];
		bin = random_below(2) == 0 ? 1 : mu_glibc_bin(size_at(at));
		head = bin_of(arena, bin);
		*word_at(at + 16) = (size_t)(head - 2);
		*word_at(at + 24) = head[1];
		*(size_t *)(head[1] + 16) = pointer_to(at);
		head[1] = pointer_to(at);
	}
}

static inline void
link_fastbin(size_t arena, size_t bin)
{
	size_t *head = (size_t *)((char *)&arenas[arena] + FASTBINS) + bin;
	size_t i, at;

	*head = 0;
	for (i = 0; i < num_members; i++) {
		at = members[i];
		*word_at(at + 16) = *head ^ (pointer_to(at + 16) >> 12);
		*head = pointer_to(at);
	}
}

static inline void
make_arena(size_t arena, size_t seed)
{
	size_t from = arena * HEAP_BYTES, top = from + HEAP_BYTES - 64, bin;

	fill(from, top, seed % 2 == 0 ? 0 : 2, arena != 0);
	*word_at(top + 8) = 64 | MU_PREV_INUSE;
	gather(from, top, false, 0, true);
	if (seed / 2 % 2 == 0)
		shuffle();
	link_bins(arena);
	for (bin = 0; bin < MU_GLIBC_FASTBINS; bin++) {
		gather(from, top, true, (bin + 2) * 16, bin == 9);
		if (seed / 4 % 2 == 0)
			shuffle();
		if (seed / 8 % 2 != 0 && bin % 3 == 0)
			num_members = 0;
		link_fastbin(arena, bin);
	}
}

static inline void
make_heap(size_t seed)
{
	size_t arena;

	random_seed(seed);
	memset(heap, seed % 3 == 0 ? 0x5a : 0, ARENAS * HEAP_BYTES);
	num_listed = 0;
	for (arena = 0; arena < ARENAS; arena++)
		make_arena(arena, seed);
}

static inline const void *
view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	uintptr_t begin = (uintptr_t)heap;

	(void)memory;
	if (address - (uintptr_t)arenas < sizeof(arenas) ||
	    (address - begin < ARENAS * HEAP_BYTES &&
		size <= ARENAS * HEAP_BYTES - (address - begin)))
		return (const void *)address;
	return NULL;
}

#endif
