#include "lib/explain/shapes.h"

#include <stdio.h>
#include <string.h>

#include "heapwalk/heaps/blocks_reading.h"
#include "heapwalk/subject/saved.h"
#include "lib/symbolize/kept_names.h"
#include "lib/types/containers.h"
#include "lib/types/python_object.h"

#define WORD sizeof(uintptr_t)
#define ASKED ((size_t)1024)    /* questions at a time */
#define NAME_SIZE 300           /* bytes */
#define STEPS ((size_t)1 << 20) /* in vain */
#define LINKS (2 * WORD)        /* of an object of Python, before it */
#define VALUES_PREFIX 40        /* bytes before its values */

struct part {
	uint32_t block;
	uint32_t kind; /* enum mu_part_kind */
	size_t elements;
};

struct batch;

struct shaping {
	struct mu_live_types *live;
	struct mu_places *places;
	struct mu_deadline *deadline;
	struct mu_containers parts;
	struct batch *batch;   /* of a saved look */
	struct mu_block block; /* the last one that was looked for */

	/* What belongs to a container if that proves to be one. */
	struct part *found;
	size_t count, max;
	uint16_t types[MU_PARTS]; /* their numbers; 0: not known yet */
};

static bool
read_memory(void *ctx, uintptr_t address, void *buffer, size_t size)
{
	const struct shaping *shaping = ctx;
	const char *view =
	    mu_snapshot_view(shaping->places->snap, address, size);

	if (view != NULL)
		memcpy(buffer, view, size);
	return view != NULL;
}

static bool
is_code(void *ctx, uintptr_t address)
{
	const struct shaping *shaping = ctx;
	const struct mu_mapping *mapping =
	    mu_snapshot_mapping(shaping->places->snap, address);

	return mapping != NULL && mapping->executable &&
	    mapping->name[0] == '/';
}

/* The marked block that begins at BEGIN; NULL: there is none. */
static const struct mu_block *
block_at(struct shaping *shaping, uintptr_t begin)
{
	struct mu_block *block = &shaping->block;

	if (block->range.begin == begin && begin != 0)
		return block;
	if (!mu_range_has(shaping->places->blocks->envelope, begin) ||
	    !mu_blocks_find(shaping->places->blocks, begin, block) ||
	    block->range.begin != begin || !mu_block_marked(block)) {
		block->range.begin = 0;
		return NULL;
	}
	return block;
}

static size_t
size_of(void *ctx, uintptr_t begin)
{
	const struct mu_block *block = block_at(ctx, begin);

	return block == NULL ? 0 : mu_range_size(block->range);
}

static bool
is_text(const struct mu_live_type *type)
{
	return type->content && strcmp(type->name, "text") == 0;
}

static void
note_part(void *ctx, uintptr_t begin, enum mu_part_kind kind, size_t elements)
{
	struct shaping *shaping = ctx;
	const struct mu_block *block = block_at(shaping, begin);

	if (block != NULL &&
	    mu_arena_room(shaping->places->tables, shaping->found,
		shaping->count, shaping->max, 4096))
		shaping->found[shaping->count++] = (struct part) {
			.block = block->number,
			.kind = kind,
			.elements = elements,
		};
}

static uint16_t
type_of(struct shaping *shaping, const struct part *part)
{
	uint16_t *number = &shaping->types[part->kind];
	struct mu_live_type type = {
		.name = mu_part_name(part->kind),
		.source = MU_TYPE_CONTAINER,
		.stride =
		    part->kind == MU_PART_STRINGS ? MU_CONTAINER_STRING : 0,
		.elements = (uint32_t)part->elements,
	};

	if (*number == 0 || part->elements > 0)
		*number =
		    mu_live_types_add(shaping->live, shaping->places, &type);
	return *number;
}

/* A chunk or a node may have old text; a vector has what is there. */
static void
take_parts(void *ctx, bool proven)
{
	struct shaping *shaping = ctx;
	const struct mu_live_type *known;
	const struct part *part;
	size_t i;

	for (i = 0; proven && i < shaping->count; i++) {
		part = &shaping->found[i];
		known = mu_live_type_of(shaping->live, part->block);
		/* A page of slices may begin with an object of a class. */
		if (known->name == NULL ||
		    (part->kind == MU_PART_GSLICES && !known->certain) ||
		    (known->content &&
			(part->kind != MU_PART_VECTOR || !is_text(known))))
			shaping->live->of[part->block] = type_of(shaping, part);
	}
	shaping->count = 0;
}

/* The container that may begin at AT, with SIZE bytes that can be read. */
static void
try_at(struct shaping *shaping, uintptr_t at, const char *view, size_t size)
{
	uintptr_t words[MU_CONTAINER_WORDS];
	size_t count = size / WORD;

	if (count > MU_CONTAINER_WORDS)
		count = MU_CONTAINER_WORDS;
	memcpy(words, view, count * WORD);
	mu_containers_find(&shaping->parts, at, words, count);
	mu_deadline_passed(shaping->deadline, 4);
}

/* The word at VIEW may begin one: it, or the next one, leads to a block. */
static bool
may_begin(const struct shaping *shaping, const char *view, size_t size)
{
	struct mu_range envelope = shaping->places->blocks->envelope;
	uintptr_t words[2] = { 0, 0 };

	memcpy(words, view, size < sizeof(words) ? size : sizeof(words));
	return mu_range_has(envelope, words[0]) ||
	    ((uint32_t)words[0] == 0 && mu_range_has(envelope, words[1])) ||
	    mu_containers_may_begin(&shaping->parts, words[0], words[1]);
}

static bool
try_block(void *ctx, const struct mu_block *block)
{
	struct shaping *shaping = ctx;
	size_t at, size = mu_range_size(block->range);
	unsigned libraries = shaping->parts.libraries;
	const struct mu_live_type *type;

	if (!mu_block_marked(block))
		return true;
	type = mu_live_type_of(shaping->live, block->number);
	/* What is declared of it is known by now. */
	if (type->id != 0 || is_text(type))
		return true;
	for (at = 0; at + WORD <= size; at += WORD)
		if ((at <= WORD && libraries != MU_LIBRARY_CXX) ||
		    may_begin(shaping, block->view + at, size - at))
			try_at(shaping, block->range.begin + at,
			    block->view + at, size - at);
	return !mu_deadline_passed(shaping->deadline, 1 + size / 64);
}

/* A word of a variable or a stack; the header of a tree is one before it. */
static void
try_word(struct shaping *shaping, uintptr_t address)
{
	const struct mu_snapshot *snap = shaping->places->snap;
	const char *view;
	size_t i, size;

	for (i = 0; i < 2; i++, address -= WORD) {
		view = NULL;
		for (size = MU_CONTAINER_WORDS * WORD; view == NULL && size > 0;
		     size -= WORD)
			view = mu_snapshot_view(snap, address, size);
		if (view != NULL)
			try_at(shaping, address, view, size + WORD);
	}
}

/*
 * True if WORD leads to a node or object of which it is known by now what is
 * declared: so are those that it leads to. Those of GLib and Qt lead to more
 * than is declared.
 */
static bool
is_declared(const struct shaping *shaping, const struct mu_held_word *word)
{
	const struct mu_live_type *type;

	if (shaping->parts.libraries != MU_LIBRARY_CXX ||
	    word->node >= shaping->places->blocks->count)
		return false;
	type = mu_live_type_of(shaping->live, word->node);
	return type->id != 0 && type->stride == 0;
}

/* A program may have the C++ library in it. */
static unsigned
find_libraries(const struct shaping *shaping)
{
	const struct mu_snapshot *snap = shaping->places->snap;
	unsigned libraries = 0;
	size_t i;

	for (i = 0; i < snap->num_mappings; i++)
		libraries |= mu_containers_library(snap->mappings[i].name);
	for (i = 1; i < shaping->live->count; i++)
		if (shaping->live->types[i].source == MU_TYPE_VTABLE ||
		    shaping->live->types[i].source == MU_TYPE_RTTI)
			libraries |= MU_LIBRARY_CXX;
	return libraries;
}

/*
 * The part to which the word at AT of an object leads. Before the object and
 * its links for the collector is where its values are (3.11), which a few bytes
 * precede.
 */
static const struct mu_block *
part_at(struct shaping *shaping, const struct mu_block *block,
    const struct mu_live_type *type, size_t at)
{
	struct mu_block *part = &shaping->block;
	uintptr_t word;

	memcpy(&word, block->view + at, WORD);
	if (at >= type->offset)
		return block_at(shaping, word);
	part->range.begin = 0;
	if (!mu_range_has(shaping->places->blocks->envelope, word) ||
	    !mu_blocks_find(shaping->places->blocks, word, part) ||
	    word - part->range.begin > VALUES_PREFIX || !mu_block_marked(part))
		return NULL;
	return part;
}

/* What an object of Python leads to and that is none itself is a part of it. */
static bool
take_object(void *ctx, const struct mu_block *block)
{
	struct shaping *shaping = ctx;
	size_t at, size = mu_range_size(block->range);
	const struct mu_live_type *type;
	const struct mu_block *part;
	char name[NAME_SIZE];

	if (!mu_block_marked(block))
		return true;
	type = mu_live_type_of(shaping->live, block->number);
	if (type->counter != MU_COUNTER_PYTHON)
		return true;
	snprintf(name, sizeof(name), MU_PYTHON_PART_OF "%s", type->name);
	for (at = 0; at + WORD <= size; at += WORD) {
		/* Links for the collector, number of uses, type. */
		if (at + LINKS >= type->offset && at < type->offset + 2 * WORD)
			continue;
		part = part_at(shaping, block, type, at);
		/* Its values are none of what a program declares. */
		if (part != NULL &&
		    (shaping->live->of[part->number] == 0 ||
			(at < type->offset &&
			    !mu_live_type_of(shaping->live, part->number)
				 ->certain)))
			shaping->live->of[part->number] =
			    mu_live_types_add(shaping->live, shaping->places,
				&(struct mu_live_type) {
				    .name = name, .source = MU_TYPE_TAG });
	}
	return !mu_deadline_passed(shaping->deadline, 1 + size / 64);
}

static bool
has_python(const struct mu_live_types *live)
{
	size_t i;

	for (i = 1; i < live->count; i++)
		if (live->types[i].counter == MU_COUNTER_PYTHON)
			return true;
	return false;
}

/* Blocks that are asked for. */
struct batch {
	struct mu_symbol_question questions[ASKED];
	struct mu_symbol_answer answers[ASKED];
	struct mu_typed_block blocks[ASKED];
	uint32_t numbers[ASKED];
	size_t count;
};

static void
ask(struct shaping *shaping)
{
	struct batch *batch = shaping->batch;
	const struct mu_type *type;
	size_t i;

	memset(batch->answers, 0, sizeof(batch->answers));
	mu_symbol_helper_ask(&shaping->places->helper, batch->questions,
	    batch->answers, batch->count, shaping->places->deadline_ns);
	for (i = 0; i < batch->count; i++) {
		type = &batch->answers[i].type;
		if (type->name != NULL && type->source == MU_TYPE_CONTAINER)
			shaping->live->of[batch->numbers[i]] =
			    mu_live_types_add(shaping->live, shaping->places,
				&(struct mu_live_type) { .name = type->name,
				    .source = type->source });
	}
	batch->count = 0;
}

static bool
add_question(void *ctx, const struct mu_block *block)
{
	struct shaping *shaping = ctx;
	struct batch *batch = shaping->batch;
	const struct mu_live_type *known;

	if (!mu_block_marked(block))
		return true;
	known = mu_live_type_of(shaping->live, block->number);
	if (known->name != NULL && !known->content)
		return true;
	batch->numbers[batch->count] = block->number;
	batch->blocks[batch->count] = (struct mu_typed_block) {
		.begin = block->range.begin,
		.size = mu_range_size(block->range),
		.held_at = block->range.begin,
	};
	batch->questions[batch->count] = (struct mu_symbol_question) {
		.address = block->range.begin,
		.block = &batch->blocks[batch->count],
	};
	if (++batch->count == ASKED)
		ask(shaping);
	return !mu_deadline_passed(shaping->deadline, 16);
}

/* What nothing else names, by what was kept when the look was saved. */
static void
ask_kept(struct shaping *shaping)
{
	shaping->batch =
	    mu_arena_alloc(shaping->places->tables, 1, sizeof(*shaping->batch));
	if (shaping->batch == NULL)
		return;
	mu_blocks_each(shaping->places->blocks, add_question, shaping);
	ask(shaping);
}

struct keeping {
	const struct mu_live_types *live;
	const struct mu_places *places;
	struct mu_kept_names *kept;
};

static bool
keep(void *ctx, const struct mu_block *block)
{
	const struct keeping *keeping = ctx;
	const struct mu_live_type *type;
	struct mu_typed_block typed = { .held_at = block->range.begin };
	struct mu_symbol_question question = {
		.address = block->range.begin,
		.block = &typed,
	};
	struct mu_symbol_answer answer = { .given = true };

	if (!mu_block_marked(block))
		return true;
	type = mu_live_type_of(keeping->live, block->number);
	if (type->source != MU_TYPE_CONTAINER || type->id != 0 || type->certain)
		return true;
	answer.type = (struct mu_type) {
		.name = mu_live_type_name(
		    keeping->places, type, mu_range_size(block->range)),
		.source = type->source,
	};
	mu_kept_names_note(keeping->kept, &question, &answer, 1);
	return !keeping->kept->failed;
}

void
mu_shapes_keep(const struct mu_live_types *live, const struct mu_places *places,
    struct mu_kept_names *kept)
{
	struct keeping keeping = { live, places, kept };

	if (live->of != NULL && kept != NULL)
		mu_blocks_each(places->blocks, keep, &keeping);
}

void
mu_shapes_find(struct mu_live_types *live, struct mu_places *places,
    const struct mu_held *held, struct mu_deadline *deadline)
{
	struct shaping shaping = {
		.live = live,
		.places = places,
		.deadline = deadline,
		.parts = {
			.read = read_memory,
			.size = size_of,
			.code = is_code,
			.found = note_part,
			.end = take_parts,
			.most = places->blocks->count,
			.steps = STEPS,
		},
	};
	size_t i;

	shaping.parts.ctx = &shaping;
	if (has_python(live))
		mu_blocks_read_each(
		    places->blocks, places->snap, take_object, &shaping);
	shaping.parts.libraries = find_libraries(&shaping);
	if (shaping.parts.libraries == 0)
		return;
	if (places->snap->saved != NULL && !places->snap->saved->contents) {
		ask_kept(&shaping);
		return;
	}
	for (i = 0; i < held->count && !deadline->passed; i++)
		if (held->words[i].address != 0 &&
		    !is_declared(&shaping, &held->words[i]))
			try_word(&shaping, held->words[i].address);
	mu_blocks_read_each(places->blocks, places->snap, try_block, &shaping);
}
