/*
 * What the steps of paths are by what is declared: the types of blocks and
 * variables, and the fields in which the pointers to the next ones lie.
 */
#include <stdio.h>
#include <string.h>

#include "heapwalk/subject/saved.h"
#include "lib/explain/explaining.h"
#include "lib/explain/key_text.h"
#include "lib/explain/python_element.h"

#define NAME_SIZE 1024
#define PIECES_MAX ((size_t)1 << 20)
#define QUEUE_WORDS 10 /* of a std::deque, at most */

/*
 * "orders[3].first" for the pointer at OFFSET of an object of DECLARED; NULL:
 * it has no name.
 */
static const char *
field_name(struct mu_explaining *explaining, const struct mu_declared *declared,
    size_t offset, size_t row)
{
	const struct mu_declared_field *field =
	    mu_declared_field_at(declared, offset);
	char name[NAME_SIZE], element[32] = "", index[32] = "";
	const char *rest;
	int length;

	if (field == NULL || field->name == NULL)
		return NULL;
	if (row != SIZE_MAX)
		snprintf(element, sizeof(element), "[%zu]", row);
	rest = field->stride == 0 ? NULL : strstr(field->name, "[]");
	length =
	    rest == NULL ? (int)strlen(field->name) : (int)(rest - field->name);
	if (rest != NULL || (field->stride > 0 && field->name[0] == '\0'))
		snprintf(index, sizeof(index), "[%zu]",
		    (offset - (size_t)field->offset) / field->stride);
	snprintf(name, sizeof(name), "%s%s%.*s%s%s", element,
	    field->name[0] == '\0' ? "" : ".", length, field->name, index,
	    rest == NULL ? "" : rest + 2);
	return name[0] == '\0' ? NULL
			       : mu_places_keep(&explaining->places, name);
}

/* The number of elements of the container of DECLARED at ADDRESS. */
static bool
count_elements(const struct mu_snapshot *snap,
    const struct mu_declared *declared, uintptr_t address, size_t *count)
{
	uintptr_t begin, end;

	if (!declared->counted ||
	    (!declared->count_ends && mu_snapshot_lacks_numbers(snap)) ||
	    !mu_snapshot_word(snap, address + declared->count_at, &begin))
		return false;
	*count = begin;
	if (!declared->count_ends)
		return true;
	if (declared->count_of == 0 ||
	    !mu_snapshot_word(
		snap, address + declared->count_at + sizeof(begin), &end) ||
	    end < begin)
		return false;
	*count = (end - begin) / declared->count_of;
	return true;
}

/* The place of a step in a type, and the field with its pointer. */
struct held_field {
	const struct mu_declared *declared;
	const struct mu_declared_field *field;
	uintptr_t object; /* its begin */
	uint32_t stride;  /* of a row of these; 0: it is none */
};

static bool
find_held(const struct mu_explaining *explaining, const struct mu_step *step,
    struct held_field *held)
{
	const struct mu_typed *typed = &explaining->typed;
	const uintptr_t at = step->address + step->offset;
	const struct mu_typed_variable *variable;
	const struct mu_live_type *type;
	struct mu_block block;

	*held = (struct held_field) { .declared = NULL };
	if (!step->points)
		return false;
	if (step->kind == MU_STEP_BLOCK) {
		if (explaining->types.of == NULL ||
		    !mu_blocks_find(
			explaining->graph->blocks, step->address, &block) ||
		    !mu_block_marked(&block))
			return false;
		type = mu_live_type_of(&explaining->types, block.number);
		held->declared =
		    mu_declared_types_known(&typed->types, type->id);
		held->stride = type->stride;
		held->object = step->address;
		if (type->stride != 0)
			held->object += step->offset / type->stride *
			    (uintptr_t)type->stride;
	} else {
		variable = mu_typed_variable_at(typed, at);
		if (variable == NULL || variable->reference)
			return false;
		held->declared =
		    mu_declared_types_known(&typed->types, variable->type);
		held->object = variable->range.begin;
	}
	held->field = mu_declared_field_at(held->declared, at - held->object);
	return held->declared != NULL;
}

/* A std::deque that a path leads through. */
struct queue {
	uint8_t kind; /* enum mu_declared_queue */
	uintptr_t at; /* 0: none */
};

/* The number of the piece CHUNK among the pointers from FIRST to END. */
static bool
find_piece(const struct mu_snapshot *snap, uintptr_t first, uintptr_t end,
    uintptr_t chunk, size_t *number)
{
	uintptr_t at = first, piece = 0;

	for (*number = 0; at < end && *number < PIECES_MAX;
	     at += sizeof(at), ++*number)
		if (mu_snapshot_word(snap, at, &piece) && piece == chunk)
			return true;
	return false;
}

/*
 * Of libstdc++: the map of pieces and its size; for its begin and its end the
 * element, both ends of the piece, and the piece's place in the map.
 */
static bool
find_in_nodes(const struct mu_snapshot *snap, const uintptr_t *words,
    uintptr_t chunk, size_t stride, size_t *first)
{
	size_t number, skipped;

	if (words[4] <= words[3] || words[2] < words[3] ||
	    words[9] == UINTPTR_MAX ||
	    !find_piece(snap, words[5], words[9] + 1, chunk, &number))
		return false;
	skipped = (words[2] - words[3]) / stride;
	*first = number * ((words[4] - words[3]) / stride) - skipped;
	return true;
}

/*
 * Of libc++: four words of the map, of which the second and the third are both
 * ends of the pointers to pieces; the number of the first element, and that of
 * all. A piece has 4096 bytes, or 16 elements if these are of 256 or more.
 */
static bool
find_in_split(const struct mu_snapshot *snap, const uintptr_t *words,
    uintptr_t chunk, size_t stride, size_t *first)
{
	size_t each = stride < 256 ? 4096 / stride : 16, number;

	if (words[1] < words[0] || words[2] < words[1] ||
	    !find_piece(snap, words[1], words[2], chunk, &number))
		return false;
	*first = number * each - words[4];
	return true;
}

/*
 * The index of the element of QUEUE that has byte OFFSET of its piece CHUNK;
 * false: it is not known.
 */
static bool
find_index(const struct mu_snapshot *snap, const struct queue *queue,
    uintptr_t chunk, size_t offset, size_t stride, size_t *index)
{
	const bool split = queue->kind == MU_QUEUE_SPLIT;
	uintptr_t words[QUEUE_WORDS] = { 0 };
	size_t i, first;

	for (i = 0; i < (split ? 6 : QUEUE_WORDS); i++)
		if (!mu_snapshot_word(
			snap, queue->at + i * sizeof(*words), &words[i]))
			return false;
	if (stride == 0 ||
	    !(split ? find_in_split : find_in_nodes)(
		snap, words, chunk, stride, &first))
		return false;
	/* FIRST is below zero in the first piece, if that begins with gaps. */
	*index = first + offset / stride;
	return *index <= SIZE_MAX / 2 && (!split || *index < words[5]);
}

/* The array of pointers to the nodes of an unordered container. */
static bool
is_bucket_array(const char *type)
{
	return type != NULL &&
	    (strstr(type, "_Hash_node_base*[") != NULL ||
		strstr(type, "__hash_node_base<") != NULL);
}

/* A step of a container's inside, after BEFORE; QUEUE is that of a deque. */
static void
name_element(struct mu_explaining *explaining, const struct mu_step *before,
    struct mu_step *step, struct queue *queue)
{
	const struct mu_snapshot *snap = explaining->snap;
	char name[2 * NAME_SIZE], key[NAME_SIZE] = "";
	const char *tail = step->field == NULL ? "" : step->field;
	struct held_field from, here;
	uintptr_t map;
	size_t index;

	if (!find_held(explaining, before, &from) ||
	    !find_held(explaining, step, &here))
		return;
	if (from.field != NULL && from.field->queue != MU_QUEUE_NONE)
		*queue = (struct queue) { from.field->queue,
			from.object + from.field->queue_at };
	else if (before->element == NULL)
		queue->at = 0;
	if (here.declared->num_keys > 0) {
		mu_key_text(
		    snap, here.declared, step->address, key, sizeof(key));
		if (key[0] == '\0')
			return;
		if (here.field != NULL &&
		    here.field->type == here.declared->id &&
		    step->field == NULL)
			key[0] = '\0'; /* to another node */
		if (strncmp(tail, ".second", 7) == 0)
			tail += 7;
	} else if (from.field != NULL && from.field->pieces &&
	    here.stride != 0 && !is_bucket_array(step->type)) {
		; /* the field begins with the index */
	} else if (is_bucket_array(step->type) ||
	    (queue->at != 0 && mu_snapshot_word(snap, queue->at, &map) &&
		map == step->address)) {
		tail = "";
	} else if (queue->at != 0 &&
	    find_index(snap, queue, step->address, step->offset, here.stride,
		&index)) {
		snprintf(key, sizeof(key), "%zu", index);
		tail += strcspn(tail, "]") + (strchr(tail, ']') != NULL);
	} else {
		return;
	}
	snprintf(name, sizeof(name), "%s%s%s%s", key[0] == '\0' ? "" : "[", key,
	    key[0] == '\0' ? "" : "]", tail);
	step->element = mu_places_keep(&explaining->places, name);
}

static void
name_block(struct mu_explaining *explaining, struct mu_step *step)
{
	const struct mu_live_types *live = &explaining->types;
	const struct mu_declared *declared;
	const struct mu_live_type *type;
	struct mu_block block;
	size_t row;

	if (live->of == NULL ||
	    !mu_blocks_find(explaining->graph->blocks, step->address, &block) ||
	    !mu_block_marked(&block))
		return;
	type = mu_live_type_of(live, block.number);
	step->type = mu_live_type_name(&explaining->places, type, step->size);
	step->certain = type->certain;
	step->content = type->content;
	step->counter = type->counter;
	step->object = type->offset;
	declared = mu_declared_types_known(&explaining->typed.types, type->id);
	if (!step->points || declared == NULL)
		return;
	row = type->stride == 0 ? SIZE_MAX : step->offset / type->stride;
	step->field = field_name(explaining, declared,
	    type->stride == 0 ? step->offset : step->offset % type->stride,
	    row);
}

/* A variable, or a word of a stack or of thread-local memory. */
static void
name_variable(struct mu_explaining *explaining, struct mu_step *step)
{
	const struct mu_typed_variable *variable = mu_typed_variable_at(
	    &explaining->typed, step->address + step->offset);
	const struct mu_declared *declared;

	if (variable == NULL)
		return;
	if (step->kind != MU_STEP_VARIABLE || step->name == NULL)
		step->name =
		    mu_places_keep(&explaining->places, variable->name);
	if (variable->module != NULL)
		step->module =
		    mu_places_keep(&explaining->places, variable->module);
	declared =
	    mu_declared_types_known(&explaining->typed.types, variable->type);
	if (declared == NULL || declared->name == NULL)
		return;
	step->type = mu_places_keep(&explaining->places, declared->name);
	step->certain = true;
	step->counted = count_elements(
	    explaining->snap, declared, variable->range.begin, &step->count);
	if (step->points && !variable->reference)
		step->field = field_name(explaining, declared,
		    step->address + step->offset - variable->range.begin,
		    SIZE_MAX);
}

void
mu_steps_name(struct mu_explaining *explaining, struct mu_step *const *steps,
    size_t count)
{
	char element[MU_PYTHON_ELEMENT];
	struct mu_step *step;
	struct queue queue = { .at = 0 };
	size_t i;

	for (i = 0; i < count; i++) {
		step = steps[i];
		if (step->kind == MU_STEP_BLOCK)
			name_block(explaining, step);
		if (mu_python_attribute_name(explaining, step, element))
			step->field =
			    mu_places_keep(&explaining->places, element);
		if (step->address != 0 &&
		    (step->kind == MU_STEP_VARIABLE ||
			(step->points &&
			    (step->kind == MU_STEP_STACK ||
				step->kind == MU_STEP_TLS))))
			name_variable(explaining, step);
		/* Steps of one path are neighbours in memory. */
		if (i == 0 || steps[i - 1] + 1 != step || !step->points ||
		    step->kind != MU_STEP_BLOCK)
			continue;
		if (mu_python_element_name(
			explaining, steps[i - 1], step, element))
			step->element =
			    mu_places_keep(&explaining->places, element);
		else
			name_element(explaining, steps[i - 1], step, &queue);
	}
}
