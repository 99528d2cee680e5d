/*
 * A program that loses a random graph of blocks, asks for all entries, and
 * prints one line: a digest of the answer, which does not depend on where the
 * blocks lie, and the CPU time of the check.
 *
 * Usage: answers SHAPE BLOCKS SEED [LIMIT [live]]. With "live" an array refers
 * to each block. An answer that is partial has its reason in place of a digest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"

#define SMALL 56   /* bytes of a block; of mixed shapes 56 to 2000 */
#define WORDS 5    /* edges of a block */
#define LARGE 9973 /* one block in so many of a mixed shape has */
#define LARGE_SIZE ((size_t)90000)
#define PARTS 24 /* of a mixed shape */

/* Blocks FIRST to FIRST + COUNT - 1, which have one shape. */
struct part {
	size_t first, count;
};

struct shape {
	const char *name;
	void (*link)(struct part part, unsigned tenths);
	unsigned tenths; /* of an edge a block, on average */
};

static uintptr_t *hidden; /* of each block, in memory that is not searched */
static size_t num_blocks;
static uint64_t state;
static void **kept; /* what refers to all blocks, if they are to live */

static uint64_t
random_next(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15); /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static size_t
random_below(size_t limit)
{
	return (size_t)(random_next() % limit);
}

/* Store a pointer to TO, or into it, in the first free word of FROM. */
static void
link_block(size_t from, size_t to)
{
	char **words = mu_reveal(hidden[from]);
	size_t i, into = random_below(8) == 0 ? 8 * random_below(4) : 0;

	for (i = 0; i < WORDS && words[i] != NULL; i++)
		;
	if (i < WORDS)
		words[i] = (char *)mu_reveal(hidden[to]) + into;
}

static size_t
any(struct part part)
{
	return part.first + random_below(part.count);
}

static void
link_random(struct part part, unsigned tenths)
{
	size_t i;

	for (i = 0; i < part.count * tenths / 10; i++)
		link_block(any(part), any(part));
}

/* TENTHS / 10 edges each; one block in nine has none. */
static void
link_even(struct part part, unsigned tenths)
{
	bool ends = tenths % 10 != 0;
	size_t i, e;

	for (i = 0; i < part.count; i++)
		for (e = 0; e < tenths / 10 && !(ends && i % 9 == 0); e++)
			link_block(part.first + i, any(part));
}

static void
link_list(struct part part, unsigned tenths)
{
	size_t i;

	for (i = 0; i + 1 < part.count; i++)
		link_block(part.first + i, part.first + i + 1);
	if (tenths > 10 && part.count > 0)
		link_block(part.first + i, part.first);
}

static void
link_rings(struct part part, unsigned tenths)
{
	size_t i, length = tenths / 10;

	for (i = 0; i + length <= part.count; i += length)
		link_list((struct part) { part.first + i, length }, 20);
}

/* Each has a parent before it: the nearest for a list, or anywhere. */
static void
link_tree(struct part part, unsigned tenths)
{
	size_t i, parent;

	for (i = 1; i < part.count; i++) {
		parent = tenths == 10 ? (i - 1) / WORDS : random_below(i);
		link_block(part.first + parent, part.first + i);
	}
}

/* Edges lead to later blocks only. */
static void
link_dag(struct part part, unsigned tenths)
{
	size_t i, from;

	for (i = 0; i < part.count * tenths / 10; i++) {
		from = random_below(part.count - 1);
		link_block(part.first + from,
		    part.first + from + 1 +
			random_below(part.count - 1 - from));
	}
}

/* Nine in ten are heads, which lead to the others: these are lists. */
static void
link_heads(struct part part, unsigned tenths)
{
	size_t i, shared = part.count / 10, e;

	if (shared == 0)
		return;
	link_rings((struct part) { part.first, shared }, 70);
	for (i = shared; i < part.count; i++)
		for (e = 0; e < tenths / 10; e++)
			link_block(
			    part.first + i, part.first + random_below(shared));
}

static void link_mixed(struct part part, unsigned tenths);

static const struct shape shapes[] = {
	{ "random5", link_random, 5 },
	{ "random10", link_random, 10 },
	{ "random15", link_random, 15 },
	{ "random30", link_random, 30 },
	{ "even10", link_even, 10 },
	{ "even20", link_even, 20 },
	{ "ends20", link_even, 25 },
	{ "list", link_list, 10 },
	{ "ring", link_list, 20 },
	{ "rings", link_rings, 50 },
	{ "tree", link_tree, 10 },
	{ "grown", link_tree, 20 },
	{ "dag", link_dag, 10 },
	{ "dag20", link_dag, 20 },
	{ "heads", link_heads, 20 },
	{ "alone", link_random, 0 },
	{ "mixed", link_mixed, 10 },
	{ "mixed2", link_mixed, 2 },
};

#define NUM_SHAPES (sizeof(shapes) / sizeof(*shapes))
#define SIMPLE_SHAPES (NUM_SHAPES - 2) /* not mixed */

/* Parts of all shapes, with TENTHS / 10 edges a hundred blocks between them. */
static void
link_mixed(struct part part, unsigned tenths)
{
	const struct shape *shape;
	size_t i, end = part.first + part.count, count;
	struct part next;

	for (next.first = part.first; next.first < end;
	     next.first += next.count) {
		count = 2 + random_below(2 * part.count / PARTS + 2);
		next.count =
		    count < end - next.first ? count : end - next.first;
		shape = &shapes[random_below(SIMPLE_SHAPES)];
		if (next.count > 1)
			shape->link(next, shape->tenths);
	}
	for (i = 0; i < part.count * tenths / 1000; i++)
		link_block(any(part), any(part));
}

static size_t
size_of_block(bool mixed)
{
	if (!mixed)
		return SMALL;
	if (random_below(LARGE) == 0)
		return LARGE_SIZE;
	return SMALL + (random_below(4) == 0 ? random_below(2000) : 0);
}

static void
swap_blocks(size_t a, size_t b)
{
	uintptr_t one = hidden[a];

	hidden[a] = hidden[b];
	hidden[b] = one;
}

static int
compare_hidden(const void *left, const void *right)
{
	const uintptr_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* In an order that has nothing to do with links, except for some parts. */
static __attribute__((noinline)) void
make(const struct shape *shape)
{
	bool mixed = shape->link == link_mixed;
	size_t i, size, ordered = mixed ? num_blocks / 3 : 0;

	for (i = 0; i < num_blocks; i++) {
		size = size_of_block(mixed);
		hidden[i] = mu_hide(calloc(1, size));
		if (kept != NULL)
			kept[i] = mu_reveal(hidden[i]);
	}
	for (i = num_blocks; i > ordered + 1; i--)
		swap_blocks(i - 1, ordered + random_below(i - ordered));
	shape->link((struct part) { 0, num_blocks }, shape->tenths);
	qsort(hidden, num_blocks, sizeof(*hidden), compare_hidden);
}

static uint64_t
mix(uint64_t digest, uint64_t value)
{
	return (digest ^ value) * 0x9e3779b97f4a7c15 ^ digest >> 29;
}

/* The rank of the block in the order of addresses. */
static uint64_t
rank_of(const struct Leak *leak)
{
	uintptr_t begin = mu_hide((void *)leak->begin), *found;

	found = bsearch(
	    &begin, hidden, num_blocks, sizeof(*hidden), compare_hidden);
	return found == NULL ? UINT64_MAX : (uint64_t)(found - hidden);
}

static uint64_t
digest_of(const struct UnreachableMemoryInfo *info)
{
	uint64_t digest = info->num_leaks;
	const struct Leak *leak = info->leaks;
	size_t i;

	digest = mix(digest, info->leak_bytes);
	digest = mix(digest, info->num_entries);
	digest = mix(digest, info->unreported_leaks);
	digest = mix(digest, info->unreported_bytes);
	digest = mix(digest, info->unrecorded_min);
	digest = mix(digest, info->unrecorded_max);
	for (i = 0; i < info->num_reported; i++, leak++) {
		digest = mix(digest, rank_of(leak));
		digest = mix(digest, leak->size);
		digest = mix(digest, leak->referenced_count);
		digest = mix(digest, leak->referenced_size);
		digest = mix(digest, leak->total_size);
		digest = mix(digest,
		    (uint64_t)memcmp(leak->contents, (void *)leak->begin,
			leak->size < 32 ? leak->size : 32) == 0);
	}
	return digest;
}

/* Of this process and of the children that it waited for. */
static double
cpu_ms(void)
{
	struct rusage usage[2];
	double ms = 0;
	size_t i;

	getrusage(RUSAGE_SELF, &usage[0]);
	getrusage(RUSAGE_CHILDREN, &usage[1]);
	for (i = 0; i < 2; i++)
		ms += (double)(usage[i].ru_utime.tv_sec +
			  usage[i].ru_stime.tv_sec) *
			1e3 +
		    (double)(usage[i].ru_utime.tv_usec +
			usage[i].ru_stime.tv_usec) /
			1e3;
	return ms;
}

static int
answer(size_t limit)
{
	static struct UnreachableMemoryInfo info;
	double before = cpu_ms(), took;
	bool checked = GetUnreachableMemory(&info, limit);

	took = cpu_ms() - before;
	if (info.status == MEMUNREACHABLE_COMPLETE)
		printf("%zu lost, %zu entries, digest %016llx, ms %.1f\n",
		    info.num_leaks, info.num_entries,
		    (unsigned long long)digest_of(&info), took);
	else
		printf("not compared: %s, ms %.1f\n", info.reason, took);
	FreeUnreachableMemoryInfo(&info);
	return checked ? 0 : 1;
}

int
main(int argc, char **argv)
{
	const struct shape *shape = shapes, *end = shapes + NUM_SHAPES;
	size_t limit = argc > 4 ? strtoull(argv[4], NULL, 10) : SIZE_MAX;

	while (argc > 3 && shape < end && strcmp(shape->name, argv[1]) != 0)
		shape++;
	if (argc < 4 || shape == end) {
		fprintf(stderr,
		    "usage: answers SHAPE BLOCKS SEED"
		    " [LIMIT [live]]\n");
		return 2;
	}
	num_blocks = strtoull(argv[2], NULL, 10);
	state = strtoull(argv[3], NULL, 10);
	hidden = memunreachable_unsearched_alloc(num_blocks * sizeof(*hidden));
	if (argc > 5)
		kept = calloc(num_blocks, sizeof(*kept));
	if (hidden == NULL)
		return 1;
	make(shape);
	scrub_stack();
	return answer(limit == 0 ? SIZE_MAX : limit);
}
