#include "lib/explain/live_types.h"

#include <stdlib.h>
#include <string.h>

#include "heapwalk/explain/keyed.h"
#include "heapwalk/heaps/blocks_reading.h"
#include "lib/explain/python_edges.h"
#include "lib/explain/shapes.h"
#include "lib/explain/text_length.h"
#include "lib/explain/typed_walk.h"
#include "lib/types/gobject.h"
#include "mu/hash.h"

#define ASKED ((size_t)4096)          /* questions at a time */
#define SINGLE_MAX ((size_t)1 << 17)  /* blocks asked for one by one */
#define OF_SIZE ((size_t)1 << 15)     /* of them, of one size */
#define SLOTS ((size_t)1 << 16)       /* for twice as many sizes, classes */
#define CLASS_SHIFT 48                /* of the size, above an address */
#define CLASS_SIZES ((size_t)1 << 15) /* bytes; larger blocks have none */
#define NAMES ((size_t)1 << 17)       /* slots for names, a power of 2 */
#define UNASKED UINT16_MAX            /* no type yet */
#define GRAIN ((size_t)16)            /* sizes of malloc() differ by */
#define ROW_NAME ((size_t)1024)       /* bytes of the name of a row */
#define WORD sizeof(uintptr_t)
#define HEAD (MU_PYTHON_BEFORE / WORD + 2) /* words, to the class */
#define LARGER 16                          /* bytes by which malloc() exceeds */

/* Blocks of one size that begin with one pointer into a module. */
struct class
{
	uint64_t key;    /* key_of() */
	uint32_t first;  /* number of the first block */
	uint16_t number; /* from 1; blocks have it until the type is known */
	uint16_t type;
};

_Static_assert(SLOTS / 2 <= UINT16_MAX, "number of a class");

/* Blocks of one size that are of no class. */
struct size {
	uint64_t key; /* the size */
	size_t asked;
	uint16_t type; /* the one that most have, if there is such a one */
	size_t votes;  /* for it, minus those against it */
};

struct batch {
	struct mu_symbol_question questions[ASKED];
	struct mu_symbol_answer answers[ASKED];
	struct mu_typed_block blocks[ASKED];
	uint32_t numbers[ASKED]; /* of blocks, or slots of classes */
	size_t count;
};

struct finding {
	struct mu_live_types *live;
	struct mu_places *places;
	struct mu_deadline *deadline;
	struct mu_keyed classes; /* struct class */
	struct mu_keyed sizes;   /* struct size */
	struct batch *batch;
	bool gobjects;      /* they are there */
	bool tags;          /* objects with tags are there */
	uintptr_t *held_at; /* by block number: a word of no block; 0: none */
	bool of_classes;    /* the batch asks for classes */
	size_t singles;
	uint32_t *declared; /* blocks found by themselves to be of a declared
			       type */
	size_t num_declared, max_declared;
};

static bool
has_file(const struct mu_snapshot *snap, const char *name)
{
	size_t i;

	for (i = 0; i < snap->num_mappings; i++)
		if (strstr(snap->mappings[i].name, name) != NULL)
			return true;
	return false;
}

/* True if there is a class of GObject at ADDRESS: see lib/types/gobject.h. */
static bool
is_gtype_class(const struct finding *finding, uintptr_t address)
{
	const struct mu_snapshot *snap = finding->places->snap;
	uintptr_t type, self;

	if (!finding->gobjects || !mu_snapshot_word(snap, address, &type))
		return false;
	if (type == MU_GTYPE_OBJECT)
		return true;
	return mu_range_has(finding->places->blocks->envelope, type) &&
	    mu_snapshot_word(snap, type + MU_GTYPE_SELF, &self) && self == type;
}

/* NULL: the table is full. */
static struct size *
size_of(struct finding *finding, size_t size)
{
	bool added;

	return mu_keyed_add(&finding->sizes, size, &added);
}

/*
 * True if WORD may lead to the class of an object, in a file or a block. Files
 * are also mapped between blocks: below those that have a mapping.
 */
static bool
leads_to_class(const struct finding *finding, uintptr_t word)
{
	const struct mu_places *places = finding->places;
	const struct mu_mapping *mapping;

	if (word == 0 || word >> CLASS_SHIFT != 0)
		return false;
	mapping = mu_snapshot_mapping(places->snap, word);
	return mapping != NULL &&
	    (mapping->name[0] == '/' ||
		(mu_range_has(places->blocks->envelope, word) &&
		    is_gtype_class(finding, word)));
}

/*
 * In CPython the number of references to an object is before its class, and
 * other words may be before that. KEY has the size.
 */
static uint64_t
python_key(
    const struct finding *finding, const uintptr_t words[HEAD], uint64_t key)
{
	size_t i;

	for (i = 0; i < HEAD; i += 2)
		if (words[i] != 0 && words[i] <= UINT32_MAX &&
		    mu_python_class_find(
			finding->places->snap, words, i * WORD))
			return key | words[i + 1];
	return 0;
}

static uint64_t
key_of(const struct finding *finding, const struct mu_block *block)
{
	size_t size = mu_range_size(block->range);
	uintptr_t words[HEAD] = { 0 };
	uint64_t key = (uint64_t)size << CLASS_SHIFT;

	if (size < 2 * WORD || size >= CLASS_SIZES)
		return 0;
	memcpy(words, block->view, size < sizeof(words) ? size : sizeof(words));
	if (leads_to_class(finding, words[0]))
		return key | words[0];
	return finding->live->python ? python_key(finding, words, key) : 0;
}

uint16_t
mu_live_types_add(struct mu_live_types *live, const struct mu_places *places,
    const struct mu_live_type *type)
{
	const struct mu_live_type *known;
	size_t at;

	for (at = mu_hash_bytes(type->name, strlen(type->name)) >> 20 &
		 (NAMES - 1);
	     live->names[at] != 0; at = (at + 1) & (NAMES - 1)) {
		known = &live->types[live->names[at]];
		if (known->certain == type->certain &&
		    known->source == type->source &&
		    known->offset == type->offset &&
		    known->stride == type->stride &&
		    known->elements == type->elements &&
		    strcmp(known->name, type->name) == 0)
			return live->names[at];
	}
	if (live->count >= MU_LIVE_TYPES_MAX ||
	    !mu_arena_room(
		places->tables, live->types, live->count, live->max, 256))
		return 0;
	live->types[live->count] = *type;
	live->types[live->count].name = mu_places_keep(places, type->name);
	if (live->types[live->count].name == NULL)
		return 0;
	live->names[at] = (uint16_t)live->count;
	return (uint16_t)live->count++;
}

static uint16_t
number_of(struct finding *finding, const struct mu_type *type)
{
	struct mu_live_type live = {
		.name = type->name,
		.certain = type->certain,
		.content = type->source == MU_TYPE_CONTENT,
		.source = type->source,
		.counter = type->counter,
		.offset = type->offset,
		.id = type->id,
		.least = SIZE_MAX,
	};

	return mu_live_types_add(finding->live, finding->places, &live);
}

/*
 * How many elements of STRIDE bytes a row in SIZE usable bytes has. malloc()
 * rounds up by at most GRAIN - 1 bytes: of the numbers that are possible the
 * roundest one, 4096 rather than 4104.
 */
static size_t
count_row(size_t size, size_t stride)
{
	size_t most = size / stride, least, round;

	least = size > GRAIN ? (size - GRAIN) / stride + 1 : 1;
	for (round = 1; (most & -(round * 2)) >= least && most >= round * 2;)
		round *= 2;
	return most & -round;
}

static void
write_row(char name[ROW_NAME], const struct mu_live_type *type, size_t size)
{
	mu_type_row_name(name, ROW_NAME, type->name,
	    type->elements > 0 ? type->elements
			       : count_row(size, type->stride));
}

const char *
mu_live_type_name(const struct mu_places *places,
    const struct mu_live_type *type, size_t size)
{
	char name[ROW_NAME];

	if (type->name == NULL || type->stride == 0)
		return type->name;
	write_row(name, type, size);
	return mu_places_keep(places, name);
}

bool
mu_live_type_is_row(
    const struct mu_live_type *type, size_t size, const char *wanted)
{
	char name[ROW_NAME];

	write_row(name, type, size);
	if (strcmp(name, wanted) == 0)
		return true;
	mu_type_row_name(name, sizeof(name), type->name, 0);
	return strcmp(name, wanted) == 0;
}

static uint16_t
take_answer(struct finding *finding, size_t i)
{
	const struct mu_type *type = &finding->batch->answers[i].type;
	size_t size = finding->batch->blocks[i].size;
	struct mu_live_type *known;
	uint16_t index;

	if (!mu_type_names_block(type))
		return 0;
	index = number_of(finding, type);
	known = &finding->live->types[index];
	if (size < known->least)
		known->least = size;
	if (size > known->most)
		known->most = size;
	return index;
}

static void
take_type(struct finding *finding, size_t i)
{
	uint32_t number = finding->batch->numbers[i];
	uint16_t type = take_answer(finding, i);
	struct class *classes = finding->classes.items;
	struct size *size;

	if (finding->of_classes) {
		classes[number].type = type;
		return;
	}
	/* A guess is better than another one. */
	if (finding->live->of[number] != 0 &&
	    !finding->live->types[type].certain)
		return;
	finding->live->of[number] = type;
	if (finding->live->types[type].id != 0 &&
	    mu_arena_room(finding->places->tables, finding->declared,
		finding->num_declared, finding->max_declared, 256))
		finding->declared[finding->num_declared++] = number;
	size = size_of(finding, finding->batch->blocks[i].size);
	if (size == NULL)
		return;
	if (size->votes == 0)
		size->type = type;
	size->votes += size->type == type ? 1 : SIZE_MAX;
}

static void
ask(struct finding *finding)
{
	struct batch *batch = finding->batch;
	size_t i;

	if (batch->count == 0)
		return;
	memset(batch->answers, 0, batch->count * sizeof(*batch->answers));
	mu_symbol_helper_ask(&finding->places->helper, batch->questions,
	    batch->answers, batch->count, finding->places->deadline_ns);
	for (i = 0; i < batch->count; i++)
		take_type(finding, i);
	batch->count = 0;
}

static void
add_question(
    struct finding *finding, const struct mu_block *block, uint32_t number)
{
	struct batch *batch = finding->batch;
	struct mu_typed_block *typed = &batch->blocks[batch->count];

	mu_places_typed_block(block, typed);
	if (finding->held_at != NULL)
		typed->held_at = finding->held_at[number];
	batch->questions[batch->count] = (struct mu_symbol_question) {
		.address = typed->begin,
		.block = typed,
	};
	batch->numbers[batch->count++] = number;
	if (batch->count == ASKED)
		ask(finding);
}

static bool
note_class(void *ctx, const struct mu_block *block)
{
	struct finding *finding = ctx;
	struct class *class;
	uint64_t key;
	bool added;

	if (!mu_block_marked(block))
		return true;
	key = key_of(finding, block);
	class = key == 0 ? NULL : mu_keyed_add(&finding->classes, key, &added);
	if (class == NULL)
		return !mu_deadline_passed(finding->deadline, 16);
	if (added) {
		class->first = block->number;
		class->number = (uint16_t)finding->classes.count;
	}
	finding->live->of[block->number] = class->number;
	return !mu_deadline_passed(finding->deadline, 16);
}

static void
ask_classes(struct finding *finding)
{
	const struct class *classes = finding->classes.items;
	struct mu_block block;
	size_t i;

	finding->of_classes = true;
	for (i = 0; i < finding->classes.slots; i++)
		if (classes[i].key != 0 &&
		    mu_blocks_at(
			finding->places->blocks, classes[i].first, &block))
			add_question(finding, &block, (uint32_t)i);
	ask(finding);
	finding->of_classes = false;
}

/* In place of the numbers of classes: memory is not read once more. */
static bool
take_classes(struct finding *finding)
{
	const struct class *classes = finding->classes.items;
	uint16_t *of = finding->live->of, *types;
	size_t i;

	types = mu_arena_alloc_table(finding->places->tables,
	    finding->classes.count + 1, sizeof(*types));
	if (types == NULL)
		return false;
	for (i = 0; i < finding->classes.slots; i++)
		if (classes[i].key != 0)
			types[classes[i].number] = classes[i].type;
	for (i = 0; i < finding->places->blocks->count; i++)
		of[i] = types[of[i]];
	return true;
}

/*
 * What is of no known class, and not declared, is asked for by itself; what may
 * be declared, too, if it can have a tag that says better.
 */
static bool
take_block(void *ctx, const struct mu_block *block)
{
	struct finding *finding = ctx;
	uint16_t *of = &finding->live->of[block->number];
	const struct mu_live_type *known = &finding->live->types[*of];
	struct size *size;

	if (!mu_block_marked(block) ||
	    (*of != 0 &&
		(!finding->tags || known->certain ||
		    known->source != MU_TYPE_DWARF)))
		return true;
	size = size_of(finding, mu_range_size(block->range));
	if (size != NULL && size->asked < OF_SIZE &&
	    finding->singles < SINGLE_MAX) {
		finding->singles++;
		size->asked++;
		add_question(finding, block, block->number);
	} else if (*of == 0) {
		*of = UNASKED;
	}
	return !mu_deadline_passed(finding->deadline, 16);
}

/*
 * CPython has small objects in mappings of its own, and what they lead to in
 * blocks that do not say what they are. Words are by address: those of stacks,
 * which may be old, are mostly the last ones.
 */
static void
note_holders(struct finding *finding, const struct mu_held *held)
{
	const struct mu_places *places = finding->places;
	const struct mu_held_word *word = held->words;
	size_t i;

	if (!finding->live->python)
		return;
	finding->held_at = mu_arena_alloc_table(places->tables,
	    places->blocks->count + 1, sizeof(*finding->held_at));
	for (i = 0; finding->held_at != NULL && i < held->count; i++, word++)
		if (word->node < places->blocks->count &&
		    finding->held_at[word->node] == 0)
			finding->held_at[word->node] = word->address;
}

/* The type of the blocks of SIZE that were not asked for; 0: not known. */
static uint16_t
type_of_rest(struct finding *finding, const struct size *size)
{
	const struct mu_live_type *live;

	if (size == NULL || size->type == 0 ||
	    size->votes < size->asked - size->asked / 5)
		return 0;
	live = &finding->live->types[size->type];
	if (live->content)
		return 0;
	return number_of(finding,
	    &(struct mu_type) { .name = live->name, .source = live->source });
}

static bool
take_rest(void *ctx, const struct mu_block *block)
{
	struct finding *finding = ctx;
	uint16_t *type = &finding->live->of[block->number];

	if (!mu_block_marked(block) || *type != UNASKED)
		return true;
	*type = type_of_rest(
	    finding, size_of(finding, mu_range_size(block->range)));
	if (*type == 0 && mu_block_is_plain_text(block))
		*type = number_of(finding,
		    &(struct mu_type) {
			.name = "text", .source = MU_TYPE_CONTENT });
	finding->live->unasked += *type == 0;
	return true;
}

/*
 * Objects of a class have one size. If blocks of other sizes begin like them,
 * these were never written, and show what was there before.
 */
static void
doubt_sizes(struct mu_live_types *live)
{
	struct mu_live_type *type;
	size_t i;

	for (i = 1; i < live->count; i++) {
		type = &live->types[i];
		if ((type->source == MU_TYPE_VTABLE ||
			type->source == MU_TYPE_RTTI ||
			type->source == MU_TYPE_CONTAINER) &&
		    strchr(type->name, '[') == NULL &&
		    type->most - type->least > LARGER)
			type->certain = false;
	}
}

static bool
open_finding(struct finding *finding)
{
	struct mu_live_types *live = finding->live;
	struct mu_arena *tables = finding->places->tables;

	live->of = mu_arena_alloc_table(
	    tables, finding->places->blocks->count + 1, sizeof(*live->of));
	finding->classes = (struct mu_keyed) { .arena = tables,
		.size = sizeof(struct class),
		.first = SLOTS,
		.most = SLOTS / 2 };
	finding->sizes = (struct mu_keyed) { .arena = tables,
		.size = sizeof(struct size),
		.first = SLOTS,
		.most = SLOTS / 2 };
	live->names = mu_arena_alloc_table(tables, NAMES, sizeof(*live->names));
	finding->gobjects =
	    has_file(finding->places->snap, "/libgobject-2.0.so");
	live->python = has_file(finding->places->snap, "/libpython3.") ||
	    has_file(finding->places->snap, "/python3");
	finding->tags = finding->gobjects || live->python;
	finding->batch = mu_arena_alloc(tables, 1, sizeof(*finding->batch));
	if (live->of == NULL || live->names == NULL || finding->batch == NULL ||
	    !mu_keyed_room(&finding->classes) ||
	    !mu_keyed_room(&finding->sizes) ||
	    !mu_arena_room(tables, live->types, live->count, live->max, 256))
		return false;
	live->types[live->count++] = (struct mu_live_type) { .name = NULL };
	return true;
}

enum mu_status
mu_live_types_find(struct mu_live_types *live, struct mu_places *places,
    struct mu_typed *typed, const struct mu_held *held,
    struct mu_deadline *deadline)
{
	enum mu_status status;
	struct finding finding = {
		.live = live, .places = places, .deadline = deadline
	};

	*live = (struct mu_live_types) { .count = 0 };
	if (!open_finding(&finding))
		return MU_ERR_NO_MEMORY;
	mu_blocks_read_each(places->blocks, places->snap, note_class, &finding);
	if (!deadline->passed)
		ask_classes(&finding);
	live->late = deadline->passed || mu_sys_now_ns() >= places->deadline_ns;
	if (!take_classes(&finding))
		return MU_ERR_NO_MEMORY;
	/* What is proven of objects with tags is not asked for. */
	typed->unproven &= !finding.tags;
	status = mu_typed_walk(typed, places, live, held, deadline);
	if (status != MU_OK) {
		doubt_sizes(live);
		return status;
	}
	note_holders(&finding, held);
	mu_blocks_each(places->blocks, take_block, &finding);
	ask(&finding);
	mu_blocks_read_each(places->blocks, places->snap, take_rest, &finding);
	doubt_sizes(live);
	status = mu_typed_walk_on(
	    typed, live, finding.declared, finding.num_declared, deadline);
	if (status == MU_OK)
		mu_shapes_find(live, places, held, deadline);
	return status;
}
