/*
 * Containers of GLib, and what it has of types and slices: the layouts of GLib
 * 2.62 to 2.80: struct _GHashTable, _GRealPtrArray, _GRealArray, _GString,
 * _SlabInfo and _TypeNode.
 */
#include <string.h>

#include "lib/types/containers.h"

#define WORD sizeof(uintptr_t)
#define TABLE_MIN ((size_t)8) /* entries of a GHashTable */
#define TABLE_MAX ((size_t)1 << 24)
#define TOMBSTONE 1 /* a hash; 0: unused */
#define PIECE ((size_t)1024)
#define LENGTH_MAX ((uint32_t)1 << 28)
#define ELEMENT_MAX ((uint32_t)1 << 16) /* bytes */
#define ARRAY_MIN ((size_t)16)          /* bytes of the elements of a GArray */
#define SLICE_PAGE_MIN ((size_t)128)    /* bytes */
#define SLICE_PAGE_MAX ((size_t)1 << 16)
#define SLICE_PADDING ((size_t)16) /* for malloc(), at the end of a page */
#define FUNDAMENTAL_MAX (255u << 2)

/* Words of struct _GHashTable: the first four have several numbers. */
enum {
	TABLE_SIZE,
	TABLE_MOD,   /* and the mask */
	TABLE_NODES, /* and those that are occupied */
	TABLE_BIG,   /* bits: keys, values have eight bytes */
	TABLE_KEYS,
	TABLE_HASHES,
	TABLE_VALUES,
	TABLE_HASH,
	TABLE_EQUAL,
	TABLE_REFS,
	TABLE_FREE_KEY,
	TABLE_FREE_VALUE,
	TABLE_WORDS
};

/* Words of struct _SlabInfo, which is at the end of a page of slices. */
enum { SLAB_CHUNKS, SLAB_USED, SLAB_NEXT, SLAB_PREVIOUS, SLAB_WORDS };

/* Words of struct _TypeNode; the last one is 0 in a fundamental type. */
enum { NODE_DATA = 4, NODE_SELF = 9, NODE_PARENT, NODE_WORDS };

static bool
is_power(size_t number)
{
	return number != 0 && (number & (number - 1)) == 0;
}

/* True if SIZE hashes have as many entries as the table says. */
static bool
counts_entries(struct mu_containers *parts, uintptr_t hashes, size_t size,
    size_t nodes, size_t occupied)
{
	uint32_t piece[PIECE];
	size_t i, count;

	for (; size > 0; size -= count, hashes += count * sizeof(*piece)) {
		count = size < PIECE ? size : PIECE;
		if (!parts->read(
			parts->ctx, hashes, piece, count * sizeof(*piece)))
			return false;
		for (i = 0; i < count; i++) {
			if (piece[i] == 0)
				continue;
			if (occupied-- == 0 ||
			    (piece[i] != TOMBSTONE && nodes-- == 0))
				return false;
		}
	}
	return nodes == 0 && occupied == 0;
}

static bool
find_hash_table(struct mu_containers *parts, uintptr_t at,
    const uintptr_t *words, size_t count)
{
	size_t size = words[TABLE_SIZE], keys, values;

	if (count < TABLE_WORDS || size < TABLE_MIN || size > TABLE_MAX ||
	    !is_power(size) || mu_word_high(words[TABLE_MOD]) != size - 1 ||
	    mu_word_low(words[TABLE_MOD]) > size ||
	    mu_word_low(words[TABLE_MOD]) <= size / 2 ||
	    mu_word_high(words[TABLE_NODES]) >= size ||
	    words[TABLE_HASH] == 0 ||
	    !mu_containers_function(parts, words[TABLE_HASH]) ||
	    !mu_containers_function(parts, words[TABLE_EQUAL]) ||
	    !mu_containers_function(parts, words[TABLE_FREE_KEY]) ||
	    !mu_containers_function(parts, words[TABLE_FREE_VALUE]))
		return false;
	keys = size * ((words[TABLE_BIG] & 1) != 0 ? 8 : 4);
	values = size * ((words[TABLE_BIG] & 2) != 0 ? 8 : 4);
	if (!mu_containers_is_block(parts, words[TABLE_KEYS], keys) ||
	    !mu_containers_is_block(
		parts, words[TABLE_HASHES], size * sizeof(uint32_t)) ||
	    !counts_entries(parts, words[TABLE_HASHES], size,
		mu_word_low(words[TABLE_NODES]),
		mu_word_high(words[TABLE_NODES])))
		return false;
	mu_containers_found_self(parts, at, TABLE_WORDS * WORD, MU_PART_GHASH);
	parts->found(parts->ctx, words[TABLE_KEYS], MU_PART_GHASH_KEYS, 0);
	parts->found(parts->ctx, words[TABLE_HASHES], MU_PART_GHASH_HASHES, 0);
	/* A set has its keys as values. */
	if (words[TABLE_VALUES] != words[TABLE_KEYS] &&
	    mu_containers_is_block(parts, words[TABLE_VALUES], values))
		parts->found(
		    parts->ctx, words[TABLE_VALUES], MU_PART_GHASH_VALUES, 0);
	return true;
}

/* struct _GRealPtrArray: elements, length, room, uses, a bit, a function. */
static bool
find_pointers(struct mu_containers *parts, uintptr_t at, const uintptr_t *words,
    size_t count)
{
	uint32_t length = mu_word_low(words[1]), room = mu_word_high(words[1]);

	if (count < 4 || !is_power(room) || length > room ||
	    room > LENGTH_MAX || !mu_is_use_count(mu_word_low(words[2])) ||
	    (mu_word_high(words[2]) & 0xfe) != 0 ||
	    !mu_containers_function(parts, words[3]) ||
	    !mu_containers_is_block(parts, words[0], room * WORD))
		return false;
	mu_containers_found_self(parts, at, 4 * WORD, MU_PART_GPTRARRAY);
	parts->found(parts->ctx, words[0], MU_PART_GPTRARRAY_ELEMENTS, 0);
	return true;
}

/*
 * struct _GRealArray: elements, length, room, bytes of an element, bits, uses,
 * a function. GByteArray is the same.
 */
static bool
find_array(struct mu_containers *parts, uintptr_t at, const uintptr_t *words,
    size_t count)
{
	uint32_t length = mu_word_low(words[1]), room = mu_word_high(words[1]);
	uint32_t element = mu_word_low(words[2]);
	size_t size = ARRAY_MIN;

	if (count < 5 || room == 0 || length > room || room > LENGTH_MAX ||
	    element == 0 || element > ELEMENT_MAX ||
	    !mu_is_use_count(mu_word_low(words[3])) ||
	    !mu_containers_function(parts, words[4]))
		return false;
	while (size < (size_t)room * element)
		size *= 2;
	if (size / element != room ||
	    !mu_containers_is_block(parts, words[0], size))
		return false;
	mu_containers_found_self(parts, at, 5 * WORD, MU_PART_GARRAY);
	parts->found(parts->ctx, words[0], MU_PART_GARRAY_ELEMENTS, 0);
	return true;
}

/* Text, its length, room; a string of C++ has room for one letter more. */
static bool
find_string(struct mu_containers *parts, uintptr_t at, const uintptr_t *words,
    size_t count)
{
	char end[2] = { 0, 0 };

	if (count < 3 || words[2] == 0 || words[2] > LENGTH_MAX ||
	    words[1] >= words[2] || !is_power(words[2]) ||
	    !mu_containers_is_block(parts, at, 3 * WORD) ||
	    !mu_containers_is_block(parts, words[0], words[2]) ||
	    !parts->read(parts->ctx, words[0] + words[1] - (words[1] > 0), end,
		1 + (words[1] > 0)))
		return false;
	if (end[words[1] > 0] != '\0' || (words[1] > 0 && end[0] == '\0'))
		return false;
	parts->found(parts->ctx, at, MU_PART_GSTRING, 0);
	return true;
}

/* The node before and the node behind lead back. */
static bool
find_list(struct mu_containers *parts, uintptr_t at, const uintptr_t *words,
    size_t count)
{
	size_t size = parts->size(parts->ctx, at);
	uintptr_t links[3];

	if (count < 3 || (words[1] == 0 && words[2] == 0) || words[1] == at ||
	    words[2] == at || !mu_containers_is_block(parts, at, 3 * WORD))
		return false;
	if (words[1] != 0 &&
	    (parts->size(parts->ctx, words[1]) < size ||
		!mu_containers_node(parts, words[1], links, 3) ||
		links[2] != at))
		return false;
	if (words[2] != 0 &&
	    (parts->size(parts->ctx, words[2]) < size ||
		!mu_containers_node(parts, words[2], links, 3) ||
		links[1] != at))
		return false;
	parts->found(parts->ctx, at, MU_PART_GLIST, 0);
	return true;
}

/* What a thread has of free slices begins with where its two halves are. */
static bool
is_magazines(uintptr_t at, const uintptr_t *words, size_t count, size_t size)
{
	const size_t begin = 2 * WORD;

	return count > 1 && size != MU_CONTAINER_ANY_SIZE && size > begin &&
	    words[0] == at + begin &&
	    words[1] - words[0] == (size - begin) / 2 / begin * begin;
}

/* The pages of slices of one size are a ring. */
static bool
find_slices(struct mu_containers *parts, uintptr_t at, const uintptr_t *words,
    size_t count)
{
	size_t size = parts->size(parts->ctx, at), page = size + WORD;
	uintptr_t slab[SLAB_WORDS], info, next, previous;

	if (is_magazines(at, words, count, size)) {
		parts->found(parts->ctx, at, MU_PART_GSLICES, 0);
		return true;
	}
	if (size == MU_CONTAINER_ANY_SIZE || !is_power(page) ||
	    page < SLICE_PAGE_MIN || page > SLICE_PAGE_MAX || at % page != 0)
		return false;
	info = at + page - SLICE_PADDING - sizeof(slab);
	if (!parts->read(parts->ctx, info, slab, sizeof(slab)) ||
	    slab[SLAB_USED] > page || slab[SLAB_NEXT] == 0 ||
	    !mu_containers_word(
		parts, slab[SLAB_NEXT] + SLAB_PREVIOUS * WORD, &previous) ||
	    !mu_containers_word(
		parts, slab[SLAB_PREVIOUS] + SLAB_NEXT * WORD, &next) ||
	    next != info || previous != info)
		return false;
	parts->found(parts->ctx, at, MU_PART_GSLICES, 0);
	return true;
}

/*
 * A node of a type leads to itself, or has the number of a fundamental type; it
 * leads to the type's data, which begin with the address of functions.
 */
static bool
find_type_data(struct mu_containers *parts, uintptr_t at,
    const uintptr_t *words, size_t count)
{
	uintptr_t table, data = count < NODE_WORDS ? 0 : words[NODE_DATA];
	size_t size = data == 0 ? 0 : parts->size(parts->ctx, data);

	if (size == 0 ||
	    (words[NODE_SELF] != at &&
		(words[NODE_SELF] == 0 || words[NODE_SELF] % 4 != 0 ||
		    words[NODE_SELF] > FUNDAMENTAL_MAX ||
		    words[NODE_PARENT] != 0)) ||
	    !mu_containers_word(parts, data, &table) || table % WORD != 0 ||
	    (words[NODE_SELF] != at && (table <= data || table - data >= size)))
		return false;
	/* How a fundamental type may be used is before its node. */
	if (words[NODE_SELF] != at &&
	    mu_containers_is_block(parts, at - WORD, (NODE_WORDS + 1) * WORD))
		parts->found(parts->ctx, at - WORD, MU_PART_GTYPE_NODE, 0);
	parts->found(parts->ctx, data, MU_PART_GTYPE_DATA, 0);
	return true;
}

bool
mu_glib_parts_find(struct mu_containers *parts, uintptr_t at,
    const uintptr_t *words, size_t count)
{
	size_t steps = parts->steps;
	bool found;

	if (count == 0)
		return false;
	/* The first slice of a page may be one of the others. */
	found =
	    mu_containers_settle(parts, find_slices(parts, at, words, count));
	if (mu_containers_settle(
		parts, find_hash_table(parts, at, words, count)) ||
	    mu_containers_settle(
		parts, find_type_data(parts, at, words, count)))
		return true;
	if (count > 1 &&
	    (mu_containers_settle(
		 parts, find_pointers(parts, at, words, count)) ||
		mu_containers_settle(
		    parts, find_array(parts, at, words, count)) ||
		mu_containers_settle(
		    parts, find_string(parts, at, words, count))))
		return true;
	found |=
	    mu_containers_settle(parts, find_list(parts, at, words, count));
	parts->steps = steps; /* there are no more than two */
	return found;
}
