/*
 * The shape of a lost block: what it is, and what hangs on it.
 *
 * A shape is a part of the unreachable graph, searched breadth first from one
 * block, the head, at index 0. Each block has a sign: a hash of its tag
 * (heapwalk/fold/tags.h) and its size. The key of a shape is a hash of the
 * head's sign and of the set of links, each with the signs of both ends and the
 * offset of the word. So it does not depend on how many elements a container
 * has:
 *
 * - links between equal blocks do not count, except from the head;
 * - the buffer of a vector (begin, end, end of storage) and an array of
 *   pointers have no size, and their links have no offset;
 * - a text and a block of the smallest size, if nothing hangs on them, are
 *   alike.
 */
#ifndef HEAPWALK_FOLD_SHAPE_H
#define HEAPWALK_FOLD_SHAPE_H

#include "heapwalk/fold/first_words.h"
#include "heapwalk/fold/tags.h"

/* Bytes of a block that are searched for links. */
#define MU_SHAPE_BYTES (MU_FIRST_WORDS * sizeof(uintptr_t))
#define MU_SHAPE_TEXT 24 /* bytes of text that are kept */

struct mu_shape_block {
	struct mu_range range; /* as the program knows it */
	uint32_t number;
	uint32_t parent;       /* index of the block that led here first */
	uint32_t first, count; /* links */
	uint16_t offset;       /* of the word in PARENT */
	bool buffer;           /* of a vector */
	bool dense; /* no tag; all words before the last link are links or 0 */
	bool array; /* a buffer with links, or an array of pointers */
	uintptr_t tag; /* 0: none */
	uint64_t sign;
	char text[MU_SHAPE_TEXT]; /* its beginning, if it is text; or "" */
};

struct mu_shape_link {
	uint64_t sign;   /* of the block, if it was seen; or 0 */
	uint32_t number; /* of the block */
	uint16_t offset;
	bool buffer; /* the block is the buffer of a vector */
};

/* Where and how far to search. */
struct mu_shape_rules {
	const struct mu_blocks *blocks;
	struct mu_memory *memory;           /* may be NULL */
	const struct mu_first_words *first; /* read these instead */
	struct mu_tags *tags;
	struct mu_deadline *deadline;
	size_t max; /* blocks there is room for, at most 65535 */
	/*
	 * Blocks of the same sign that are visited from blocks of one sign; 0:
	 * any number.
	 */
	size_t alike;
};

struct mu_shape {
	struct mu_shape_rules rules;
	struct mu_shape_block *blocks;
	size_t count, max;
	struct mu_shape_link *links;
	size_t num_links, max_links;
	uint16_t *slots; /* by number: 1 + index of a block, or 0 */
	size_t num_slots;
	uint64_t *edges; /* room for a hash of each link */
};

/* Returns false if memory is exhausted. */
bool mu_shape_open(struct mu_shape *shape, const struct mu_shape_rules *rules,
    struct mu_arena *arena);

/*
 * Search from the block HEAD, at most MAX blocks. Returns false if there is no
 * such block.
 */
bool mu_shape_find(struct mu_shape *shape, uint32_t head, size_t max);

/* True if a word that was found refers to the head. */
bool mu_shape_leads_back(const struct mu_shape *shape);

/*
 * After mu_shape_find() from a block that nothing else leads to, unless it is
 * in a cycle: the block with which that cycle should begin, by number. That is
 * one with a tag; of these one that is unlike most others, such as the header
 * of a list; of these the one that most blocks of the cycle point to; then the
 * one that points to most; then the largest; then the lowest.
 */
uint32_t mu_shape_start(const struct mu_shape *shape);

/* The key of what mu_shape_find() has found. Sets the blocks' ARRAY. */
uint64_t mu_shape_key(struct mu_shape *shape);

/* The sign of a block with TAG (0: none) and SIZE. */
uint64_t mu_shape_sign(const struct mu_tags *tags, uintptr_t tag, size_t size);

/* The sign of BLOCK after mu_shape_key(). */
uint64_t mu_shape_final(const struct mu_shape_block *block);

#endif
