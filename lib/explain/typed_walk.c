#include "lib/explain/typed_walk.h"

#include <string.h>

#include "heapwalk/graph/references.h"
#include "lib/explain/typed_fit.h"
#include "lib/explain/typed_proof.h"
#include "lib/explain/typed_variables.h"
#include "lib/types/block_size.h"

#define WORD sizeof(uintptr_t)
#define ROUNDS 1000 /* of questions */

/* An object, or a row of them, whose pointers are followed. */
struct object {
	uint32_t block; /* number; or that of a variable */
	bool variable;
	bool certain;
};

struct walk {
	struct mu_typed *typed;
	struct mu_live_types *live;
	const struct mu_blocks *blocks;
	const struct mu_snapshot *snap;
	struct mu_arena *arena;
	struct mu_deadline *deadline;
	struct object *stack;
	size_t count, max;
	struct mu_block
	    last; /* that was pushed: mostly the next to be visited */
	struct mu_live_type claimed; /* the type that was claimed last */
	uint16_t claimed_number;     /* 0: none was */
	struct object *later;        /* until what they are of is known */
	size_t num_later, max_later;
	bool local; /* what only local variables lead to */
	bool no_memory;
};

/* A pointer that is followed. */
struct edge {
	const struct mu_declared_field *field;
	uintptr_t address; /* of the word; 0: not in memory */
	uintptr_t value;
	const char *view; /* of the word and those behind it; or NULL */
	size_t readable;  /* bytes there */
	bool certain;     /* the object is of its type */
};

static void
push(struct walk *walk, struct object object)
{
	if (mu_arena_room(
		walk->arena, walk->stack, walk->count, walk->max, 4096))
		walk->stack[walk->count++] = object;
	else
		walk->no_memory = true;
}

static void
put_off(struct walk *walk, struct object object)
{
	if (mu_arena_room(walk->arena, walk->later, walk->num_later,
		walk->max_later, 1024))
		walk->later[walk->num_later++] = object;
	else
		walk->no_memory = true;
}

static uintptr_t
word_at(const struct edge *edge, size_t index)
{
	uintptr_t word = 0;

	if (edge->view != NULL && (index + 1) * WORD <= edge->readable)
		memcpy(&word, edge->view + index * WORD, WORD);
	return word;
}

/* True if EDGE is the begin of a vector with the buffer BLOCK. */
static bool
is_vector(const struct edge *edge, const struct mu_declared *declared,
    const struct mu_block *block)
{
	uintptr_t end = word_at(edge, 1), all = word_at(edge, 2);

	return edge->field->pieces && declared->size > 0 &&
	    edge->value == block->range.begin && end >= edge->value &&
	    all >= end && all > edge->value && all <= block->range.end &&
	    (all - edge->value) % declared->size == 0 &&
	    mu_block_fits(all - edge->value, mu_range_size(block->range));
}

/*
 * True if words say different types of BLOCK: this one says TYPE. At least one
 * of them is what is left of an older pointer.
 */
static bool
is_contested(struct walk *walk, const struct mu_block *block,
    const struct mu_live_type *type, bool one_of)
{
	struct mu_live_types *live = walk->live;
	uint8_t *said = &walk->typed->said[block->number];
	uint16_t *of = &live->of[block->number];
	struct mu_live_type known = live->types[*of];

	/* A local variable may not have a value yet. */
	if (walk->local || one_of || (*said & MU_CONTESTED) != 0)
		return (*said & MU_CONTESTED) != 0;
	if (*said == 0 || known.source != MU_TYPE_DWARF ||
	    strcmp(known.name, type->name) == 0) {
		*said |= MU_SAID;
		return false;
	}
	*said = MU_CONTESTED;
	if (known.certain) {
		known.certain = false;
		*of = mu_live_types_add(live, walk->typed->places, &known);
	}
	return true;
}

/* Names of declared types are the same string as long as they are asked for. */
static uint16_t
number_of(struct walk *walk, const struct mu_live_type *type)
{
	const struct mu_live_type *last = &walk->claimed;

	if (walk->claimed_number != 0 && last->name == type->name &&
	    last->id == type->id && last->certain == type->certain &&
	    last->stride == type->stride && last->elements == type->elements)
		return walk->claimed_number;
	walk->claimed = *type;
	walk->claimed_number =
	    mu_live_types_add(walk->live, walk->typed->places, type);
	return walk->claimed_number;
}

/*
 * BLOCK is of TYPE, unless something better is known. SOUND: what its pointers
 * lead to is of the declared types.
 */
static void
claim(struct walk *walk, const struct mu_block *block,
    const struct mu_live_type *type, bool sound)
{
	struct mu_live_types *live = walk->live;
	uint16_t *of = &live->of[block->number], number;
	const struct mu_live_type *known = &live->types[*of];

	if (*of != 0 &&
	    (known->source != MU_TYPE_DWARF || known->certain ||
		(!type->certain && known->stride == 0 && known->id != 0)))
		return;
	number = number_of(walk, type);
	if (number == 0 || number == *of)
		return;
	*of = number;
	if (sound)
		walk->typed->said[block->number] |= MU_SOUND;
	walk->last = *block;
	push(
	    walk, (struct object) { .block = block->number, .certain = sound });
}

static void
follow(struct walk *walk, const struct edge *edge,
    const struct mu_declared *target)
{
	struct mu_live_type type = { .source = MU_TYPE_DWARF };
	struct mu_block block;
	bool sound = false;
	size_t size;

	if (target->name == NULL || target->name[0] == '\0' ||
	    target->node_base || target->size == 0 ||
	    !mu_blocks_find(walk->blocks, edge->value, &block) ||
	    block.range.begin != edge->value || !mu_block_marked(&block))
		return;
	size = mu_range_size(block.range);
	type.name = target->name;
	type.id = target->id;
	if (is_vector(edge, target, &block)) {
		type.certain = edge->certain && !edge->field->one_of &&
		    !target->virtual;
		type.stride = (uint32_t)target->size;
		type.elements =
		    (uint32_t)((word_at(edge, 2) - edge->value) / target->size);
	} else if (!target->scalar && !target->virtual &&
	    mu_typed_fits_one(target, size)) {
		type.certain = edge->certain && !edge->field->one_of &&
		    !target->extended && target->complete &&
		    mu_block_of_chunk(size) &&
		    !mu_typed_is_roomy(target, size) &&
		    mu_typed_is_confirmed(
			walk->typed, target, &block, walk->deadline);
	} else if (target->flexible && size >= target->size) {
		type.certain = false;
	} else if (!target->virtual && !edge->field->one_of &&
	    !mu_typed_is_linked(target) && mu_typed_row(target, size) > 0) {
		type.stride = (uint32_t)target->size;
		sound = edge->certain && target->scalar &&
		    target->num_fields > 0 &&
		    mu_typed_has_pointers(walk->typed, &block, walk->deadline);
	} else {
		return;
	}
	if (is_contested(walk, &block, &type, edge->field->one_of))
		sound = type.certain = false;
	claim(walk, &block, &type, sound || type.certain);
}

/* Follow the pointers of the object of DECLARED in the SIZE bytes at VIEW. */
static void
follow_all(struct walk *walk, const struct mu_declared *declared,
    const char *view, size_t size, bool certain)
{
	const struct mu_declared_field *field = declared->fields;
	const struct mu_declared *target;
	size_t i, j, at;
	bool asked;

	for (i = 0; i < declared->num_fields; i++, field++) {
		target = mu_declared_types_get(
		    &walk->typed->types, field->type, &asked);
		for (j = 0; target != NULL &&
		     (j == 0 || field->count == 0 || j < field->count);
		     j++) {
			at = (size_t)field->offset + j * field->stride;
			if (field->offset < 0 || at > size ||
			    size - at < WORD || (j > 0 && field->stride == 0))
				break;
			struct edge edge = { .field = field,
				.view = view + at,
				.readable = size - at,
				.certain = certain };

			memcpy(&edge.value, view + at, WORD);
			if (edge.value != 0 &&
			    mu_range_has(walk->blocks->envelope, edge.value))
				follow(walk, &edge, target);
			mu_deadline_passed(walk->deadline, 4);
		}
	}
}

/* True if the types of all that DECLARED points to were asked for. */
static bool
is_ready(struct walk *walk, const struct mu_declared *declared)
{
	bool asked, all = true;
	size_t i;

	for (i = 0; i < declared->num_fields; i++) {
		mu_declared_types_get(
		    &walk->typed->types, declared->fields[i].type, &asked);
		all &= asked;
	}
	return all;
}

/* The declared type of OBJECT; NULL: not known, or *LATER. */
static const struct mu_declared *
declared_of(struct walk *walk, const struct object *object, bool *later)
{
	const struct mu_declared *declared;
	mu_declared_id id = object->variable
	    ? walk->typed->variables[object->block].type
	    : walk->live->types[walk->live->of[object->block]].id;
	bool asked;

	declared = mu_declared_types_get(&walk->typed->types, id, &asked);
	*later = !asked || (declared != NULL && !is_ready(walk, declared));
	return *later ? NULL : declared;
}

static void
visit_variable(struct walk *walk, const struct object *object,
    const struct mu_declared *declared)
{
	const struct mu_typed_variable *variable =
	    &walk->typed->variables[object->block];
	size_t size = declared->size;
	struct mu_declared_field field = {
		.name = "", .type = declared->id, .count = 1
	};
	struct edge edge = { .field = &field, .certain = object->certain };
	const char *view;

	if (variable->reference) {
		if (mu_snapshot_word(
			walk->snap, variable->range.begin, &edge.value))
			follow(walk, &edge, declared);
		return;
	}
	view = size == 0
	    ? NULL
	    : mu_snapshot_view(walk->snap, variable->range.begin, size);
	if (view != NULL)
		follow_all(walk, declared, view, size, object->certain);
}

static void
visit_block(struct walk *walk, const struct object *object,
    const struct mu_declared *declared)
{
	const struct mu_live_type *type =
	    &walk->live->types[walk->live->of[object->block]];
	struct mu_block block = walk->last;
	size_t at, size;

	if (declared->num_fields == 0 ||
	    ((block.range.end == 0 || block.number != object->block) &&
		!mu_blocks_at(walk->blocks, object->block, &block)))
		return;
	size = mu_range_size(block.range);
	if (type->stride == 0)
		follow_all(walk, declared, block.view, size, object->certain);
	for (at = 0; type->stride > 0 && size - at >= type->stride &&
	     !walk->deadline->passed;
	     at += type->stride)
		follow_all(walk, declared, block.view + at, type->stride,
		    object->certain);
}

/* Follow what is on the stack, and what gets there, until it is empty. */
static void
follow_stack(struct walk *walk)
{
	const struct mu_declared *declared;
	struct object object;
	bool later;

	while (walk->count > 0 && !walk->deadline->passed && !walk->no_memory) {
		object = walk->stack[--walk->count];
		declared = declared_of(walk, &object, &later);
		if (later)
			put_off(walk, object);
		else if (declared != NULL && object.variable)
			visit_variable(walk, &object, declared);
		else if (declared != NULL)
			visit_block(walk, &object, declared);
	}
}

/* The same with those that were put off, each time more is known. */
static void
follow_types(struct walk *walk)
{
	size_t i, count, rounds = 0;

	do {
		follow_stack(walk);
		count = walk->num_later;
		walk->num_later = 0;
		for (i = 0; i < count; i++)
			push(walk, walk->later[i]);
	} while (mu_declared_types_ask(&walk->typed->types) && count > 0 &&
	    rounds++ < ROUNDS && !walk->no_memory &&
	    mu_sys_now_ns() < walk->typed->places->deadline_ns);
	walk->count = 0;
}

/* Blocks whose class is known by their vtable. */
static bool
add_block(void *ctx, const struct mu_block *block)
{
	struct walk *walk = ctx;
	uint16_t type;

	if (!mu_block_marked(block))
		return true;
	type = walk->live->of[block->number];
	/* What an object with a tag has is declared by a name alone. */
	if (walk->live->types[type].id != 0)
		push(walk,
		    (struct object) { .block = block->number,
			.certain = walk->live->types[type].certain &&
			    walk->live->types[type].source != MU_TYPE_TAG });
	return !walk->no_memory;
}

static void
push_variables(struct walk *walk, bool local)
{
	size_t i;

	for (i = 0; i < walk->typed->count; i++)
		if ((walk->typed->variables[i].function != NULL) == local)
			push(walk,
			    (struct object) { .block = (uint32_t)i,
				.variable = true,
				.certain = !local });
}

static struct walk
open_walk(struct mu_typed *typed, struct mu_live_types *live,
    struct mu_deadline *deadline)
{
	return (struct walk) {
		.typed = typed,
		.live = live,
		.blocks = typed->places->blocks,
		.snap = typed->places->snap,
		.arena = typed->places->tables,
		.deadline = deadline,
	};
}

static enum mu_status
outcome(const struct walk *walk)
{
	if (walk->no_memory || walk->typed->no_memory ||
	    walk->typed->types.no_memory)
		return MU_ERR_NO_MEMORY;
	return walk->deadline->passed ? MU_ERR_TIMEOUT : MU_OK;
}

/* What is not proven is probable. */
static bool
take_doubts(void *ctx, const struct mu_block *block)
{
	struct walk *walk = ctx;
	uint16_t *of = &walk->live->of[block->number];
	struct mu_live_type type = walk->live->types[*of];

	if ((walk->typed->said[block->number] & MU_DOUBTED) == 0)
		return true;
	type.certain = false;
	*of = mu_live_types_add(walk->live, walk->typed->places, &type);
	return true;
}

static void
doubt_all(struct mu_live_types *live)
{
	size_t i;

	for (i = 0; i < live->count; i++)
		if (live->types[i].source == MU_TYPE_DWARF)
			live->types[i].certain = false;
}

enum mu_status
mu_typed_walk(struct mu_typed *typed, struct mu_places *places,
    struct mu_live_types *live, const struct mu_held *held,
    struct mu_deadline *deadline)
{
	struct walk walk;
	enum mu_status status;

	typed->places = places;
	walk = open_walk(typed, live, deadline);
	mu_declared_types_open(&typed->types, places);
	typed->said = mu_arena_alloc_table(
	    places->tables, places->blocks->count + 1, sizeof(*typed->said));
	if (typed->said == NULL)
		return MU_ERR_NO_MEMORY;
	if (!mu_places_ask(places, held->words, held->count))
		return MU_ERR_NO_MEMORY;
	mu_typed_add_statics(typed);
	mu_typed_add_thread_locals(typed);
	push_variables(&walk, false);
	mu_blocks_each(places->blocks, add_block, &walk);
	follow_types(&walk);
	walk.local = true;
	mu_typed_add_locals(typed);
	push_variables(&walk, true);
	follow_types(&walk);
	mu_typed_sort_variables(typed);
	status = outcome(&walk);
	if (status == MU_OK && !typed->unproven)
		status = mu_typed_prove(typed, live, held, deadline);
	if (status == MU_OK && !typed->unproven)
		mu_blocks_each(places->blocks, take_doubts, &walk);
	else
		doubt_all(live);
	return status;
}

enum mu_status
mu_typed_walk_on(struct mu_typed *typed, struct mu_live_types *live,
    const uint32_t *blocks, size_t count, struct mu_deadline *deadline)
{
	struct walk walk = open_walk(typed, live, deadline);
	size_t i;

	walk.local = true;
	for (i = 0; i < count && !walk.no_memory; i++)
		push(&walk, (struct object) { .block = blocks[i] });
	follow_types(&walk);
	return outcome(&walk);
}
