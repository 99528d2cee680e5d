/*
 * A graph of blocks as the program made it: which exist, what was written into
 * them, and, by brute force, what is unreachable and who owns it. All
 * addresses are complements.
 */
#ifndef TESTS_SUPPORT_GRAPH_MODEL_H
#define TESTS_SUPPORT_GRAPH_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_BLOCKS 320
#define MAX_WORDS 2048
#define MAX_ROOTS 64

struct block {
	uintptr_t hidden; /* 0 = freed */
	size_t size;      /* as asked for */
	size_t usable;
};

/* At byte AT of block FROM stands ~HIDDEN. */
struct word {
	size_t from, at;
	uintptr_t hidden;
};

static struct block blocks[MAX_BLOCKS];
static struct word words[MAX_WORDS];
static size_t num_blocks, num_words;
static uintptr_t hidden_roots[MAX_ROOTS];

/* The model's answer. */
static bool edges[MAX_BLOCKS][MAX_BLOCKS]; /* by index */
static bool leads[MAX_BLOCKS][MAX_BLOCKS]; /* itself included */
static bool reachable[MAX_BLOCKS];

/* The live block that ~HIDDEN points into, or MAX_BLOCKS. */
static size_t
block_at(uintptr_t hidden)
{
	size_t i;

	for (i = 0; i < num_blocks; i++) {
		/* begin <= p < begin + usable, of complements */
		if (blocks[i].hidden != 0 && hidden <= blocks[i].hidden &&
		    blocks[i].hidden - hidden < blocks[i].usable)
			return i;
	}
	return MAX_BLOCKS;
}

static void
reach(size_t from, bool reached[MAX_BLOCKS])
{
	size_t todo[MAX_BLOCKS], count = 0, i, at;

	if (reached[from])
		return;
	reached[from] = true;
	todo[count++] = from;
	while (count > 0) {
		at = todo[--count];
		for (i = 0; i < num_blocks; i++) {
			if (edges[at][i] && !reached[i]) {
				reached[i] = true;
				todo[count++] = i;
			}
		}
	}
}

static void
solve(void)
{
	size_t i, to;

	for (i = 0; i < num_words; i++) {
		to = block_at(words[i].hidden);
		if (to != MAX_BLOCKS)
			edges[words[i].from][to] = true;
	}
	for (i = 0; i < MAX_ROOTS; i++) {
		to = hidden_roots[i] == 0 ? MAX_BLOCKS
					  : block_at(hidden_roots[i]);
		if (to != MAX_BLOCKS)
			reach(to, reachable);
	}
	for (i = 0; i < num_blocks; i++)
		reach(i, leads[i]);
}

static bool
is_lost(size_t index)
{
	return blocks[index].hidden != 0 && !reachable[index];
}

/*
 * An entry: every block that leads to it is on a cycle with it, and it is the
 * lowest of those (complements: the largest).
 */
static bool
is_entry(size_t index)
{
	size_t i;

	for (i = 0; i < num_blocks; i++) {
		if (i == index || !is_lost(i) || !leads[i][index])
			continue;
		if (!leads[index][i] || blocks[i].hidden > blocks[index].hidden)
			return false;
	}
	return true;
}

#endif
