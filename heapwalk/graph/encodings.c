/*
 * fontconfig (2.4 and later) uses the same structures in its cache files, which
 * are mapped anywhere, and in the heap (src/fcint.h):
 *
 * FcPattern { int num, size; intptr_t elts_offset; FcRef ref; }
 *     -> FcPatternElt[size] { int object; FcValueList *values; }
 * FcCharSet { FcRef ref; int num; intptr_t leaves_offset, numbers_offset; }
 *     -> intptr_t[num] -> FcCharLeaf (32 bytes), from the array's begin
 *     -> uint16_t[num]
 *
 * An FcRef is an int. Offsets count from the beginning of their structure.
 */
#include "heapwalk/graph/encodings.h"

#include <string.h>

#include "heapwalk/subject/classify.h"

#define MODULE "libfontconfig.so"

#define WORD sizeof(uintptr_t)
#define SLACK 32            /* usable size exceeds the requested one by less */
#define PATTERN_MOST 4096   /* there are about 50 kinds of elements */
#define CHARSET_MOST 0x1100 /* Unicode by 256 characters */
#define CHARSET_FIRST 8     /* the capacity for the first leaf */
#define ELEMENT (2 * WORD)  /* sizeof(FcPatternElt) */
#define LEAF ((size_t)256 / 8) /* sizeof(FcCharLeaf) */

struct visitor {
	void (*visit)(void *ctx, uintptr_t at, const struct mu_block *to);
	void *ctx;
};

bool
mu_encodings_used(const struct mu_snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->num_mappings; i++)
		if (snap->mappings[i].inode != 0 &&
		    mu_starts_with(
			mu_path_base(snap->mappings[i].name), MODULE))
			return true;
	return false;
}

static int
int_at(const struct mu_block *block, size_t offset)
{
	int value;

	memcpy(&value, block->view + offset, sizeof(value));
	return value;
}

static uintptr_t
word_at(const struct mu_block *block, size_t offset)
{
	uintptr_t value;

	memcpy(&value, block->view + offset, sizeof(value));
	return value;
}

/*
 * Find a block that begins at ADDRESS and has LEAST to MOST bytes, or a few
 * more.
 */
static bool
find_block(const struct mu_blocks *blocks, uintptr_t address, size_t least,
    size_t most, struct mu_block *to)
{
	return mu_blocks_find(blocks, address, to) &&
	    to->range.begin == address && mu_range_size(to->range) >= least &&
	    mu_range_size(to->range) < most + SLACK;
}

/* The elements of a pattern are sorted by kind. */
static bool
are_elements(const struct mu_block *block, size_t count)
{
	int last = 0, object;
	size_t i;

	for (i = 0; i < count; i++, last = object) {
		object = int_at(block, i * ELEMENT);
		if (object <= last)
			return false;
	}
	return true;
}

static bool
visit_pattern(const struct mu_blocks *blocks, const struct mu_block *block,
    const struct visitor *visitor)
{
	int num = int_at(block, 0), size = int_at(block, 4);
	int ref = int_at(block, 2 * WORD);
	struct mu_block to;
	size_t bytes;

	if (num < 0 || size < num || size == 0 || size > PATTERN_MOST ||
	    ref <= 0)
		return false;
	bytes = (size_t)size * ELEMENT;
	if (!find_block(blocks, block->range.begin + word_at(block, WORD),
		bytes, bytes, &to) ||
	    !are_elements(&to, (size_t)num))
		return false;
	visitor->visit(visitor->ctx, block->range.begin + WORD, &to);
	return true;
}

/* The numbers of a set are sorted. */
static bool
are_numbers(const struct mu_block *block, size_t count)
{
	uint16_t number;
	int last = -1;
	size_t i;

	for (i = 0; i < count; i++, last = number) {
		memcpy(
		    &number, block->view + i * sizeof(number), sizeof(number));
		if (number <= last)
			return false;
	}
	return true;
}

static void
visit_leaves(const struct mu_blocks *blocks, const struct mu_block *leaves,
    size_t count, uintptr_t at, const struct visitor *visitor)
{
	struct mu_block to;
	size_t i;

	for (i = 0; i < count; i++)
		if (find_block(blocks,
			leaves->range.begin + word_at(leaves, i * WORD), LEAF,
			LEAF, &to))
			visitor->visit(visitor->ctx, at, &to);
}

/*
 * Before a leaf is added to NUM leaves, a power of two, both arrays get room
 * for twice as many: there is less for the second leaf than for the first.
 */
static void
visit_charset(const struct mu_blocks *blocks, const struct mu_block *block,
    const struct visitor *visitor)
{
	int ref = int_at(block, 0), num = int_at(block, 4);
	uintptr_t begin = block->range.begin;
	struct mu_block leaves, numbers;
	size_t count = (size_t)num;
	size_t most = count == 1 ? CHARSET_FIRST : 2 * count;

	if (ref <= 0 || num <= 0 || num > CHARSET_MOST ||
	    !find_block(blocks, begin + word_at(block, WORD), count * WORD,
		most * WORD, &leaves) ||
	    !find_block(blocks, begin + word_at(block, 2 * WORD),
		count * sizeof(uint16_t), most * sizeof(uint16_t), &numbers) ||
	    !are_numbers(&numbers, count))
		return;
	visitor->visit(visitor->ctx, begin + WORD, &leaves);
	visitor->visit(visitor->ctx, begin + 2 * WORD, &numbers);
	visit_leaves(blocks, &leaves, count, begin + WORD, visitor);
}

void
mu_encodings_each(const struct mu_blocks *blocks, const struct mu_block *block,
    void (*visit)(void *ctx, uintptr_t at, const struct mu_block *to),
    void *ctx)
{
	struct visitor visitor = { visit, ctx };

	if (!visit_pattern(blocks, block, &visitor))
		visit_charset(blocks, block, &visitor);
}
