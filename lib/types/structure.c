#include "lib/types/structure.h"

#include <stdio.h>
#include <string.h>

#include "lib/types/container_part.h"
#include "lib/types/text_block.h"
#include "mu/bisect.h"
#include "mu/sys.h"

#define WORD sizeof(uintptr_t)
#define CANDIDATES 3 /* that are named */
#define SPECIFIC 3   /* weight of a text, code or structure; a number has 1 */
#define READING_NS (2 * MU_NS_PER_SEC) /* of debug information */

/* What the value of a word can be. */
enum {
	IS_NULL = 1,
	IS_ADDRESS = 2, /* of memory that can be read */
	IS_CODE = 4,    /* the address of some */
	IS_TEXT = 8,
	IS_EMPTY = 16, /* the address of an empty text */
};

/* Kinds of words that speak for a structure. */
enum { NUMBERS = 1, POINTERS = 2, TEXTS = 4, FUNCTIONS = 8 };

/* The words at an address, and what they can be. */
struct words {
	size_t count;
	uintptr_t values[MU_LAYOUT_WORDS];
	unsigned char is[MU_LAYOUT_WORDS];
};

/* A block, and the memory that its words point to. */
struct pointed {
	struct words own;
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
	unsigned char bytes[16], is = IS_ADDRESS;
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
	if (mu_text_block_length(bytes, count) > 0)
		is |= IS_TEXT;
	if (bytes[0] == '\0')
		is |= IS_EMPTY;
	return is;
}

static void
judge_all(const struct mu_symbols *symbols, struct words *words)
{
	size_t i;

	for (i = 0; i < words->count; i++)
		words->is[i] = judge(symbols, words->values[i]);
}

static void
read_pointed(const struct mu_symbols *symbols, const struct mu_block_head *head,
    struct pointed *pointed)
{
	struct words *own = &pointed->own, *target;
	size_t i;

	memset(pointed, 0, sizeof(*pointed));
	own->count =
	    head->count < MU_LAYOUT_WORDS ? head->count : MU_LAYOUT_WORDS;
	memcpy(own->values, head->words, own->count * WORD);
	judge_all(symbols, own);
	for (i = 0; i < own->count; i++) {
		target = &pointed->targets[i];
		if ((own->is[i] & IS_ADDRESS) == 0 ||
		    own->values[i] % WORD != 0)
			continue;
		target->count = mu_subject_bytes(symbols, own->values[i],
				    target->values, sizeof(target->values)) /
		    WORD;
		judge_all(symbols, target);
	}
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
agrees(enum mu_layout_word kind, const struct words *words, size_t i)
{
	unsigned char is = words->is[i];
	bool address = (is & IS_ADDRESS) != 0;

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
	case MU_WORD_ANY:
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
fits(const struct mu_layout *layout, const struct words *words,
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

/*
 * True if the block can be a structure of LAYOUT, and what it points to can be
 * as declared. Words of two kinds must speak for it: an array has one.
 */
static bool
fits_all(const struct mu_layouts *layouts, const struct mu_layout *layout,
    const struct pointed *pointed, struct evidence *evidence)
{
	const struct words *own = &pointed->own;
	const struct mu_layout *target;
	struct evidence more;
	size_t i;

	*evidence = (struct evidence) { .weight = 0 };
	if (!fits(layout, own, evidence))
		return false;
	for (i = 0; i < own->count && i < layout->size / WORD; i++) {
		target = pointed->targets[i].count == 0
		    ? NULL
		    : mu_layouts_find(layouts, &layout->targets[i]);
		if (target == NULL && layout->words[i] == MU_WORD_OBJECT &&
		    (own->is[i] & IS_TEXT) != 0)
			return false;
		if (target == NULL)
			continue;
		more = (struct evidence) { .weight = 0 };
		if (!fits(target, &pointed->targets[i], &more))
			return false;
		evidence->weight += more.weight > 0 ? SPECIFIC : 0;
	}
	return (evidence->kinds & ~(unsigned)NUMBERS) != 0 &&
	    (evidence->kinds & (evidence->kinds - 1)) != 0;
}

/* What malloc(SIZE) of glibc lets a program use: 24, 40, 56 ... bytes. */
static size_t
usable(size_t size)
{
	return size <= 24 ? 24 : ((size + 8 + 15) & ~(size_t)15) - 8;
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

/* Consider the structures for which malloc() gives as many usable bytes. */
static void
find_best(const struct mu_layouts *layouts, const struct mu_symbols *symbols,
    const struct mu_block_head *head, struct best *best)
{
	struct pointed pointed;
	struct evidence evidence;
	size_t i = 0;

	*best = (struct best) { .count = 0 };
	mu_bisect(
	    i, layouts->count, j, usable(layouts->list[j].size) < head->size);
	if (i == layouts->count || usable(layouts->list[i].size) != head->size)
		return;
	read_pointed(symbols, head, &pointed);
	for (;
	     i < layouts->count && usable(layouts->list[i].size) == head->size;
	     i++)
		if (fits_all(layouts, &layouts->list[i], &pointed, &evidence))
			consider(best, &layouts->list[i], &evidence);
}

struct module {
	struct mu_layouts *layouts;
	Dwfl_Module *module;
	uint64_t deadline_ns;
};

static void
read_module(void *ctx, Dwfl_Module *dwfl)
{
	const struct module *module = ctx;

	mu_layouts_add(module->layouts, dwfl, module->deadline_ns);
}

/*
 * Of the program and its own libraries: the system's have few debug files, and
 * what our library allocates is not lost by the program.
 */
static bool
is_own(const struct mu_loaded *loaded)
{
	const char *name = loaded->first->name;

	return name[0] == '/' && strncmp(name, "/lib", 4) != 0 &&
	    strncmp(name, "/usr/lib", 8) != 0 &&
	    strstr(name, "/libmemunreachable") == NULL;
}

static void
read_layouts(struct mu_layouts *layouts, struct mu_symbols *symbols)
{
	struct module module = { .layouts = layouts,
		.deadline_ns = mu_sys_now_ns() + READING_NS };
	size_t i, count;
	const struct mu_loaded *list = mu_symbols_loaded(symbols, &count);

	for (i = 0; i < count && !layouts->failed; i++)
		if (is_own(&list[i]) &&
		    !mu_symbols_debug(symbols, &list[i], read_module, &module))
			layouts->failed = true;
	mu_layouts_sort(layouts);
}

static bool
has_layouts(struct mu_structures *structures, struct mu_symbols *symbols)
{
	if (!structures->asked)
		read_layouts(&structures->layouts, symbols);
	structures->asked = true;
	return !structures->layouts.failed;
}

/* The rest of a chunk, if too small for another, is added to a block. */
static bool
has_size(const struct mu_layout *layout, size_t size, size_t stride)
{
	if (stride != 0)
		return layout->size == stride;
	return usable(layout->size) == size ||
	    usable(layout->size) + 16 == size;
}

bool
mu_structure_confirms(struct mu_structures *structures,
    struct mu_symbols *symbols, const char *name, size_t length, size_t size,
    size_t stride)
{
	const struct mu_layouts *layouts = &structures->layouts;
	const struct mu_layout *layout;
	bool found = false;
	size_t i;

	if (!has_layouts(structures, symbols))
		return false;
	for (i = 0; i < layouts->count; i++) {
		layout = &layouts->list[i];
		if (!has_size(layout, size, stride))
			continue;
		if (layout->embeds)
			return false;
		found |= strncmp(layout->name, name, length) == 0 &&
		    layout->name[length] == '\0';
	}
	return found;
}

/* "A, B or C" */
static const char *
list_names(struct mu_structures *structures, const struct best *best)
{
	char *name = structures->name;
	size_t i, length = 0;

	for (i = 0; i < best->count && length < sizeof(structures->name); i++)
		length += (size_t)snprintf(name + length,
		    sizeof(structures->name) - length, "%s%s",
		    i == 0                     ? ""
			: i == best->count - 1 ? " or "
					       : ", ",
		    best->layouts[i]->name);
	return name;
}

bool
mu_structure_find(struct mu_structures *structures, struct mu_symbols *symbols,
    const struct mu_block_head *head, struct mu_type *type)
{
	struct mu_layouts *layouts = &structures->layouts;
	struct best best;

	if (!has_layouts(structures, symbols))
		return false;
	find_best(layouts, symbols, head, &best);
	if (best.count == 0 || best.count > CANDIDATES)
		return false;
	*type = (struct mu_type) {
		.name = best.layouts[0]->name,
		.source = MU_TYPE_DWARF,
	};
	if (best.count > 1) {
		type->name = list_names(structures, &best);
		return true;
	}
	structures->class = best.layouts[0]->name;
	if (mu_container_part(best.layouts[0]->name, structures->name,
		sizeof(structures->name))) {
		type->name = structures->name;
		type->source = MU_TYPE_CONTAINER;
	}
	return true;
}
