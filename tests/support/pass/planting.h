/*
 * A thousand blocks lost in the middle of work that allocates, frees and reuses
 * memory all the time, to compare how many each tool finds.
 *
 * Every churner keeps a list of items, each with a buffer, like a program that
 * has records and their texts. All that it holds is in reach of its list; a
 * record that goes is taken off the list first, so that no pointer to freed
 * memory is left by the program. What still hides a lost block are stale words:
 * words in memory that was handed out again and not written.
 *
 * The lost ones are written from end to end with a pattern that is no address,
 * and known by hidden addresses only. All draws are from fixed seeds.
 */
#ifndef TESTS_SUPPORT_PASS_PLANTING_H
#define TESTS_SUPPORT_PASS_PLANTING_H

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/pass/planted_ask.h"

#define MAX_PLANTERS 8

/* What a program does with memory that it was given. */
enum planting_fill {
	FILL_ALL,     /* writes all of it */
	FILL_HALF,    /* writes the first half: a buffer with room to grow */
	FILL_NONE,    /* writes none of it yet */
	FILL_CALLOC,  /* asks for zeros */
	FILL_REALLOC, /* lets it grow, and writes what it had before */
	FILL_ANY,     /* one or the other */
};

struct planting_flavour {
	const char *name;
	unsigned planters; /* threads; 1 is the main thread alone */
	enum planting_fill fill;
	size_t min_size, max_size; /* of buffers and of lost blocks; half of
				      them are below min + (max - min) / 16 */
	unsigned items;            /* a planter holds at a time, about */
	unsigned rounds;           /* of all planters together */
};

static const struct planting_flavour planting_flavours[] = {
	{ "written", 1, FILL_ALL, 16, 1024, 3000, 200000 },
	{ "unwritten", 1, FILL_NONE, 16, 1024, 3000, 200000 },
	{ "half-written", 1, FILL_HALF, 16, 1024, 3000, 200000 },
	{ "calloc", 1, FILL_CALLOC, 16, 1024, 3000, 200000 },
	{ "realloc", 1, FILL_REALLOC, 16, 1024, 3000, 200000 },
	{ "any", 1, FILL_ANY, 16, 1024, 3000, 200000 },
	{ "mixed-sizes", 1, FILL_ANY, 16, 65536, 1000, 100000 },
	{ "mmapped", 1, FILL_ANY, 140000, 600000, 100, 10000 },
	{ "threads-written", 8, FILL_ALL, 16, 1024, 400, 200000 },
	{ "threads-any", 8, FILL_ANY, 16, 1024, 400, 200000 },
	{ "threads-mixed", 8, FILL_ANY, 16, 65536, 200, 100000 },
};
#define PLANTING_FLAVOURS \
	(sizeof(planting_flavours) / sizeof(*planting_flavours))

struct planting_item {
	size_t number, size;
	struct planting_item *next, *previous;
	unsigned char *buffer;
};

struct planter {
	const struct planting_flavour *flavour;
	struct planting_item *items; /* a ring, NULL if empty */
	size_t count;
	uint64_t random;
	unsigned number;
	unsigned long rounds; /* done */
	pthread_t thread;
	char own_lines[64]; /* what the next one writes to is elsewhere */
};

static struct planter planters[MAX_PLANTERS];
static int planting_ends;

PLANTING size_t
planting_random(struct planter *planter, size_t limit)
{
	uint64_t x = planter->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	planter->random = x;
	return (size_t)(x >> 16) % limit;
}

PLANTING size_t
planting_size(struct planter *planter)
{
	const struct planting_flavour *flavour = planter->flavour;
	size_t width = flavour->max_size - flavour->min_size;

	if (planting_random(planter, 2) == 0)
		width /= 16;
	return flavour->min_size + planting_random(planter, width);
}

/* Any byte but the one that marks lost blocks, and no address. */
PLANTING void
planting_write(unsigned char *buffer, size_t size)
{
	memset(buffer, 0xc3, size);
}

PLANTING unsigned char *
planting_buffer(struct planter *planter, size_t size)
{
	enum planting_fill fill = planter->flavour->fill;
	unsigned char *buffer;

	if (fill == FILL_ANY)
		fill = (enum planting_fill)planting_random(planter, FILL_ANY);
	if (fill == FILL_CALLOC)
		buffer = (unsigned char *)calloc(1, size);
	else if (fill == FILL_REALLOC)
		buffer = (unsigned char *)malloc(size / 4 + 1);
	else
		buffer = (unsigned char *)malloc(size);
	if (fill == FILL_ALL)
		planting_write(buffer, size);
	else if (fill == FILL_HALF)
		planting_write(buffer, size / 2);
	else if (fill == FILL_REALLOC)
		planting_write(buffer, size / 4 + 1);
	if (fill == FILL_REALLOC)
		buffer = (unsigned char *)realloc(buffer, size);
	return buffer;
}

PLANTING void
planting_add(struct planter *planter)
{
	struct planting_item *item, *first = planter->items;

	item = (struct planting_item *)malloc(sizeof(*item));
	item->number = planter->rounds;
	item->size = planting_size(planter);
	item->buffer = planting_buffer(planter, item->size);
	item->next = first == NULL ? item : first;
	item->previous = first == NULL ? item : first->previous;
	item->next->previous = item->previous->next = item;
	planter->items = item;
	planter->count++;
}

PLANTING void
planting_remove(struct planter *planter)
{
	struct planting_item *item = planter->items;
	size_t steps = planting_random(planter, 32);

	while (steps-- > 0)
		item = item->next;
	planter->items = item->next == item ? NULL : item->next;
	item->next->previous = item->previous;
	item->previous->next = item->next;
	free(item->buffer);
	free(item);
	planter->count--;
}

/* The address stays in no frame but this one, which is dead when it ends. */
PLANTING void
planting_lose(struct planter *planter, size_t index)
{
	size_t size = planting_size(planter);
	unsigned char *block = (unsigned char *)malloc(size);

	memset(block, PLANTED_BYTE, malloc_usable_size(block));
	planted[index] = mu_hide(block);
}

PLANTING void
planting_round(struct planter *planter)
{
	/* The number of items goes up and down, by a third. */
	size_t target = planter->flavour->items, phase = planter->rounds / 4096;

	if (phase % 2 == 0)
		target -= target / 3;
	if (planting_random(planter, 2 * target) >= planter->count)
		planting_add(planter);
	else
		planting_remove(planter);
	__atomic_fetch_add(&planter->rounds, 1, __ATOMIC_RELAXED);
}

/* Lose in the second quarter and the third of all rounds. */
PLANTING void
planting_work(struct planter *planter)
{
	const struct planting_flavour *flavour = planter->flavour;
	size_t rounds = flavour->rounds / flavour->planters, i;
	size_t share = PLANTED / flavour->planters, lost = 0;

	for (i = 0; i < rounds; i++) {
		planting_round(planter);
		if (i > rounds / 4 && lost < share &&
		    (i - rounds / 4) * 2 * share / rounds > lost) {
			planting_lose(planter, planter->number * share + lost);
			lost++;
		}
	}
}

PLANTING void *
planting_thread(void *arg)
{
	struct planter *planter = (struct planter *)arg;

	planting_work(planter);
	while (__atomic_load_n(&planting_ends, __ATOMIC_RELAXED) == 0)
		planting_round(planter);
	return NULL;
}

/* Lose PLANTED blocks; the threads of the flavour go on working. */
PLANTING void
planting_begin(const struct planting_flavour *flavour, unsigned seed)
{
	unsigned i, all_done = 0;

	for (i = 0; i < flavour->planters; i++) {
		planters[i].flavour = flavour;
		planters[i].number = i;
		planters[i].random = 0x9e3779b97f4a7c15u * (seed * 8 + i + 1);
	}
	if (flavour->planters == 1) {
		planting_work(&planters[0]);
		return;
	}
	for (i = 0; i < flavour->planters; i++)
		pthread_create(
		    &planters[i].thread, NULL, planting_thread, &planters[i]);
	while (all_done < flavour->planters) {
		sched_yield();
		for (i = all_done = 0; i < flavour->planters; i++)
			all_done += __atomic_load_n(
					&planters[i].rounds, __ATOMIC_RELAXED) >
			    flavour->rounds / flavour->planters;
	}
}

PLANTING void
planting_end(const struct planting_flavour *flavour)
{
	unsigned i;

	__atomic_store_n(&planting_ends, 1, __ATOMIC_RELAXED);
	for (i = 0; i < flavour->planters && flavour->planters > 1; i++)
		pthread_join(planters[i].thread, NULL);
	for (i = 0; i < flavour->planters; i++) {
		while (planters[i].count > 0)
			planting_remove(&planters[i]);
	}
}

PLANTING const struct planting_flavour *
planting_flavour(const char *name)
{
	size_t i;

	for (i = 0; i < PLANTING_FLAVOURS; i++) {
		if (strcmp(planting_flavours[i].name, name) == 0)
			return &planting_flavours[i];
	}
	return NULL;
}

#endif
