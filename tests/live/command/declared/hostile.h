/*
 * What the programs of hostile.py share: blocks that are made, filled, freed,
 * and whose addresses stay where they were. It tells all that live in the end.
 */
#ifndef TESTS_LIVE_COMMAND_DECLARED_HOSTILE_H
#define TESTS_LIVE_COMMAND_DECLARED_HOSTILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/hide.h"

#define MADE_MAX 32768
#define LOCALS 24 /* owners on the stack */

struct link {
	struct link *next, *before;
};

struct known {
	size_t size;
	const char *name, *row, *pointers;
	void (*fill)(void *block, int depth);
};
extern const struct known known[COUNT];

/* Of 100 pointers so many are old, or of another type; so many blocks freed. */
struct mood {
	int old, cast, freed;
};

static struct {
	uintptr_t hidden;
	const char *name; /* NULL: it was freed */
	int type;         /* -1: it is no structure */
} made[MADE_MAX];
static size_t num_made;
static const struct mood *mood;
static uint64_t state;
static struct link links = { &links, &links };
void *anything[40]; /* not static: they are written only */
char *texts[40];
void **boxes[8];

static unsigned
some(unsigned of)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % of;
}

static void *
note(void *block, const char *name, int type)
{
	if (num_made == MADE_MAX)
		exit(2);
	made[num_made].hidden = mu_hide(block);
	made[num_made].name = name;
	made[num_made++].type = type;
	return block;
}

static void *
make(int type, int depth)
{
	void *block =
	    some(2) ? malloc(known[type].size) : calloc(1, known[type].size);

	note(block, known[type].name, type);
	known[type].fill(block, depth + 1);
	return block;
}

static void *
row(int type)
{
	unsigned i, count = 2 + some(5);
	char *block = calloc(count, known[type].size);

	note(block, known[type].row, -1);
	for (i = 0; i < count; i++)
		known[type].fill(block + i * known[type].size, 2);
	return block;
}

/* A block that was made: of TYPE, or any; OLD: it may have been freed. */
static void *
find(int type, int old)
{
	int tries;
	size_t i;

	for (tries = 0; tries < 50 && num_made > 0; tries++) {
		i = some((unsigned)num_made);
		if ((made[i].name != NULL || old) &&
		    (made[i].type == type || (type < 0 && made[i].type >= 0)))
			return (void *)~made[i].hidden;
	}
	return NULL;
}

static void *
pick(int type, int depth, void *before)
{
	int chance = (int)some(100);

	if (chance < mood->old)
		return some(2) ? before : find(type, 1);
	if (chance < mood->old + mood->cast)
		return find(-1, 0);
	if (chance < 50 || depth > 3)
		return NULL;
	if (chance < 60)
		return find(type, 0);
	return make(type, depth);
}

static void *
pointers(int type)
{
	unsigned i, count = 2 + some(12);
	void **block = malloc(count * sizeof(*block));

	note(block, known[type].pointers, -1);
	for (i = 0; i < count; i++)
		block[i] = pick(type, 3, some(4) ? NULL : block[i]);
	return block;
}

static char *
text(char *before)
{
	size_t size = 10 + some(80);
	char *block;

	if ((int)some(100) < mood->old)
		return before;
	if (some(3) == 0)
		return NULL;
	block = note(malloc(size), "char[*]", -1);
	strcpy(block, "a text");
	return block;
}

static void
enlist(struct link *link)
{
	link->next = links.next;
	link->before = &links;
	links.next->before = link;
	links.next = link;
}

/* What is linked is not freed: the list would be damaged. */
static void
let_go(void)
{
	size_t i = some((unsigned)num_made);
	struct link *link;
	uintptr_t begin = ~made[i].hidden;

	if (made[i].name == NULL || made[i].type < 0)
		return;
	for (link = links.next; link != &links; link = link->next)
		if ((uintptr_t)link - begin < known[made[i].type].size)
			return;
	made[i].name = NULL;
	free((void *)begin);
}

/* Behind it are blocks with the numbers of structures that are not linked. */
static __attribute__((noinline)) void
work(void *volatile *locals, unsigned steps, void (*own)(int type))
{
	unsigned i, j;

	for (i = 0; i < steps; i++) {
		switch (some(10)) {
		case 0:
			anything[some(40)] = make((int)some(COUNT), 0);
			break;
		case 1:
			texts[some(40)] = text(NULL);
			break;
		case 2:
			j = some(8);
			if (boxes[j] == NULL)
				boxes[j] = note(
				    calloc(6, sizeof(void *)), "void*[*]", -1);
			boxes[j][some(6)] = make((int)some(COUNT), 0);
			break;
		case 3:
			locals[some(LOCALS)] = make((int)some(COUNT), 0);
			break;
		default:
			own((int)some(COUNT));
		}
		for (j = 0; j < 8; j++)
			if ((int)some(100) < mood->freed)
				let_go();
	}
}

static int
play(const struct mood *given, uint64_t seed, unsigned steps,
    void (*own)(int type))
{
	void *volatile locals[LOCALS] = { NULL };
	char byte;
	size_t i;

	mood = given;
	state = seed;
	work(locals, steps, own);
	scrub_stack();
	for (i = 0; i < num_made; i++)
		if (made[i].name != NULL)
			printf("0x%lx %s\n", (unsigned long)~made[i].hidden,
			    made[i].name);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	__asm__ volatile("" : : "r"(locals) : "memory");
	return 0;
}

#endif
