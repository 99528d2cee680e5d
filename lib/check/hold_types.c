#include "lib/check/hold_types.h"

#include <stdlib.h>
#include <string.h>

#include "lib/types/block_size.h"
#include "lib/types/containers.h"
#include "mu/array.h"
#include "mu/sys.h"

#define LAYOUTS_MAX ((size_t)4096)
#define FIELDS_MAX ((size_t)1 << 16)
#define NAME_SIZE 1024

struct mu_hold_layout {
	mu_declared_id id;
	const struct mu_declared *declared; /* NULL: nothing is known */
};

struct asking {
	struct mu_hold_types *holds;
	struct mu_block_types *types;
	struct mu_symbol_helper *helper;
	uint64_t deadline_ns;
	const struct mu_lost_group *group;

	/* The types of the blocks of the group's rows, after the example. */
	struct mu_type row[MU_GROUP_HOLDS + 1];
};

/* What is declared of ID; each is asked for once. */
static const struct mu_declared *
layout_of(struct asking *asking, mu_declared_id id)
{
	struct mu_hold_types *holds = asking->holds;
	struct mu_symbol_question question = {
		.address = (uintptr_t)id,
		.declared = MU_DECLARED_TYPE,
	};
	struct mu_symbol_answer answer = { .given = false };
	size_t i;

	for (i = 0; i < holds->num_layouts; i++)
		if (holds->layouts[i].id == id)
			return holds->layouts[i].declared;
	if (id == 0 || mu_sys_now_ns() >= asking->deadline_ns ||
	    !mu_array_room(holds->layouts, holds->num_layouts,
		holds->max_layouts, 64, LAYOUTS_MAX))
		return NULL;
	mu_symbol_helper_ask(
	    asking->helper, &question, &answer, 1, asking->deadline_ns);
	holds->layouts[holds->num_layouts++] =
	    (struct mu_hold_layout) { id, answer.declared };
	return answer.declared;
}

static void
keep_field(struct asking *asking, uintptr_t begin,
    const struct mu_declared_field *field)
{
	struct mu_hold_types *holds = asking->holds;
	char *name;

	if (field->name == NULL || field->name[0] == '\0' ||
	    !mu_array_room(
		holds->fields, holds->count, holds->max, 64, FIELDS_MAX))
		return;
	name = strdup(field->name);
	if (name != NULL)
		holds->fields[holds->count++] =
		    (struct mu_hold_field) { begin, name };
}

/* A row of COUNT (0: not known) of what DECLARED is; NULL: no memory. */
static const char *
name_row(struct mu_hold_types *holds, const struct mu_declared *declared,
    size_t count)
{
	char name[NAME_SIZE];

	mu_type_row_name(name, sizeof(name), declared->name, count);
	if (!mu_array_room(holds->names, holds->num_names, holds->max_names, 64,
		FIELDS_MAX) ||
	    (holds->names[holds->num_names] = strdup(name)) == NULL)
		return NULL;
	return holds->names[holds->num_names++];
}

/* A row of COUNT (0: not known) of what DECLARED is. */
static void
declare_row(struct asking *asking, const struct mu_declared *declared,
    size_t count, struct mu_type *row)
{
	*row = (struct mu_type) {
		.name = name_row(asking->holds, declared, count),
		.source = MU_TYPE_DWARF,
		.id = declared->id,
		.stride = declared->scalar ? 0 : (size_t)declared->size,
	};
}

/* The type that FIELD, of an object of TYPE, declares for HOLD. */
static void
declare(struct asking *asking, const struct mu_type *type,
    const struct mu_declared_field *field, const struct mu_lost_hold *hold,
    struct mu_type *row)
{
	const struct mu_declared *target = layout_of(asking, field->type);
	bool better = row->name == NULL || row->source == MU_TYPE_CONTENT ||
	    (!row->certain &&
		(row->source == MU_TYPE_DWARF ||
		    (row->source == MU_TYPE_CONTAINER && row->id == 0)));
	bool agrees;
	size_t count;

	if (target == NULL || target->name == NULL || target->virtual ||
	    target->node_base || !better || field->type == 0 ||
	    target->size == 0)
		return;
	if (target->scalar) {
		if (row->name != NULL && target->num_fields == 0)
			return;
		declare_row(asking, target, 0, row);
		row->certain =
		    type->certain && !field->one_of && target->num_fields > 0;
		return;
	}
	count = hold->size / target->size;
	if (!mu_block_fits(target->size, hold->size)) {
		if (row->name == NULL && count > 1 &&
		    (!field->one_of || field->pieces) &&
		    mu_block_fits(count * target->size, hold->size))
			declare_row(asking, target,
			    mu_lost_hold_mixed(hold) ? 0 : count, row);
		return;
	}
	/* The pointer may be an old one: what the block holds has to agree. */
	agrees = row->name != NULL && strcmp(row->name, target->name) == 0;
	*row = (struct mu_type) {
		.name = target->name,
		.source = MU_TYPE_DWARF,
		.certain = agrees && type->certain && !field->one_of &&
		    !target->extended && target->complete &&
		    mu_block_of_chunk(hold->size),
		.id = target->id,
	};
}

/*
 * FIELD leads to a node as all containers have it, whose element is not
 * declared: another field of the container that HOLD is in may know it. A hash
 * table points to its first node twice.
 */
static const struct mu_declared_field *
find_node(struct asking *asking, const struct mu_lost_hold *hold,
    const struct mu_declared_field *field)
{
	const struct mu_declared *target = layout_of(asking, field->type);
	const struct mu_lost_hold *row;
	const struct mu_declared *owner;
	const struct mu_declared_field *of, *other;
	size_t i;

	if (target == NULL || !target->node_base || hold->parent == 0)
		return field;
	row = &asking->group->holds[hold->parent - 1];
	owner = layout_of(asking, asking->row[row->parent].id);
	of = mu_declared_field_at(owner, row->offset);
	for (i = 0; of != NULL && i < owner->num_fields; i++) {
		other = &owner->fields[i];
		target = other == of || strcmp(other->name, of->name) != 0
		    ? NULL
		    : layout_of(asking, other->type);
		if (target != NULL && !target->node_base &&
		    mu_block_fits(target->size, hold->size))
			return other;
	}
	return field;
}

/* A part of a container without a declared type leads to more of it. */
static void
follow_part(const struct mu_type *type, size_t size,
    const struct mu_lost_hold *hold, struct mu_type *row)
{
	const char *name;
	bool same;

	if (row->name != NULL || type->name == NULL ||
	    type->source != MU_TYPE_CONTAINER || type->id != 0)
		return;
	name = mu_part_below(type->name, &same);
	if (name != NULL && (!same || hold->size == size))
		*row = (struct mu_type) { .name = name,
			.source = MU_TYPE_CONTAINER };
}

static void
ask_hold(struct asking *asking, size_t index)
{
	const struct mu_lost_hold *hold = &asking->group->holds[index];
	const struct mu_type *type = &asking->row[hold->parent];
	struct mu_type *row = &asking->row[1 + index];
	struct mu_type *place = mu_block_types_at(asking->types, hold->address);
	const struct mu_declared_field *field;
	size_t offset = hold->offset;

	mu_block_types_find(asking->types, hold->address, row);
	if (hold->parent > 0 && place != NULL) {
		follow_part(type, asking->group->holds[hold->parent - 1].size,
		    hold, row);
		*place = *row;
	}
	if (type->stride > 0)
		offset %= type->stride;
	field = mu_declared_field_at(layout_of(asking, type->id), offset);
	if (field == NULL)
		return;
	keep_field(asking, hold->address, field);
	if (place == NULL)
		return;
	declare(asking, type, find_node(asking, hold, field), hold, row);
	*place = *row;
}

/* The field that leads back to the example. */
static void
ask_back(struct asking *asking, uintptr_t example)
{
	const struct mu_lost_group *group = asking->group;
	const struct mu_type *type = &asking->row[group->back];
	const struct mu_declared_field *field = mu_declared_field_at(
	    layout_of(asking, type->id),
	    type->stride > 0 ? group->back_at % type->stride : group->back_at);

	if (field != NULL)
		keep_field(asking, example, field);
}

static int
compare(const void *a, const void *b)
{
	const struct mu_hold_field *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

void
mu_hold_types_ask(struct mu_hold_types *holds, struct mu_block_types *types,
    const struct mu_entries *entries, struct mu_symbol_helper *helper,
    uint64_t deadline_ns)
{
	struct asking asking = { .holds = holds,
		.types = types,
		.helper = helper,
		.deadline_ns = deadline_ns };
	struct mu_groups_at at;
	size_t i;

	mu_groups_open(&at, entries);
	while ((asking.group = mu_groups_next(&at)) != NULL) {
		mu_block_types_find(types, at.example.begin, &asking.row[0]);
		for (i = 0; i < asking.group->num_holds; i++)
			if (asking.group->holds[i].parent <= i)
				ask_hold(&asking, i);
		if (asking.group->back > 0)
			ask_back(&asking, at.example.begin);
	}
	if (holds->count > 0)
		qsort(holds->fields, holds->count, sizeof(*holds->fields),
		    compare);
}

const char *
mu_hold_types_field(const struct mu_hold_types *holds, uintptr_t begin)
{
	const struct mu_hold_field key = { begin, NULL }, *found = NULL;

	if (holds->count > 0)
		found = bsearch(&key, holds->fields, holds->count,
		    sizeof(*holds->fields), compare);
	return found == NULL ? NULL : found->name;
}

void
mu_hold_types_close(struct mu_hold_types *holds)
{
	size_t i;

	for (i = 0; i < holds->count; i++)
		free(holds->fields[i].name);
	for (i = 0; i < holds->num_names; i++)
		free(holds->names[i]);
	free(holds->names);
	free(holds->fields);
	free(holds->layouts);
	*holds = (struct mu_hold_types) { .count = 0 };
}
