#include "lib/types/types.h"

#include <stdlib.h>
#include <string.h>

#include "lib/types/containers.h"
#include "lib/types/counted_text.h"
#include "lib/types/cxx_object.h"
#include "lib/types/declarations.h"
#include "lib/types/gobject.h"
#include "lib/types/held_part.h"
#include "lib/types/plain_name.h"
#include "lib/types/postgres_block.h"
#include "lib/types/python_object.h"
#include "lib/types/qt_block.h"
#include "lib/types/runtime_block.h"
#include "lib/types/structure.h"
#include "lib/types/text_block.h"

#define VERDICTS 1024 /* a power of 2 */

/* If debug information confirms the class that a block begins like. */
struct verdict {
	uintptr_t vptr;
	size_t size; /* 0: empty */
	bool confirmed;
};

struct mu_types {
	struct mu_symbols *symbols;
	struct mu_vtable_cache vtables;
	struct mu_gobjects gobjects;
	struct mu_held_parts parts;
	struct mu_qt_blocks qt;
	struct mu_postgres_blocks postgres;
	struct mu_structures structures;
	struct mu_call_sites sites;
	struct mu_declarations declarations;
	struct verdict verdicts[VERDICTS];
	bool python_asked, python; /* it is there */
	struct mu_block_head head;
	char name[MU_TYPE_NAME_SIZE], python_name[MU_PYTHON_NAME];
	char text[MU_TYPE_TEXT_MAX + 4];
};

/* False if BLOCK has changed: then it is another one by now. */
static bool
read_head(struct mu_types *types, const struct mu_typed_block *block)
{
	struct mu_block_head *head = &types->head;
	size_t wanted = block->size;

	if (wanted > sizeof(head->words))
		wanted = sizeof(head->words);
	head->begin = block->begin;
	head->size = block->size;
	head->count = mu_subject_bytes(
			  types->symbols, block->begin, head->words, wanted) /
	    sizeof(*head->words);
	return block->begin % sizeof(*head->words) == 0 && head->count > 0 &&
	    block->num_head <= head->count * sizeof(*head->words) &&
	    memcmp(head->words, block->head, block->num_head) == 0;
}

/*
 * A block that begins like an object is one only if it has its size. It may
 * also be a structure whose first member is that object; or it was never
 * written, and begins with what is left of an object that was there before.
 */
static bool
is_confirmed(struct mu_types *types, const struct mu_type *type)
{
	const struct mu_block_head *head = &types->head;
	struct verdict *verdict =
	    &types->verdicts[(head->words[0] / sizeof(uintptr_t) + head->size) &
		(VERDICTS - 1)];

	if (type->stride != 0)
		return mu_structure_confirms(&types->structures, type->name,
		    (size_t)(strrchr(type->name, '[') - type->name), head->size,
		    type->stride);
	if (verdict->vptr != head->words[0] || verdict->size != head->size)
		*verdict = (struct verdict) {
			.vptr = head->words[0],
			.size = head->size,
			.confirmed = mu_structure_confirms(&types->structures,
			    type->name, strlen(type->name), head->size, 0),
		};
	return verdict->confirmed;
}

/* What the object that leads to it is. */
static bool
find_python_part(
    struct mu_types *types, uintptr_t held_at, struct mu_type *type)
{
	if (!types->python_asked)
		types->python = mu_python_is_there(types->symbols);
	types->python_asked = true;
	return types->python && held_at != 0 &&
	    mu_python_part_find(
		types->symbols, held_at, types->python_name, type);
}

/* What leads to it, or it itself, is a container of one of LIBRARIES. */
static bool
find_part(struct mu_types *types, uintptr_t held_at, unsigned libraries,
    struct mu_type *type)
{
	const struct mu_block_head *head = &types->head;

	return mu_held_part_find(&types->parts, types->symbols, head, held_at,
		   libraries, type) ||
	    ((libraries & MU_LIBRARY_CXX) == 0 &&
		mu_held_part_find(&types->parts, types->symbols, head,
		    head->begin, libraries, type));
}

/* A proven type is better than a probable one, and any type than contents. */
static bool
find_type(struct mu_types *types, uintptr_t held_at, struct mu_type *type)
{
	struct mu_symbols *symbols = types->symbols;
	const struct mu_block_head *head = &types->head;
	struct mu_type tagged;
	bool found =
	    mu_cxx_object_find(&types->vtables, head, types->name, type);

	if (found && type->certain && type->source != MU_TYPE_CONTAINER)
		type->certain = is_confirmed(types, type);
	if (found && type->certain)
		return true;
	if (mu_postgres_block_find(&types->postgres, symbols, head, &tagged) ||
	    mu_gobject_find(&types->gobjects, symbols, head, &tagged) ||
	    mu_python_object_find(symbols, head, types->python_name, &tagged)) {
		if (tagged.certain ||
		    !find_part(types, 0, MU_LIBRARY_GLIB, type) ||
		    !types->parts.slices)
			*type = tagged;
		return true;
	}
	if (found || mu_runtime_block_find(symbols, head, type))
		return true;
	if (mu_text_block_find(symbols, head, types->text, type)) {
		/* What a chunk or a node has there may be old. */
		if (find_part(types, held_at, MU_LIBRARY_CXX, &tagged) &&
		    !types->parts.elements)
			*type = tagged;
		return true;
	}
	if (mu_counted_text_find(head, types->text, type))
		return true;
	found = find_part(types, held_at, ~(unsigned)MU_LIBRARY_CXX, &tagged);
	if (found && !types->parts.node) {
		*type = tagged;
		return true;
	}
	if (mu_structure_find(&types->structures, head, type))
		return true;
	if (found) {
		*type = tagged;
		return true;
	}
	return mu_qt_block_find(&types->qt, symbols, head, type) ||
	    find_part(types, held_at, MU_LIBRARY_CXX, type) ||
	    mu_text_pointer_find(symbols, head, types->text, type) ||
	    find_python_part(types, held_at, type);
}

/* NULL: there is no memory. */
static struct mu_types *
open_types(void **state, struct mu_symbols *symbols)
{
	struct mu_types *types = *state;

	if (types == NULL)
		*state = types = calloc(1, sizeof(*types));
	if (types == NULL)
		return NULL;
	types->symbols = types->vtables.symbols = types->declarations.symbols =
	    symbols;
	types->structures.declarations = &types->declarations;
	types->structures.sites = &types->sites;
	return types;
}

/* What debug information has of the class of a whole object. */
static void
find_declaration(struct mu_types *types, struct mu_type *type)
{
	uintptr_t address = types->head.words[0];
	const struct mu_vtable *vtable =
	    mu_vtable_known(&types->vtables, address);
	const char *name =
	    vtable == NULL ? types->structures.class : vtable->name;
	const struct mu_loaded *list;
	size_t count = 0;

	list = mu_symbols_loaded(types->symbols, &count);
	if (vtable == NULL && count > 0)
		address = list[0].first->range.begin; /* the program's */
	if (name != NULL && type->offset == 0 && type->stride == 0)
		type->id =
		    mu_declarations_named(&types->declarations, address, name);
}

/*
 * The structure of an object, which has its name by custom: ShopBasket, or
 * "struct _ShopBasket" with a typedef.
 */
static void
find_gobject_declaration(struct mu_types *types, struct mu_type *type)
{
	const struct mu_loaded *list;
	const struct mu_declared *declared;
	char name[sizeof(types->gobjects.name) + 1] = "_";
	size_t count = 0, i;

	list = mu_symbols_loaded(types->symbols, &count);
	if (count == 0 || type->offset != 0)
		return;
	memcpy(name + 1, types->gobjects.name, sizeof(types->gobjects.name));
	for (i = 2; type->id == 0 && i-- > 0;) {
		type->id = mu_declarations_named(
		    &types->declarations, list[0].first->range.begin, name + i);
		declared = type->id == 0
		    ? NULL
		    : mu_declarations_answer(
			  &types->declarations, MU_DECLARED_TYPE, type->id);
		if (declared == NULL ||
		    declared->size != types->gobjects.instance_size)
			type->id = 0;
	}
}

/*
 * Where the block was probably allocated: found by the size of its type if that
 * is a structure, otherwise by that of the block.
 */
static void
find_site(struct mu_types *types, struct mu_type *type)
{
	const char *name = types->structures.class;
	size_t usable = types->head.size;
	uint64_t size = 0;

	if (type->source == MU_TYPE_CONTENT || type->offset != 0)
		return;
	if (type->name != NULL) {
		size = mu_structure_size(&types->structures,
		    name == NULL ? type->name : name, usable);
		if (size == 0)
			return;
	}
	type->site =
	    mu_call_sites_find(&types->sites, types->symbols, usable, size);
}

bool
mu_types_answer(void **state, struct mu_symbols *symbols,
    const struct mu_typed_block *block, struct mu_type *type)
{
	struct mu_types *types = open_types(state, symbols);

	*type = (struct mu_type) { .source = MU_TYPE_NONE };
	if (types != NULL)
		types->structures.class = NULL;
	if (types == NULL || !read_head(types, block))
		return false;
	if (!find_type(types, block->held_at, type))
		*type = (struct mu_type) { .source = MU_TYPE_NONE };
	if (block->declared)
		find_site(types, type);
	if (type->source == MU_TYPE_NONE)
		return type->site != NULL;
	if (block->declared &&
	    (type->source == MU_TYPE_VTABLE || type->source == MU_TYPE_RTTI ||
		type->source == MU_TYPE_DWARF ||
		type->source == MU_TYPE_CONTAINER))
		find_declaration(types, type);
	else if (block->declared && type->source == MU_TYPE_TAG &&
	    types->gobjects.instance_size > 0)
		find_gobject_declaration(types, type);
	mu_plain_name(types->name); /* of a class; of others it is plain */
	return true;
}

const struct mu_declared *
mu_types_declared(void **state, struct mu_symbols *symbols,
    enum mu_declared_question question, uint64_t address)
{
	struct mu_types *types = open_types(state, symbols);

	return types == NULL
	    ? NULL
	    : mu_declarations_answer(&types->declarations, question, address);
}
