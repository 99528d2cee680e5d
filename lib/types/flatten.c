/*
 * A type as a list of the pointers in it: what its bases, members and arrays
 * have is its own.
 *
 * Containers of libstdc++ and libc++ declare pointers to the part that all
 * nodes begin with. What they lead to are nodes of the container's elements.
 */
#include <bsd/string.h>
#include <dwarf.h>
#include <string.h>

#include "lib/types/container_key.h"
#include "lib/types/container_part.h"
#include "lib/types/declaring.h"
#include "lib/types/entry.h"
#include "lib/types/plain_name.h"

#define WORD sizeof(uintptr_t)
#define DEPTH_MAX 24
#define EXPANDED 8 /* elements of an array inside an array */
#define NAME_MAX_LENGTH ((size_t)2048)
#define PATH_LENGTH ((size_t)256)

struct flattening {
	const struct mu_declaring *declaring;
	struct mu_declared *answer;
	char path[PATH_LENGTH]; /* of members */
	uint32_t count, stride; /* inside an array */
	bool one_of;            /* inside a union */
	bool container;         /* the type itself is one, or a base of it */
	bool keyed;             /* a node of a map or set, before its key */
	uint8_t queue;          /* inside a std::deque, at QUEUE_AT */
	uint32_t queue_at;
	bool has_node;
	Dwarf_Die node; /* what pointers to a part of nodes lead to */
};

static void flatten(
    struct flattening *flat, Dwarf_Die *type, uint64_t offset, int depth);

/* True if NAME is that of a part that nodes of any elements begin with. */
static bool
is_node_base(const char *name)
{
	static const char *const names[] = { "_Rb_tree_node_base",
		"_List_node_base", "_Fwd_list_node_base", "_Hash_node_base",
		"__tree_node_base<", "__tree_end_node<", "__list_node_base<",
		"__hash_node_base<", "__forward_begin_node<" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (mu_entry_name_begins(name, names[i]))
			return true;
	return false;
}

/* Parts of containers that lead to nodes, and the names of these. */
static const struct holder {
	const char *holder, *node;
	int argument; /* of the holder: the element */
} holders[] = {
	{ "_Rb_tree<", "_Rb_tree_node<", 1 },
	{ "_List_base<", "_List_node<", 0 },
	{ "_Fwd_list_base<", "_Fwd_list_node<", 0 },
	{ "_Hashtable<", "_Hash_node<", 1 },
	{ "__tree<", "__tree_node<", 0 },
	{ "__list_imp<", "__list_node<", 0 },
	{ "__hash_table<", "__hash_node<", 0 },
	{ "__forward_list_base<", "__forward_list_node<", 0 },
};

/* Argument NUMBER of the template DIE, a type. */
static bool
template_argument(Dwarf_Die *die, int number, Dwarf_Die *type)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_template_type_parameter &&
		    number-- == 0)
			return mu_entry_type(&child, type);
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* The node of HOLDER's elements, which are of the type ELEMENT. */
static bool
find_node(const struct mu_declaring *declaring, const struct holder *holder,
    Dwarf_Die *element, Dwarf_Die *node)
{
	const struct mu_debug_index *index = declaring->index;
	mu_declared_id wanted = mu_declaring_id(declaring, element);
	const struct mu_indexed_type *type;
	Dwarf_Die argument;
	size_t i;

	for (i = 0; i < index->num_types; i++) {
		type = &index->types[i];
		if (mu_entry_name_begins(
			mu_debug_index_text(index, type->name), holder->node) &&
		    mu_debug_entry(declaring->index, type->ref, node) &&
		    template_argument(node, 0, &argument) &&
		    mu_declaring_id(declaring, &argument) == wanted)
			return true;
	}
	return false;
}

/* If DIE is, or leads to, nodes of a container: which. */
static void
set_node(struct flattening *flat, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	Dwarf_Die element;
	size_t i;

	for (i = 0; i < sizeof(holders) / sizeof(*holders); i++) {
		if (mu_entry_name_begins(name, holders[i].node)) {
			flat->node = *die;
			flat->has_node = true;
			return;
		}
		if (!mu_entry_name_begins(name, holders[i].holder) ||
		    !template_argument(die, holders[i].argument, &element))
			continue;
		flat->has_node = find_node(
		    flat->declaring, &holders[i], &element, &flat->node);
		if (flat->has_node)
			return;
	}
}

static bool
is_container(const char *name)
{
	static const char *const names[] = { "vector<", "map<", "multimap<",
		"set<", "multiset<", "unordered_map<", "unordered_set<",
		"unordered_multimap<", "unordered_multiset<", "list<",
		"basic_string<", "queue<", "stack<" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (mu_entry_name_begins(name, names[i]))
			return true;
	return false;
}

/* Note where a container has the number of its elements. */
static void
note_count(struct flattening *flat, const char *member, uint64_t offset)
{
	static const char *const names[] = { "_M_node_count",
		"_M_element_count", "_M_string_length", "_M_size", "__pair3_",
		"__p2_", "__size_alloc_", "__size_" };
	struct mu_declared *answer = flat->answer;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(member, names[i]) == 0 && !answer->counted) {
			answer->counted = true;
			answer->count_at = (uint32_t)offset;
		}
}

/* Add NAME to the path. Returns the length to go back to. */
static size_t
enter(struct flattening *flat, const char *name)
{
	size_t length = strlen(flat->path), size = strlen(name);

	/* These names say nothing to users. */
	if (name[0] == '\0' || mu_container_is_internal(name) ||
	    size + 2 > sizeof(flat->path) - length)
		return length;
	if (length > 0)
		flat->path[length] = '.';
	memcpy(flat->path + length + (length > 0), name, size + 1);
	return length;
}

static void
add_pointer(
    struct flattening *flat, Dwarf_Die *pointer, uint64_t offset, bool pieces)
{
	const struct mu_declaring *declaring = flat->declaring;
	struct mu_declared_field *field;
	Dwarf_Die target;
	bool known = mu_entry_type(pointer, &target);

	if (known && dwarf_tag(&target) == DW_TAG_subroutine_type)
		return;
	if (offset % WORD != 0 || offset > INT64_MAX ||
	    (flat->count > 1 && flat->stride % WORD != 0))
		return;
	field = mu_declaring_field(declaring);
	if (field == NULL)
		return;
	field->name = mu_declaring_keep(declaring, flat->path);
	field->offset = (int64_t)offset;
	field->count = flat->count;
	field->stride = flat->stride;
	field->one_of = flat->one_of;
	field->pieces = pieces;
	field->queue = flat->queue;
	field->queue_at = flat->queue_at;
	if (!known)
		return;
	mu_declaring_define(declaring, &target);
	if (flat->has_node && is_node_base(dwarf_diename(&target)))
		target = flat->node;
	field->type = mu_declaring_id(declaring, &target);
}

static void
define(void *ctx, Dwarf_Die *die)
{
	mu_declaring_define(ctx, die);
}

/* The element ELEMENT of a node is at OFFSET. */
static void
note_key(struct flattening *flat, const Dwarf_Die *element, uint64_t offset)
{
	struct mu_container_key key = { .ctx = (void *)flat->declaring,
		.define = define };
	struct mu_declared_key *part = flat->declaring->all->keys;
	size_t i;

	flat->keyed = false;
	mu_container_key_find(&key, element, offset);
	flat->answer->parted = key.parted;
	flat->answer->num_keys = key.count;
	for (i = 0; i < key.count; i++, part++) {
		*part = key.parts[i];
		part->name = mu_declaring_keep(flat->declaring, part->name);
	}
}

static bool
has_key(const char *node)
{
	return mu_entry_name_begins(node, "_Rb_tree_node<") ||
	    mu_entry_name_begins(node, "_Hash_node<") ||
	    mu_entry_name_begins(node, "__tree_node<") ||
	    mu_entry_name_begins(node, "__hash_node<");
}

static void
flatten_member(
    struct flattening *flat, Dwarf_Die *member, uint64_t offset, int depth)
{
	const char *name = dwarf_diename(member);
	bool base = dwarf_tag(member) == DW_TAG_inheritance;
	bool was_container = flat->container;
	Dwarf_Die type;
	size_t length;

	if (name == NULL)
		name = "";
	if (!mu_entry_type(member, &type))
		return;
	mu_declaring_define(flat->declaring, &type);
	if (flat->keyed && strcmp(name, "__value_") == 0)
		note_key(flat, &type, offset);
	if (flat->container)
		note_count(flat, name, offset);
	flat->container &=
	    base || mu_container_is_internal(name) || strcmp(name, "c") == 0;
	length = base ? strlen(flat->path) : enter(flat, name);
	if (mu_entry_name_begins(name, "_vptr") && offset == 0)
		flat->answer->virtual = true;
	else if (dwarf_tag(&type) == DW_TAG_pointer_type &&
	    (strcmp(name, "_M_start") == 0 || strcmp(name, "__begin_") == 0))
		add_pointer(flat, &type, offset, true);
	else
		flatten(flat, &type, offset, depth + 1);
	flat->path[length] = '\0';
	flat->container = was_container;
}

/* Bytes in which libstdc++ keeps an object of its first argument. */
static bool
is_raw(const char *name)
{
	return mu_entry_name_begins(name, "__aligned_membuf<") ||
	    mu_entry_name_begins(name, "__aligned_buffer<");
}

/* libstdc++ has a base of this name, libc++ one of another, or none. */
static uint8_t
kind_of_queue(Dwarf_Die *queue)
{
	Dwarf_Die member, type;

	if (dwarf_child(queue, &member) != 0)
		return MU_QUEUE_NONE;
	do {
		if (dwarf_tag(&member) == DW_TAG_inheritance &&
		    mu_entry_type(&member, &type) &&
		    mu_entry_name_begins(dwarf_diename(&type), "_Deque_base<"))
			return MU_QUEUE_NODES;
	} while (dwarf_siblingof(&member, &member) == 0);
	return MU_QUEUE_SPLIT;
}

static void
flatten_structure(
    struct flattening *flat, Dwarf_Die *die, uint64_t offset, int depth)
{
	bool was_one = flat->one_of, had_node = flat->has_node;
	uint8_t was_queue = flat->queue;
	Dwarf_Die before = flat->node, member, type;
	uint64_t begin;
	int tag;

	if (is_raw(dwarf_diename(die)) && template_argument(die, 0, &type)) {
		mu_declaring_define(flat->declaring, &type);
		if (flat->keyed)
			note_key(flat, &type, offset);
		flatten(flat, &type, offset, depth + 1);
		return;
	}
	if (mu_entry_name_begins(dwarf_diename(die), "deque<") &&
	    offset <= UINT32_MAX) {
		flat->queue = kind_of_queue(die);
		flat->queue_at = (uint32_t)offset;
	}
	set_node(flat, die);
	flat->one_of |= dwarf_tag(die) == DW_TAG_union_type;
	if (dwarf_child(die, &member) == 0) {
		do {
			tag = dwarf_tag(&member);
			if ((tag == DW_TAG_member ||
				tag == DW_TAG_inheritance) &&
			    mu_entry_member(&member, &begin))
				flatten_member(
				    flat, &member, offset + begin, depth);
		} while (dwarf_siblingof(&member, &member) == 0);
	}
	flat->one_of = was_one;
	flat->queue = was_queue;
	flat->has_node = had_node;
	flat->node = before;
}

/* The elements of an array, as far as their number is declared. */
static void
flatten_array(
    struct flattening *flat, Dwarf_Die *die, uint64_t offset, int depth)
{
	uint64_t whole = 0, size, i, count;
	size_t length = strlen(flat->path);
	Dwarf_Die element;

	if (!mu_entry_type(die, &element))
		return;
	mu_declaring_define(flat->declaring, &element);
	if (!mu_entry_size(&element, &size))
		return;
	flat->answer->letters |= size == 1 && offset < WORD;
	if (size < WORD || size > UINT32_MAX)
		return;
	if (!mu_entry_size(die, &whole))
		whole = 0;
	count = whole / size;
	if (count > UINT32_MAX)
		return;
	if (length > 0 && length + 3 < sizeof(flat->path))
		strlcpy(flat->path + length, "[]", sizeof(flat->path) - length);
	if (flat->count == 1) {
		flat->count = count == 0 ? 0 : (uint32_t)count;
		flat->stride = (uint32_t)size;
		flatten(flat, &element, offset, depth + 1);
		flat->count = 1;
		flat->stride = 0;
	} else {
		for (i = 0; i < count && i < EXPANDED; i++)
			flatten(flat, &element, offset + i * size, depth + 1);
	}
	flat->path[length] = '\0';
}

static void
flatten(struct flattening *flat, Dwarf_Die *type, uint64_t offset, int depth)
{
	uint64_t size;

	if (depth > DEPTH_MAX)
		return;
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		flatten_structure(flat, type, offset, depth);
		break;
	case DW_TAG_array_type:
		flatten_array(flat, type, offset, depth);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		add_pointer(flat, type, offset, false);
		break;
	case DW_TAG_base_type:
		flat->answer->letters |=
		    offset < WORD && mu_entry_size(type, &size) && size == 1;
		break;
	default:
		break;
	}
}

/* True if the structure DIE ends with an array of no declared length. */
static bool
ends_flexibly(Dwarf_Die *die)
{
	Dwarf_Die member, type;
	bool flexible = false;
	uint64_t size;

	if (dwarf_child(die, &member) != 0)
		return false;
	do {
		if (dwarf_tag(&member) != DW_TAG_member)
			continue;
		flexible = mu_entry_type(&member, &type) &&
		    dwarf_tag(&type) == DW_TAG_array_type &&
		    (!mu_entry_size(&type, &size) || size == 0);
	} while (dwarf_siblingof(&member, &member) == 0);
	return flexible;
}

/* True if a pointer to DIE may lead to another type that begins like it. */
static bool
is_extended(
    const struct mu_declaring *declaring, Dwarf_Die *die, const char *own)
{
	const struct mu_debug_index *index = declaring->index;
	const struct mu_indexed_type *type =
	    mu_debug_index_at(index, mu_die_ref_of(declaring->index, die));
	size_t i;

	/* Only containers allocate nodes. */
	for (i = 0; i < sizeof(holders) / sizeof(*holders); i++)
		if (mu_entry_name_begins(own, holders[i].node))
			return false;
	return index->failed || type == NULL || type->alike != 0 ||
	    (own != NULL &&
		mu_debug_index_begins(index, mu_debug_name_hash("", own)));
}

/* A vector has two pointers instead of the number of its elements. */
static void
count_ends(const struct mu_declaring *declaring, struct mu_declared *answer)
{
	const struct mu_declared_field *first = &declaring->all->fields[0];
	Dwarf_Die element;
	uint64_t size;

	if (!first->pieces || first->type == 0 ||
	    !mu_declaring_die(declaring, first->type, &element) ||
	    !mu_entry_size(&element, &size) || size == 0 || size > UINT32_MAX)
		return;
	answer->counted = answer->count_ends = true;
	answer->count_at = (uint32_t)first->offset;
	answer->count_of = (uint32_t)size;
}

void
mu_declaring_flatten(const struct mu_declaring *declaring, Dwarf_Die *die)
{
	struct mu_declared *answer = &declaring->all->answer;
	struct flattening flat = {
		.declaring = declaring, .answer = answer, .count = 1
	};
	char name[NAME_MAX_LENGTH], part[NAME_MAX_LENGTH];
	const char *own = dwarf_diename(die);
	bool structure = mu_entry_is_structure(die);
	int tag = dwarf_tag(die);

	answer->complete = true;
	answer->id = mu_declaring_id(declaring, die);
	mu_declaring_name(declaring, die, name, sizeof(name));
	if (mu_container_part(name, part, sizeof(part)))
		strlcpy(name, part, sizeof(name));
	mu_plain_name(name);
	answer->name = mu_declaring_keep(declaring, name);
	if (!mu_entry_size(die, &answer->size))
		answer->size = 0;
	answer->scalar = tag == DW_TAG_base_type ||
	    tag == DW_TAG_enumeration_type || tag == DW_TAG_pointer_type;
	flat.container = structure && is_container(own);
	flat.keyed = structure && has_key(own);
	answer->node_base = structure && is_node_base(own);
	answer->extended = structure && is_extended(declaring, die, own);
	answer->flexible = structure && ends_flexibly(die);
	flatten(&flat, die, 0, 0);
	if (mu_entry_name_begins(own, "vector<") && answer->num_fields > 0)
		count_ends(declaring, answer);
}
