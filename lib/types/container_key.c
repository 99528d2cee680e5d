#include "lib/types/container_key.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "lib/types/entry.h"

#define DEPTH_MAX 12 /* of structures in structures; a tuple has two a part */
#define TUPLE "_Tuple_impl<" /* libstdc++: the rest, and then the head */
#define HEAD "_Head_base<"

struct keying {
	struct mu_container_key *key;
	bool known;              /* a part of it is */
	bool whole;              /* there was room for all parts */
	char scope[MU_KEY_NAME]; /* of members: "from." */
};

static void take(
    struct keying *keying, Dwarf_Die *type, uint64_t offset, int depth);

bool
mu_container_is_internal(const char *name)
{
	return mu_entry_name_begins(name, "_M_") ||
	    mu_entry_name_begins(name, "__") ||
	    mu_entry_name_begins(name, "_vptr") ||
	    strcmp(name, "_Storage") == 0;
}

/* The member NAME of DIE, or its first one: its type, and *OFFSET more. */
static bool
find_member(Dwarf_Die *die, const char *name, Dwarf_Die *type, uint64_t *offset)
{
	Dwarf_Die member;
	const char *own;
	uint64_t begin;

	if (dwarf_child(die, &member) != 0)
		return false;
	do {
		own = dwarf_diename(&member);
		if (dwarf_tag(&member) != DW_TAG_member ||
		    !mu_entry_member(&member, &begin) || own == NULL ||
		    (name != NULL && strcmp(own, name) != 0))
			continue;
		*offset += begin;
		return mu_entry_type(&member, type);
	} while (dwarf_siblingof(&member, &member) == 0);
	return false;
}

/* True if DIE has its member NAME at its begin. */
static bool
begins_with(Dwarf_Die *die, const char *name)
{
	uint64_t offset = 0;
	Dwarf_Die type;

	return find_member(die, name, &type, &offset) && offset == 0;
}

static enum mu_declared_key_kind
kind_of_text(Dwarf_Die *key)
{
	const char *name = dwarf_diename(key);

	if (mu_entry_name_begins(name, "basic_string<char,")) {
		if (begins_with(key, "_M_dataplus"))
			return MU_KEY_STRING;
		if (begins_with(key, "__r_"))
			return MU_KEY_SHORT_STRING;
	} else if (mu_entry_name_begins(name, "basic_string_view<char,")) {
		if (begins_with(key, "_M_len"))
			return MU_KEY_VIEW;
		if (begins_with(key, "__data") || begins_with(key, "__data_"))
			return MU_KEY_STRING;
	}
	return MU_KEY_UNKNOWN;
}

static enum mu_declared_key_kind
kind_of_number(Dwarf_Die *key)
{
	switch (mu_entry_number(key, DW_AT_encoding)) {
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return MU_KEY_SIGNED;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_boolean:
		return MU_KEY_UNSIGNED;
	case DW_ATE_float:
		return MU_KEY_FLOAT;
	default:
		return MU_KEY_UNKNOWN;
	}
}

/* True if what DIE points to, or is an array of, are characters. */
static bool
has_characters(Dwarf_Die *die)
{
	Dwarf_Die target;
	const char *name;

	if (!mu_entry_type(die, &target))
		return false;
	name = dwarf_diename(&target);
	return name != NULL && strcmp(name, "char") == 0;
}

static enum mu_declared_key_kind
kind_of_key(Dwarf_Die *key)
{
	switch (dwarf_tag(key)) {
	case DW_TAG_enumeration_type:
		return MU_KEY_SIGNED;
	case DW_TAG_base_type:
		return kind_of_number(key);
	case DW_TAG_pointer_type:
		return has_characters(key) ? MU_KEY_TEXT : MU_KEY_UNKNOWN;
	case DW_TAG_array_type:
		return has_characters(key) ? MU_KEY_CHARACTERS : MU_KEY_UNKNOWN;
	default:
		return kind_of_text(key);
	}
}

/* A part of KIND and SIZE bytes at OFFSET, with the name of the scope. */
static void
add(struct keying *keying, enum mu_declared_key_kind kind, uint64_t size,
    uint64_t offset)
{
	struct mu_container_key *key = keying->key;
	size_t length = strlen(keying->scope);
	char *name;

	if (key->count == MU_DECLARED_KEYS || offset > UINT32_MAX ||
	    size > UINT32_MAX) {
		keying->whole = false;
		return;
	}
	if ((kind == MU_KEY_SIGNED || kind == MU_KEY_UNSIGNED) &&
	    size > sizeof(uint64_t))
		kind = MU_KEY_UNKNOWN;
	if (kind == MU_KEY_FLOAT && size != sizeof(float) &&
	    size != sizeof(double))
		kind = MU_KEY_UNKNOWN;
	keying->known |= kind != MU_KEY_UNKNOWN;
	name = key->names[key->count];
	memcpy(name, keying->scope, length + 1);
	if (length > 0)
		name[length - 1] = '\0'; /* the dot */
	key->parts[key->count++] = (struct mu_declared_key) {
		.kind = (uint8_t)kind,
		.at = (uint32_t)offset,
		.size = (uint32_t)size,
		.name = name,
	};
}

/* True if MEMBER has a part of an object; what it is may be unknown. */
static bool
is_part(Dwarf_Die *member)
{
	int tag = dwarf_tag(member);

	return tag == DW_TAG_inheritance ||
	    (tag == DW_TAG_member && !dwarf_hasattr(member, DW_AT_external) &&
		!dwarf_hasattr(member, DW_AT_declaration) &&
		!mu_entry_name_begins(dwarf_diename(member), "_vptr"));
}

static void
take_member(
    struct keying *keying, Dwarf_Die *member, uint64_t offset, int depth)
{
	size_t length = strlen(keying->scope);
	const char *name = dwarf_diename(member);
	uint64_t begin;
	Dwarf_Die type;

	if (dwarf_tag(member) == DW_TAG_member && name != NULL &&
	    !mu_container_is_internal(name) && strcmp(name, "first") != 0 &&
	    strcmp(name, "second") != 0 &&
	    length + strlen(name) + 2 < sizeof(keying->scope))
		snprintf(keying->scope + length, sizeof(keying->scope) - length,
		    "%s.", name);
	if (!mu_entry_member(member, &begin) || !mu_entry_type(member, &type))
		add(keying, MU_KEY_UNKNOWN, 0, 0); /* bits, a virtual base */
	else
		take(keying, &type, offset + begin, depth + 1);
	keying->scope[length] = '\0';
}

/* The heads of a tuple of libstdc++ lie behind what follows them. */
static bool
is_head(Dwarf_Die *member)
{
	Dwarf_Die type;

	return mu_entry_type(member, &type) &&
	    mu_entry_name_begins(dwarf_diename(&type), HEAD);
}

static void
take_members(struct keying *keying, Dwarf_Die *die, uint64_t offset, int depth)
{
	bool tuple = mu_entry_name_begins(dwarf_diename(die), TUPLE);
	int rest;
	Dwarf_Die member;

	for (rest = 0; rest <= tuple; rest++) {
		if (dwarf_child(die, &member) != 0)
			return;
		do {
			if (is_part(&member) &&
			    (!tuple || is_head(&member) == !rest))
				take_member(keying, &member, offset, depth);
		} while (
		    keying->whole && dwarf_siblingof(&member, &member) == 0);
	}
}

static void
take(struct keying *keying, Dwarf_Die *type, uint64_t offset, int depth)
{
	enum mu_declared_key_kind kind;
	Dwarf_Die whole = *type;
	uint64_t size;

	keying->key->define(keying->key->ctx, &whole);
	kind = kind_of_key(&whole);
	if (!mu_entry_size(&whole, &size))
		add(keying, MU_KEY_UNKNOWN, 0, offset);
	else if (kind != MU_KEY_UNKNOWN ||
	    dwarf_tag(&whole) == DW_TAG_union_type ||
	    !mu_entry_is_structure(&whole) || depth == DEPTH_MAX)
		add(keying, kind, size, offset);
	else
		take_members(keying, &whole, offset, depth);
}

/* True if DIE is the pair of a map, whose key is constant; a set may have any.
 */
static bool
is_entry(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die child, type;

	if (!mu_entry_name_begins(dwarf_diename(die), "pair<") ||
	    dwarf_child(die, &child) != 0)
		return false;
	while (dwarf_tag(&child) != DW_TAG_template_type_parameter)
		if (dwarf_siblingof(&child, &child) != 0)
			return false;
	return dwarf_formref_die(
		   dwarf_attr(&child, DW_AT_type, &attribute), &type) != NULL &&
	    dwarf_tag(&type) == DW_TAG_const_type;
}

void
mu_container_key_find(
    struct mu_container_key *key, const Dwarf_Die *element, uint64_t offset)
{
	struct keying keying = { .key = key, .whole = true };
	Dwarf_Die own = *element, around = own;

	if ((mu_entry_name_begins(dwarf_diename(&around), "__value_type<") ||
		mu_entry_name_begins(
		    dwarf_diename(&around), "__hash_value_type<")) &&
	    !find_member(&around, NULL, &own, &offset))
		return;
	around = own;
	if (is_entry(&around) && !find_member(&around, "first", &own, &offset))
		return;
	take(&keying, &own, offset, 0);
	key->parted =
	    mu_entry_is_structure(&own) && kind_of_text(&own) == MU_KEY_UNKNOWN;
	if (!keying.known || !keying.whole)
		key->count = 0;
}
