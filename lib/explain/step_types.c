/*
 * What the steps of paths are by what is declared: the types of blocks and
 * variables, and the fields in which the pointers to the next ones lie.
 */
#include <stdio.h>
#include <string.h>

#include "lib/explain/explaining.h"

#define NAME_SIZE 1024

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
	struct mu_step *step;
	size_t i;

	for (i = 0; i < count; i++) {
		step = steps[i];
		if (step->kind == MU_STEP_BLOCK)
			name_block(explaining, step);
		else if (step->address != 0 &&
		    (step->kind == MU_STEP_VARIABLE ||
			(step->points &&
			    (step->kind == MU_STEP_STACK ||
				step->kind == MU_STEP_TLS))))
			name_variable(explaining, step);
	}
}
