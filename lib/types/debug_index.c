#include "lib/types/debug_index.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/types/entry.h"
#include "mu/array.h"
#include "mu/bisect.h"
#include "mu/hash.h"
#include "mu/sys.h"

#define TYPES_MAX ((size_t)1 << 22)
#define DIES_MAX ((size_t)1 << 25)
#define VARIABLES_MAX ((size_t)1 << 22)
#define TEXTS_MAX ((size_t)1 << 30)
#define NAME_MAX_LENGTH 2048
#define DEPTH_MAX 16
#define DEADLINE_EVERY 1024 /* entries between two looks at the clock */
#define FIRST_SLOTS ((size_t)1 << 12)

static uint64_t
hash_on(uint64_t hash, const char *text)
{
	for (; *text != '\0'; text++)
		if (*text != ' ')
			hash = mu_hash_on(hash, text, 1);
	return hash;
}

uint64_t
mu_debug_name_hash(const char *around, const char *name)
{
	uint64_t hash = MU_HASH_NONE;

	if (around[0] != '\0')
		hash = hash_on(hash_on(hash, around), "::");
	return hash_on(hash, name);
}

static bool
is_late(struct mu_debug_index *index)
{
	if (++index->seen % DEADLINE_EVERY == 0 &&
	    mu_sys_now_ns() >= index->deadline_ns)
		index->failed = index->late = true;
	return index->failed;
}

static uint32_t *
find_slot(const struct mu_debug_index *index, uint64_t hash, uint64_t size)
{
	size_t at = (size_t)(hash ^ hash >> 32) & (index->num_slots - 1);
	const struct mu_indexed_type *type;

	for (; index->slots[at] != 0; at = (at + 1) & (index->num_slots - 1)) {
		type = &index->types[index->slots[at] - 1];
		if (type->hash == hash && (size == 0 || type->size == size))
			break;
	}
	return &index->slots[at];
}

static bool
make_slots(struct mu_debug_index *index)
{
	size_t i,
	    num = index->num_slots == 0 ? FIRST_SLOTS : 2 * index->num_slots;
	const struct mu_indexed_type *type;

	if (index->num_types < index->num_slots / 2)
		return true;
	free(index->slots);
	index->slots = calloc(num, sizeof(*index->slots));
	index->num_slots = index->slots == NULL ? 0 : num;
	for (i = 0; index->slots != NULL && i < index->num_types; i++) {
		type = &index->types[i];
		*find_slot(index, type->hash, type->size) = (uint32_t)(1 + i);
	}
	return index->slots != NULL;
}

const char *
mu_debug_index_text(const struct mu_debug_index *index, uint32_t text)
{
	return text < index->num_texts ? index->texts + text : "";
}

/* Copy TEXT; *OFFSET is that of the copy. */
static bool
add_text(struct mu_debug_index *index, const char *text, uint32_t *offset)
{
	size_t size = strlen(text) + 1;

	while (size > index->max_texts - index->num_texts)
		if (!mu_array_more(&index->texts, &index->max_texts, 1, 1 << 16,
			TEXTS_MAX))
			return false;
	*offset = (uint32_t)index->num_texts;
	memcpy(index->texts + index->num_texts, text, size);
	index->num_texts += size;
	return true;
}

/*
 * Enter the structure DIE, NAME in the namespaces AROUND. Returns 1 + its
 * index, or 0.
 */
static size_t
add_type(struct mu_debug_index *index, Dwarf_Die *die, uint32_t around,
    const char *name)
{
	struct mu_indexed_type type = { .around = around };
	uint32_t *slot;

	if (!mu_entry_size(die, &type.size) || !make_slots(index)) {
		index->failed |= index->slots == NULL;
		return 0;
	}
	type.hash = type.own = mu_debug_name_hash("", name);
	if (mu_debug_index_text(index, around)[0] != '\0')
		type.hash = mu_debug_name_hash(
		    mu_debug_index_text(index, around), name);
	type.ref = mu_die_ref_of(index, die);
	slot = find_slot(index, type.hash, type.size);
	if (*slot == 0 && add_text(index, name, &type.name) &&
	    mu_array_room(index->types, index->num_types, index->max_types,
		4096, TYPES_MAX)) {
		index->types[index->num_types++] = type;
		*slot = (uint32_t)index->num_types;
	}
	if (*slot == 0 ||
	    !mu_array_room(index->dies, index->num_dies, index->max_dies, 4096,
		DIES_MAX)) {
		index->failed = true;
		return 0;
	}
	index->dies[index->num_dies++] =
	    (struct mu_indexed_die) { type.ref, *slot - 1 };
	return *slot;
}

/*
 * A hash of the kind and name of TYPE, and of what it points to: pointers of
 * structures to others of their kind, OWN being the name's hash, are alike.
 */
static uint64_t
kind_of(Dwarf_Die *type, uint64_t own)
{
	const char *name = dwarf_diename(type);
	Dwarf_Die target;
	uint64_t hash;

	if (name == NULL && mu_entry_type(type, &target))
		name = dwarf_diename(&target);
	hash = mu_debug_name_hash("", name == NULL ? "" : name);
	return (hash == own ? 0 : hash) + (uint64_t)dwarf_tag(type);
}

/*
 * Note with what a structure begins, MEMBER of which is at its begin; 1 + its
 * index is STRUCTURE.
 */
static void
add_beginning(struct mu_debug_index *index, Dwarf_Die *member, size_t structure)
{
	Dwarf_Die type;
	const char *name;
	uint64_t offset = 1;

	if (!mu_entry_member(member, &offset) || offset != 0 ||
	    !mu_entry_type(member, &type))
		return;
	if (structure > 0 && index->types[structure - 1].first == 0)
		index->types[structure - 1].first =
		    kind_of(&type, index->types[structure - 1].own);
	if (!mu_entry_is_structure(&type))
		return;
	name = dwarf_diename(&type);
	if (name == NULL)
		return;
	if (!mu_array_room(index->beginnings, index->num_beginnings,
		index->max_beginnings, 1024, DIES_MAX)) {
		index->failed = true;
		return;
	}
	index->beginnings[index->num_beginnings++] =
	    mu_debug_name_hash("", name);
}

static void
add_variable(struct mu_debug_index *index, Dwarf_Die *die)
{
	struct mu_indexed_variable variable = { .ref =
						    mu_die_ref_of(index, die) };
	struct mu_indexed_variables *list = &index->variables;
	Dwarf_Word value;

	switch (mu_entry_location(die, &value)) {
	case MU_ENTRY_STATIC:
		variable.address = value;
		break;
	case MU_ENTRY_THREAD:
		variable.address = value;
		list = &index->thread;
		break;
	default:
		return;
	}
	if (mu_array_room(
		list->list, list->count, list->max, 256, VARIABLES_MAX))
		list->list[list->count++] = variable;
	else
		index->failed = true;
}

/*
 * The text AROUND::NAME. Most namespaces are entered again and again: the last
 * few are compared.
 */
static bool
scope_of(struct mu_debug_index *index, uint32_t around, const char *name,
    uint32_t *scope)
{
	char text[NAME_MAX_LENGTH];
	size_t i, known = index->num_scopes;
	const char *outer = mu_debug_index_text(index, around);
	int length = snprintf(text, sizeof(text), "%s%s%s", outer,
	    outer[0] == '\0' ? "" : "::", name);

	if (length < 0 || (size_t)length >= sizeof(text))
		return false;
	for (i = 1; i <= known && i <= MU_INDEX_SCOPES; i++) {
		*scope = index->scopes[(known - i) % MU_INDEX_SCOPES];
		if (strcmp(mu_debug_index_text(index, *scope), text) == 0)
			return true;
	}
	if (!add_text(index, text, scope))
		return false;
	index->scopes[index->num_scopes++ % MU_INDEX_SCOPES] = *scope;
	return true;
}

static void index_scope(struct mu_debug_index *index, Dwarf_Die *scope,
    uint32_t around, size_t structure, int depth);

/*
 * gcc has the definition of a type at the top of its unit, and refers to a
 * declaration that is where it belongs. *AROUND is the namespaces there.
 */
static void
find_scope(struct mu_debug_index *index, Dwarf_Die *die, uint32_t *around)
{
	Dwarf_Attribute attribute;
	Dwarf_Die declaration, *scopes = NULL;
	const char *name;
	int i, count = 0;

	if (dwarf_formref_die(dwarf_attr(die, DW_AT_specification, &attribute),
		&declaration) != NULL)
		count = dwarf_getscopes_die(&declaration, &scopes);
	/* The first one is the declaration, the last one the unit. */
	for (i = count - 2; i > 0; i--) {
		name = dwarf_diename(&scopes[i]);
		if (!scope_of(index, *around,
			name == NULL ? "(anonymous namespace)" : name, around))
			break;
	}
	free(scopes);
}

/* Note with what the structure DIE begins, which is known but for that. */
static void
index_beginning(struct mu_debug_index *index, Dwarf_Die *die, size_t structure)
{
	Dwarf_Die member;
	uint64_t offset;
	int tag;

	if (dwarf_child(die, &member) != 0)
		return;
	do {
		tag = dwarf_tag(&member);
		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (mu_entry_member(&member, &offset) && offset != 0)
			break;
		add_beginning(index, &member, structure);
	} while (dwarf_siblingof(&member, &member) == 0);
}

/* Most units repeat structures that others have. */
static void
index_structure(
    struct mu_debug_index *index, Dwarf_Die *die, uint32_t around, int depth)
{
	const char *name = dwarf_diename(die);
	const size_t before = index->num_types;
	size_t structure = SIZE_MAX;
	bool known, nested = false;

	if (dwarf_hasattr(die, DW_AT_declaration))
		return;
	if (depth == 0 && index->type_unit)
		find_scope(index, die, &around);
	if (name != NULL) {
		structure = add_type(index, die, around, name);
		known = structure > 0 && index->num_types == before;
		nested = known ? index->types[structure - 1].nested != 0
			       : mu_entry_has_types(die);
		if (index->num_types > before)
			index->types[structure - 1].nested = nested;
		if (known && !nested) {
			index_beginning(index, die, structure);
			return;
		}
	}
	if (!nested || scope_of(index, around, name, &around))
		index_scope(index, die, around, structure, depth + 1);
}

/* A structure without a name has that of its typedef. */
static void
index_typedef(struct mu_debug_index *index, Dwarf_Die *die, uint32_t around)
{
	const char *name = dwarf_diename(die);
	Dwarf_Die type;

	if (name != NULL && mu_entry_type(die, &type) &&
	    mu_entry_is_structure(&type) && dwarf_diename(&type) == NULL &&
	    !dwarf_hasattr(&type, DW_AT_declaration))
		add_type(index, &type, around, name);
}

static void
index_namespace(
    struct mu_debug_index *index, Dwarf_Die *die, uint32_t around, int depth)
{
	const char *name = dwarf_diename(die);

	if (scope_of(index, around,
		name == NULL ? "(anonymous namespace)" : name, &around))
		index_scope(index, die, around, 0, depth + 1);
}

/*
 * Enter what is in SCOPE: a unit or a namespace named AROUND, or a structure: 1
 * + its index, or SIZE_MAX if it has none.
 */
static void
index_scope(struct mu_debug_index *index, Dwarf_Die *scope, uint32_t around,
    size_t structure, int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(scope, &die) != 0)
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_namespace:
			index_namespace(index, &die, around, depth);
			break;
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			index_structure(index, &die, around, depth);
			break;
		case DW_TAG_typedef:
			if (structure == 0)
				index_typedef(index, &die, around);
			break;
		case DW_TAG_variable:
			add_variable(index, &die);
			break;
		case DW_TAG_imported_unit:
			mu_debug_import(index, &die);
			break;
		case DW_TAG_member:
		case DW_TAG_inheritance:
			add_beginning(
			    index, &die, structure == SIZE_MAX ? 0 : structure);
			break;
		default:
			break;
		}
	} while (!is_late(index) && dwarf_siblingof(&die, &die) == 0);
}

/* The static variables in DIE: a function, a block, or what may have some. */
static void
index_deep(
    struct mu_debug_index *index, Dwarf_Die *scope, bool function, int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(scope, &die) != 0)
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			if (function)
				add_variable(index, &die);
			break;
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			index_deep(index, &die, true, depth + 1);
			break;
		case DW_TAG_namespace:
			index_deep(index, &die, false, depth + 1);
			break;
		default:
			break;
		}
	} while (!is_late(index) && dwarf_siblingof(&die, &die) == 0);
}

/* Not all compilers write .debug_aranges. */
static void
add_code(struct mu_debug_index *index, Dwarf_Die *unit, Dwarf_Die *here)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(here, at, &base, &begin, &end)) > 0 &&
	    mu_array_room(
		index->code, index->num_code, index->max_code, 256, DIES_MAX))
		index->code[index->num_code++] =
		    (struct mu_indexed_code) { begin, end,
			    mu_die_ref_of(index, unit) };
}

static int
compare_code(const void *a, const void *b)
{
	const struct mu_indexed_code *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int
compare_refs(const void *a, const void *b)
{
	const struct mu_indexed_die *x = a, *y = b;

	return x->ref < y->ref ? -1 : x->ref > y->ref;
}

static int
compare_variables(const void *a, const void *b)
{
	const struct mu_indexed_variable *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int
compare_hashes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* qsort() takes as much memory again; entries are mostly in order. */
static void
sort(void *list, size_t count, size_t size,
    int (*compare)(const void *, const void *))
{
	size_t i;

	for (i = 1; i < count; i++)
		if (compare(list + (i - 1) * size, list + i * size) > 0)
			break;
	if (i < count)
		qsort(list, count, size, compare);
}

/* What malloc(SIZE) of glibc gives room for. */
static uint64_t
room_of(uint64_t size)
{
	return size <= 24 ? 24 : ((size + 8 + 15) & ~(uint64_t)15) - 8;
}

/* Types by room and beginning. */
struct order {
	uint64_t room, first;
	size_t type;
};

static int
compare_orders(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->room != y->room)
		return x->room < y->room ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * A pointer to a structure may lead to another one of which it knows the
 * beginning only, as those of C that are "derived" by equal first members.
 */
static void
find_alike(struct mu_debug_index *index)
{
	struct order *orders = calloc(index->num_types + 1, sizeof(*orders));
	size_t i;

	if (orders == NULL) {
		index->failed = true;
		return;
	}
	for (i = 0; i < index->num_types; i++)
		orders[i] = (struct order) { room_of(index->types[i].size),
			index->types[i].first, i };
	sort(orders, index->num_types, sizeof(*orders), compare_orders);
	for (i = 1; i < index->num_types; i++)
		if (compare_orders(&orders[i - 1], &orders[i]) == 0)
			index->types[orders[i - 1].type].alike =
			    index->types[orders[i].type].alike = 1;
	free(orders);
}

static void
index_unit(struct mu_debug_index *index, Dwarf_Die *unit, Dwarf_Die *here)
{
	index->type_unit = dwarf_tag(unit) == DW_TAG_type_unit;
	index_scope(index, unit, 0, 0, 0);
	add_code(index, unit, here);
}

static void
index_unit_deep(struct mu_debug_index *index, Dwarf_Die *unit, Dwarf_Die *here)
{
	(void)here;
	index_deep(index, unit, false, 0);
}

void
mu_debug_index_make(struct mu_debug_index *index, uint64_t deadline_ns)
{
	uint32_t none;

	index->asked = true;
	index->deadline_ns = deadline_ns;
	index->failed = !add_text(index, "", &none); /* at offset 0 */
	mu_debug_units(index, index_unit);
	sort(index->code, index->num_code, sizeof(*index->code), compare_code);
	find_alike(index);
	sort(index->dies, index->num_dies, sizeof(*index->dies), compare_refs);
	sort(index->variables.list, index->variables.count,
	    sizeof(*index->variables.list), compare_variables);
	sort(index->thread.list, index->thread.count,
	    sizeof(*index->thread.list), compare_variables);
	sort(index->beginnings, index->num_beginnings,
	    sizeof(*index->beginnings), compare_hashes);
}

void
mu_debug_index_deepen(struct mu_debug_index *index, uint64_t deadline_ns)
{
	bool failed = index->failed;

	index->deep = true;
	index->failed = false;
	index->deadline_ns = deadline_ns;
	mu_debug_units(index, index_unit_deep);
	index->failed = failed;
	sort(index->variables.list, index->variables.count,
	    sizeof(*index->variables.list), compare_variables);
	sort(index->thread.list, index->thread.count,
	    sizeof(*index->thread.list), compare_variables);
}

const struct mu_indexed_type *
mu_debug_index_named(const struct mu_debug_index *index, uint64_t hash)
{
	uint32_t slot;

	if (index->num_slots == 0)
		return NULL;
	slot = *find_slot(index, hash, 0);
	return slot == 0 ? NULL : &index->types[slot - 1];
}

const struct mu_indexed_type *
mu_debug_index_at(const struct mu_debug_index *index, mu_die_ref ref)
{
	size_t low = 0;

	mu_bisect(low, index->num_dies, i, index->dies[i].ref < ref);
	if (low == index->num_dies || index->dies[low].ref != ref)
		return NULL;
	return &index->types[index->dies[low].type];
}

const struct mu_indexed_variable *
mu_debug_index_variable(const struct mu_debug_index *index, uint64_t address)
{
	const struct mu_indexed_variables *list = &index->variables;
	size_t low = 0;

	mu_bisect(low, list->count, i, list->list[i].address <= address);
	return low == 0 ? NULL : &list->list[low - 1];
}

bool
mu_debug_index_unit(
    const struct mu_debug_index *index, Dwarf_Addr address, mu_die_ref *ref)
{
	size_t low = 0;

	mu_bisect(low, index->num_code, i, index->code[i].begin <= address);
	if (low == 0 || address >= index->code[low - 1].end)
		return false;
	*ref = index->code[low - 1].ref;
	return true;
}

bool
mu_debug_index_begins(const struct mu_debug_index *index, uint64_t own)
{
	size_t low = 0;

	mu_bisect(low, index->num_beginnings, i, index->beginnings[i] < own);
	return low < index->num_beginnings && index->beginnings[low] == own;
}
