#include "lib/types/structure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/types/block_size.h"
#include "lib/types/container_part.h"
#include "lib/types/plain_name.h"
#include "lib/types/text_block.h"
#include "mu/array.h"
#include "mu/bisect.h"

#define WORD sizeof(uintptr_t)
#define CANDIDATES 3 /* that are named */
#define SPECIFIC 3   /* weight of a text, code or structure; a number has 1 */
#define KNOWN_MAX ((size_t)1 << 24) /* structures */

/* What the value of a word can be. */
enum {
	IS_NULL = 1,
	IS_ADDRESS = 2, /* of memory that can be read */
	IS_CODE = 4,    /* the address of some */
	IS_TEXT = 8,
	IS_EMPTY = 16, /* the address of an empty text */
	NOT_JUDGED = 32,
};

/* Kinds of words that speak for a structure. */
enum { NUMBERS = 1, POINTERS = 2, TEXTS = 4, FUNCTIONS = 8 };

/* The words at an address, and what they can be: see judged(). */
struct words {
	const struct mu_symbols *symbols;
	size_t count;
	uintptr_t values[MU_LAYOUT_WORDS];
	unsigned char is[MU_LAYOUT_WORDS];
};

/* A block, and the memory that its words point to: see target_of(). */
struct pointed {
	struct words own;
	bool read[MU_LAYOUT_WORDS]; /* the target is */
	struct words targets[MU_LAYOUT_WORDS];
};

/* What speaks for a structure. */
struct evidence {
	unsigned weight; /* of words that are as declared, hardly by chance */
	unsigned kinds;  /* of them, as bits */
};

static unsigned char
judge(const struct mu_symbols *symbols, uintptr_t value)
{
	const struct mu_mapping *mapping;
	unsigned char bytes[16] = { 0 }, byte, is = IS_ADDRESS;
	uintptr_t word;
	size_t count;

	if (value == 0)
		return IS_NULL;
	/* Linux maps nothing below mmap_min_addr. */
	count = value < 4096
	    ? 0
	    : mu_subject_bytes(symbols, value, bytes, sizeof(bytes));
	if (count == 0)
		return 0;
	if (mu_symbols_in_file(symbols, value, &mapping) && mapping != NULL &&
	    mapping->executable)
		is |= IS_CODE;
	/* A pointer may consist of letters. */
	memcpy(&word, bytes, sizeof(word));
	if (mu_text_block_length(bytes, count) > 0 &&
	    (count < sizeof(word) || word >> 48 != 0 ||
		mu_subject_bytes(symbols, word, &byte, 1) == 0))
		is |= IS_TEXT;
	if (bytes[0] == '\0')
		is |= IS_EMPTY;
	return is;
}

/* What word I can be. Most structures differ in their first words already. */
static unsigned char
judged(struct words *words, size_t i)
{
	if (words->is[i] == NOT_JUDGED)
		words->is[i] = judge(words->symbols, words->values[i]);
	return words->is[i];
}

static void
open_pointed(const struct mu_symbols *symbols, const struct mu_block_head *head,
    struct pointed *pointed)
{
	struct words *own = &pointed->own;
	size_t i;

	own->symbols = symbols;
	own->count =
	    head->count < MU_LAYOUT_WORDS ? head->count : MU_LAYOUT_WORDS;
	memcpy(own->values, head->words, own->count * WORD);
	memset(own->is, NOT_JUDGED, sizeof(own->is));
	memset(pointed->read, 0, sizeof(pointed->read));
	for (i = 0; i < MU_LAYOUT_WORDS; i++)
		pointed->targets[i].count = 0;
}

/* The words to which word I of the block points; NULL: there are none. */
static struct words *
target_of(struct pointed *pointed, size_t i)
{
	struct words *own = &pointed->own, *target = &pointed->targets[i];

	if (!pointed->read[i]) {
		pointed->read[i] = true;
		target->symbols = own->symbols;
		memset(target->is, NOT_JUDGED, sizeof(target->is));
		if ((judged(own, i) & IS_ADDRESS) != 0 &&
		    own->values[i] % WORD == 0)
			target->count =
			    mu_subject_bytes(own->symbols, own->values[i],
				target->values, sizeof(target->values)) /
			    WORD;
	}
	return target->count > 0 ? target : NULL;
}

/*
 * The value is not zero, and has a usual magnitude: integers read as doubles
 * are tiny.
 */
static bool
is_double(uintptr_t value)
{
	unsigned exponent = (unsigned)(value >> 52) & 0x7ff;

	return exponent > 0x3ff - 128 && exponent < 0x3ff + 128;
}

/* Any that fits in 48 bits: a time in nanoseconds needs more. */
static bool
is_integer(uintptr_t value)
{
	intptr_t number = (intptr_t)value;

	return number < ((intptr_t)1 << 62) && number > -((intptr_t)1 << 48);
}

/* True if the word at I can be of KIND. */
static bool
agrees(enum mu_layout_word kind, struct words *words, size_t i)
{
	unsigned char is;
	bool address;

	if (kind == MU_WORD_ANY)
		return true;
	is = judged(words, i);
	address = (is & IS_ADDRESS) != 0;
	if ((is & IS_NULL) != 0)
		return true;
	switch (kind) {
	case MU_WORD_NUMBER:
		return !address;
	case MU_WORD_INTEGER:
		return !address && is_integer(words->values[i]);
	case MU_WORD_DOUBLE:
		return !address && is_double(words->values[i]);
	case MU_WORD_FUNCTION:
		return (is & IS_CODE) != 0;
	case MU_WORD_DATA:
		return address && (is & (IS_CODE | IS_TEXT)) == 0;
	case MU_WORD_OBJECT: /* which may begin with text */
		return address && (is & IS_CODE) == 0 &&
		    words->values[i] % sizeof(uint32_t) == 0;
	case MU_WORD_TEXT:
		return (is & (IS_TEXT | IS_EMPTY)) != 0;
	case MU_WORD_POINTER:
		return address;
	default:
		return true;
	}
}

static bool
has_bools(unsigned char bits, uintptr_t word)
{
	size_t i;

	for (i = 0; i < WORD; i++)
		if ((bits >> i & 1) != 0 && (word >> 8 * i & 0xff) > 1)
			return false;
	return true;
}

/* Pointers to whatever are of one kind, and numbers are. */
static unsigned
kind_of(enum mu_layout_word kind)
{
	switch (kind) {
	case MU_WORD_NUMBER:
	case MU_WORD_INTEGER:
	case MU_WORD_DOUBLE:
		return NUMBERS;
	case MU_WORD_TEXT:
		return TEXTS;
	case MU_WORD_FUNCTION:
		return FUNCTIONS;
	default:
		return POINTERS;
	}
}

static void
weigh(enum mu_layout_word kind, unsigned char is, struct evidence *evidence)
{
	if ((is & IS_NULL) != 0 || kind == MU_WORD_ANY ||
	    (kind == MU_WORD_TEXT && (is & IS_TEXT) == 0))
		return;
	evidence->weight +=
	    kind == MU_WORD_TEXT || kind == MU_WORD_FUNCTION ? SPECIFIC : 1;
	evidence->kinds |= kind_of(kind);
}

/* True if WORDS can be a structure of LAYOUT. */
static bool
fits(const struct mu_layout *layout, struct words *words,
    struct evidence *evidence)
{
	size_t i, count = words->count;
	enum mu_layout_word kind;

	if (count > layout->size / WORD)
		count = layout->size / WORD;
	for (i = 0; i < count; i++) {
		kind = (enum mu_layout_word)layout->words[i];
		if (!agrees(kind, words, i) ||
		    !has_bools(layout->bools[i], words->values[i]))
			return false;
		weigh(kind, words->is[i], evidence);
	}
	return true;
}

/* By size, then name; equal ones of several modules are neighbours. */
static int
compare_known(const void *a, const void *b)
{
	const struct mu_known_structure *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	if (x->own != y->own)
		return x->own < y->own ? -1 : 1;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->module < y->module ? -1 : x->module > y->module;
}

static bool
add_module(struct mu_structures *structures, size_t module)
{
	const struct mu_debug_index *index =
	    mu_declarations_index(structures->declarations, module);
	const struct mu_indexed_type *type;
	size_t i;

	for (i = 0; index != NULL && i < index->num_types; i++) {
		type = &index->types[i];
		if (!mu_array_room(structures->list, structures->count,
			structures->max, 1024, KNOWN_MAX))
			return false;
		structures->list[structures->count++] =
		    (struct mu_known_structure) { .size = type->size,
			    .own = type->own,
			    .hash = type->hash,
			    .module = module,
			    .type = i };
	}
	return index == NULL || !index->failed;
}

/* Modules share headers, and so structures. */
static void
sort_known(struct mu_structures *structures)
{
	struct mu_known_structure *list = structures->list;
	size_t i, kept = 0;

	if (structures->count > 0)
		qsort(list, structures->count, sizeof(*list), compare_known);
	for (i = 0; i < structures->count; i++)
		if (kept == 0 || list[kept - 1].hash != list[i].hash ||
		    list[kept - 1].size != list[i].size)
			list[kept++] = list[i];
	structures->count = kept;
}

static bool
is_ready(struct mu_structures *structures)
{
	const struct mu_loaded *list;
	size_t i, count;

	if (structures->asked)
		return !structures->failed;
	structures->asked = true;
	list = mu_symbols_loaded(structures->declarations->symbols, &count);
	for (i = 0; i < count && !structures->failed; i++)
		if (mu_subject_is_own(&list[i]))
			structures->failed = !add_module(structures, i);
	sort_known(structures);
	return !structures->failed;
}

struct filling {
	const struct mu_debug_index *index;
	const struct mu_indexed_type *type;
	struct mu_layout *layout;
	bool filled;
};

static void
fill_layout(void *ctx, Dwarf_Die *die)
{
	struct filling *filling = ctx;

	filling->filled = mu_layout_fill(filling->layout,
	    mu_debug_index_text(filling->index, filling->type->around),
	    mu_debug_index_text(filling->index, filling->type->name), die);
}

/* The layout of KNOWN, read when it is first wanted; NULL: it is no block. */
static const struct mu_layout *
layout_of(struct mu_structures *structures, struct mu_known_structure *known)
{
	struct filling filling = { .filled = false };

	if (known->asked)
		return known->layout;
	known->asked = true;
	filling.index =
	    mu_declarations_index(structures->declarations, known->module);
	filling.layout = malloc(sizeof(*filling.layout));
	if (filling.index == NULL || known->type >= filling.index->num_types ||
	    filling.layout == NULL) {
		free(filling.layout);
		return NULL;
	}
	filling.type = &filling.index->types[known->type];
	mu_declarations_entry(structures->declarations, known->module,
	    filling.type->ref, fill_layout, &filling);
	if (filling.filled)
		known->layout = filling.layout;
	else
		free(filling.layout);
	return known->layout;
}

/* The first structure of at least SIZE bytes. */
static size_t
first_of(const struct mu_structures *structures, uint64_t size)
{
	size_t low = 0;

	mu_bisect(low, structures->count, i, structures->list[i].size < size);
	return low;
}

static const struct mu_layout *
find_target(
    struct mu_structures *structures, const struct mu_layout_target *target)
{
	struct mu_known_structure *list = structures->list;
	const struct mu_layout *layout = NULL;
	size_t i;

	if (target->size == 0)
		return NULL;
	i = first_of(structures, target->size);
	mu_bisect(i, structures->count, j,
	    list[j].size == target->size && list[j].own < target->own);
	for (; layout == NULL && i < structures->count &&
	     list[i].size == target->size && list[i].own == target->own;
	     i++)
		layout = layout_of(structures, &list[i]);
	return layout;
}

/*
 * True if the block can be a structure of LAYOUT, and what it points to can be
 * as declared. Words of two kinds must speak for it: an array has one.
 */
static bool
fits_all(struct mu_structures *structures, const struct mu_layout *layout,
    struct pointed *pointed, struct evidence *evidence)
{
	struct words *own = &pointed->own, *words;
	const struct mu_layout *target;
	struct evidence more;
	size_t i;

	*evidence = (struct evidence) { .weight = 0 };
	if (!fits(layout, own, evidence))
		return false;
	for (i = 0; i < own->count && i < layout->size / WORD; i++) {
		words =
		    layout->targets[i].size == 0 ? NULL : target_of(pointed, i);
		target = words == NULL
		    ? NULL
		    : find_target(structures, &layout->targets[i]);
		if (target == NULL && layout->words[i] == MU_WORD_OBJECT &&
		    (judged(own, i) & IS_TEXT) != 0)
			return false;
		if (target == NULL)
			continue;
		more = (struct evidence) { .weight = 0 };
		if (!fits(target, words, &more))
			return false;
		evidence->weight += more.weight > 0 ? SPECIFIC : 0;
	}
	return (evidence->kinds & ~(unsigned)NUMBERS) != 0 &&
	    (evidence->kinds & (evidence->kinds - 1)) != 0;
}

/* The structures for which the most speaks. */
struct best {
	const struct mu_layout *layouts[CANDIDATES];
	size_t count;    /* of them; more than CANDIDATES: too many */
	unsigned weight; /* of what speaks for each */
};

static void
consider(struct best *best, const struct mu_layout *layout,
    const struct evidence *evidence)
{
	if (evidence->weight < best->weight)
		return;
	if (evidence->weight > best->weight)
		best->count = 0;
	if (best->count < CANDIDATES)
		best->layouts[best->count] = layout;
	best->count++;
	best->weight = evidence->weight;
}

/*
 * Consider the structures for which malloc() gives as many usable bytes. If the
 * program asks somewhere for exactly as many as one of the best has, the others
 * are out.
 */
static void
find_best(struct mu_structures *structures, struct mu_symbols *symbols,
    const struct mu_block_head *head, struct best *best)
{
	size_t i = first_of(structures, mu_block_least(head->size));
	const struct mu_layout *layout;
	struct best asked = { .count = 0 };
	struct pointed pointed;
	struct evidence evidence;

	*best = (struct best) { .count = 0 };
	if (i == structures->count || structures->list[i].size > head->size)
		return;
	open_pointed(symbols, head, &pointed);
	for (; i < structures->count && structures->list[i].size <= head->size;
	     i++) {
		layout = layout_of(structures, &structures->list[i]);
		if (layout == NULL ||
		    !fits_all(structures, layout, &pointed, &evidence))
			continue;
		consider(best, layout, &evidence);
		if (mu_call_sites_ask_for(
			structures->sites, symbols, layout->size))
			consider(&asked, layout, &evidence);
	}
	if (asked.count > 0 && asked.weight == best->weight)
		*best = asked;
}

/* The rest of a chunk, if too small for another, is added to a block. */
static bool
has_size(uint64_t structure, size_t size, size_t stride)
{
	if (stride != 0)
		return structure == stride;
	return mu_block_fits(structure, size);
}

bool
mu_structure_confirms(struct mu_structures *structures, const char *name,
    size_t length, size_t size, size_t stride)
{
	const struct mu_known_structure *known;
	const struct mu_layout *layout;
	bool found = false;
	size_t i;

	if (!is_ready(structures) || (stride == 0 && !mu_block_of_chunk(size)))
		return false;
	i = first_of(structures,
	    stride != 0     ? stride
		: size > 40 ? mu_block_least(size) - 16
			    : 0);
	for (; i < structures->count; i++) {
		known = &structures->list[i];
		if (known->size > (stride != 0 ? stride : size))
			break;
		if (!has_size(known->size, size, stride))
			continue;
		layout = layout_of(structures, &structures->list[i]);
		if (layout == NULL)
			continue;
		if (layout->embeds)
			return false;
		found |= strncmp(layout->name, name, length) == 0 &&
		    layout->name[length] == '\0';
	}
	return found;
}

static int
compare_names(const void *a, const void *b)
{
	const struct mu_layout *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* "A, B or C" */
static void
list_names(struct mu_structures *structures, struct best *best)
{
	char *name = structures->name;
	size_t each = sizeof(best->layouts) / CANDIDATES, i, length = 0;

	qsort(best->layouts, best->count, each, compare_names);
	for (i = 0; i < best->count && length < sizeof(structures->name); i++)
		length += (size_t)snprintf(name + length,
		    sizeof(structures->name) - length, "%s%s",
		    i == 0                     ? ""
			: i == best->count - 1 ? " or "
					       : ", ",
		    best->layouts[i]->name);
}

bool
mu_structure_find(struct mu_structures *structures,
    const struct mu_block_head *head, struct mu_type *type)
{
	struct best best;

	if (!is_ready(structures))
		return false;
	find_best(structures, structures->declarations->symbols, head, &best);
	if (best.count == 0 || best.count > CANDIDATES)
		return false;
	*type = (struct mu_type) {
		.name = structures->name,
		.source = MU_TYPE_DWARF,
	};
	if (best.count == 1 &&
	    mu_container_part(best.layouts[0]->name, structures->name,
		sizeof(structures->name)))
		type->source = MU_TYPE_CONTAINER;
	else
		list_names(structures, &best);
	mu_plain_name(structures->name);
	if (best.count == 1)
		structures->class = best.layouts[0]->name;
	return true;
}

uint64_t
mu_structure_size(
    struct mu_structures *structures, const char *name, size_t usable)
{
	const uint64_t hash = mu_debug_name_hash("", name);
	uint64_t size = 0;
	size_t i;

	if (!is_ready(structures))
		return 0;
	i = first_of(structures, mu_block_least(usable));
	for (; i < structures->count && structures->list[i].size <= usable;
	     i++) {
		if (structures->list[i].hash != hash)
			continue;
		if (size != 0)
			return 0;
		size = structures->list[i].size;
	}
	return size;
}
