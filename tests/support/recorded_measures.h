/*
 * What glibc does with a tunable, seen from outside: that a setting is in force
 * is measured, not believed.
 */
#ifndef TESTS_SUPPORT_RECORDED_MEASURES_H
#define TESTS_SUPPORT_RECORDED_MEASURES_H

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEASURED 300 /* blocks */

#if __GLIBC_PREREQ(2, 33)
#define MALLINFO mallinfo2
typedef struct mallinfo2 mallinfo_result;
#else
#define MALLINFO mallinfo
typedef struct mallinfo mallinfo_result;
#endif

static void *measured[MEASURED];
static char *measured_brk; /* where it was before all was freed */

static inline void
measure_fill(size_t size)
{
	size_t i;

	for (i = 0; i < MEASURED; i++)
		measured[i] = malloc(size);
}

static inline void
measure_empty(void)
{
	size_t i;

	for (i = 0; i < MEASURED; i++)
		free(measured[i]);
}

/*
 * Of many blocks of SIZE bytes freed, how many does the tcache keep? Glibc
 * counts them as in use.
 */
static inline size_t
measure_tcache(size_t size)
{
	size_t chunk, full, empty;

	/* 2.43 makes the tcache at the first free(). */
	measure_fill(size);
	measure_empty();
	measure_fill(size);
	chunk = malloc_usable_size(measured[0]) + sizeof(size_t);
	full = (size_t)MALLINFO().uordblks;
	measure_empty();
	empty = (size_t)MALLINFO().uordblks;
	return (empty + MEASURED * chunk - full) / chunk;
}

/* Bytes that fastbins hold when many blocks of SIZE bytes were freed. */
static inline size_t
measure_fastbins(size_t size)
{
	measure_fill(size);
	measure_empty();
	return (size_t)MALLINFO().fsmblks;
}

/*
 * Of a number of blocks of SIZE bytes, how many are mmapped? The first ones may
 * find room in the heap.
 */
static inline size_t
measure_mmapped(size_t size)
{
	size_t before = (size_t)MALLINFO().hblks, after, i, count;

	count = size > 1000000 ? 10 : MEASURED;
	for (i = 0; i < count; i++)
		measured[i] = malloc(size);
	after = (size_t)MALLINFO().hblks;
	while (i > 0)
		free(measured[--i]);
	return after - before;
}

/* Bytes by which brk moves when the heap grows by little; 0: it never does. */
static inline size_t
measure_growth(size_t size)
{
	char *before = sbrk(0), *after;
	size_t i;

	for (i = 0; i < MEASURED && sbrk(0) == before; i++)
		measured[i] = malloc(size);
	after = measured_brk = sbrk(0);
	while (i > 0)
		free(measured[--i]);
	return (size_t)(after - before);
}

/* How far does brk, when the heap has grown, end from a huge page's end? */
static inline size_t
measure_huge_end(size_t size)
{
	measure_growth(size);
	return (uintptr_t)measured_brk % ((size_t)2 << 20);
}

/* Bytes on top that are kept after MEASURED blocks of SIZE were freed. */
static inline size_t
measure_kept(size_t size)
{
	measure_fill(size);
	measure_empty();
	return (size_t)MALLINFO().keepcost;
}

/* What a new block of SIZE bytes is filled with; 0 if not with one byte. */
static inline size_t
measure_filling(size_t size)
{
	unsigned char *volatile block = malloc(size);
	unsigned char first;
	size_t i;

	/* The first words may have been links. */
	first = block[64];
	for (i = 64; i < size && block[i] == first; i++)
		;
	free(block);
	return i == size ? first : 0;
}

/* How many arenas are there? */
static inline size_t
measure_arenas(size_t unused)
{
	size_t size, count = 0;
	char *text = NULL, *at;
	FILE *file = open_memstream(&text, &size);

	(void)unused;
	malloc_info(0, file);
	fclose(file);
	for (at = text; (at = strstr(at, "<heap nr=")) != NULL; at++)
		count++;
	free(text);
	return count;
}

#endif
