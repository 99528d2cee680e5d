#include "lib/types/layout.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/types/container_part.h"
#include "lib/types/debug_index.h"
#include "lib/types/entry.h"

#define WORD sizeof(uintptr_t)
#define NAME_MAX_LENGTH 512
#define DEPTH_MAX 16        /* of nested namespaces, types, fields */
#define STRUCTURE_MAX 65536 /* bytes; larger ones are left out */
#define ELEMENTS_MAX 512    /* of an array that are looked at */
#define NUMBER_MIN 4        /* bytes of a word, with padding behind them */

/* How many bytes of each word are numbers. */
struct filling {
	struct mu_layout *layout;
	unsigned char numbers[MU_LAYOUT_WORDS];
	unsigned members; /* around what is entered; bases are none */
};

static void fill(
    struct filling *filling, Dwarf_Die *type, size_t offset, int depth);

static bool
has_size(Dwarf_Die *die, size_t *size)
{
	uint64_t bytes;

	if (!mu_entry_size(die, &bytes) || bytes > STRUCTURE_MAX)
		return false;
	*size = (size_t)bytes;
	return true;
}

static bool
is_structure(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

static Dwarf_Word
encoding_of(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;

	if (dwarf_formudata(
		dwarf_attr_integrate(type, DW_AT_encoding, &attribute),
		&encoding) != 0)
		return 0;
	return encoding;
}

/* Bytes of other kinds may be anything. */
static bool
is_char(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);

	return name != NULL && strcmp(name, "char") == 0;
}

static void
fill_target(struct mu_layout *layout, size_t word, Dwarf_Die *target)
{
	size_t size;

	layout->words[word] = MU_WORD_OBJECT;
	if (dwarf_diename(target) != NULL && has_size(target, &size))
		layout->targets[word] = (struct mu_layout_target) {
			.own = mu_debug_name_hash("", dwarf_diename(target)),
			.size = size,
		};
}

/* A pointer is of the kind that it is declared to point to. */
static void
fill_pointer(struct filling *filling, Dwarf_Die *pointer, size_t offset)
{
	struct mu_layout *layout = filling->layout;
	size_t word = offset / WORD;
	Dwarf_Die target;
	size_t size;
	int tag;

	if (offset % WORD != 0 || word >= MU_LAYOUT_WORDS)
		return;
	layout->words[word] = MU_WORD_POINTER;
	if (!mu_entry_type(pointer, &target))
		return;
	tag = dwarf_tag(&target);
	layout->words[word] = MU_WORD_DATA;
	if (tag == DW_TAG_subroutine_type)
		layout->words[word] = MU_WORD_FUNCTION;
	else if (is_structure(tag))
		fill_target(layout, word, &target);
	else if (tag == DW_TAG_base_type && is_char(&target))
		layout->words[word] = MU_WORD_TEXT;
	else if (tag == DW_TAG_base_type && has_size(&target, &size) &&
	    size == 1)
		layout->words[word] = MU_WORD_POINTER;
}

static void
fill_number(struct filling *filling, Dwarf_Die *type, size_t offset)
{
	struct mu_layout *layout = filling->layout;
	size_t i, size, word = offset / WORD;
	Dwarf_Word encoding = encoding_of(type);

	if (!has_size(type, &size) || word >= MU_LAYOUT_WORDS)
		return;
	if (encoding == DW_ATE_boolean && size == 1)
		layout->bools[word] |= (unsigned char)(1u << offset % WORD);
	if (size == WORD && offset % WORD == 0) {
		layout->words[word] =
		    encoding == DW_ATE_float ? MU_WORD_DOUBLE : MU_WORD_INTEGER;
		return;
	}
	for (i = offset; i < offset + size && i / WORD < MU_LAYOUT_WORDS; i++)
		if (++filling->numbers[i / WORD] == NUMBER_MIN)
			layout->words[i / WORD] = MU_WORD_NUMBER;
}

/* Where the member DIE begins; false if it is a part of a byte, or unknown. */
static bool
member_offset(Dwarf_Die *die, size_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (dwarf_hasattr(die, DW_AT_bit_size) ||
	    dwarf_hasattr(die, DW_AT_data_bit_offset))
		return false;
	if (dwarf_attr(die, DW_AT_data_member_location, &attribute) != NULL &&
	    dwarf_formudata(&attribute, &value) != 0)
		return false;
	*offset = (size_t)value;
	return value <= STRUCTURE_MAX;
}

/* Bytes in which libstdc++ keeps an object of its first argument. */
static bool
is_raw(Dwarf_Die *structure)
{
	const char *name = dwarf_diename(structure);

	return name != NULL &&
	    (strncmp(name, "__aligned_membuf<", 17) == 0 ||
		strncmp(name, "__aligned_buffer<", 17) == 0);
}

/* Compilers name a vptr "_vptr.Base" or "_vptr$Base". */
static bool
is_vptr(Dwarf_Die *member)
{
	const char *name = dwarf_diename(member);

	return name != NULL && strncmp(name, "_vptr", 5) == 0;
}

static void
fill_member(struct filling *filling, Dwarf_Die *member, Dwarf_Die *type,
    size_t offset, int depth)
{
	unsigned around = dwarf_tag(member) == DW_TAG_member ? 1 : 0;

	if (offset == 0 && filling->members > 0 && is_vptr(member))
		filling->layout->embeds = true;
	filling->members += around;
	fill(filling, type, offset, depth + 1);
	filling->members -= around;
}

static void
fill_members(
    struct filling *filling, Dwarf_Die *structure, size_t offset, int depth)
{
	bool raw = is_raw(structure);
	Dwarf_Die member, type;
	size_t begin;
	int tag;

	if (dwarf_child(structure, &member) != 0)
		return;
	do {
		tag = dwarf_tag(&member);
		if (raw && tag == DW_TAG_template_type_parameter &&
		    mu_entry_type(&member, &type)) {
			fill(filling, &type, offset, depth + 1);
			return;
		}
		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
		    !dwarf_hasattr(&member, DW_AT_external) &&
		    !dwarf_hasattr(&member, DW_AT_declaration) &&
		    member_offset(&member, &begin) &&
		    mu_entry_type(&member, &type))
			fill_member(
			    filling, &member, &type, offset + begin, depth);
	} while (dwarf_siblingof(&member, &member) == 0);
}

static void
fill_elements(
    struct filling *filling, Dwarf_Die *array, size_t offset, int depth)
{
	size_t i, whole, size;
	Dwarf_Die type;

	/* Bytes may hold anything: the elements of containers are such. */
	if (!mu_entry_type(array, &type) || !has_size(&type, &size) ||
	    size <= 1 || !has_size(array, &whole))
		return;
	for (i = 0; i < whole / size && i < ELEMENTS_MAX &&
	     (offset + i * size) / WORD < MU_LAYOUT_WORDS;
	     i++)
		fill(filling, &type, offset + i * size, depth + 1);
}

/* Enter what an object of TYPE at OFFSET has. */
static void
fill(struct filling *filling, Dwarf_Die *type, size_t offset, int depth)
{
	if (depth > DEPTH_MAX || offset / WORD >= MU_LAYOUT_WORDS)
		return;
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		fill_members(filling, type, offset, depth);
		break;
	case DW_TAG_array_type:
		fill_elements(filling, type, offset, depth);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		fill_pointer(filling, type, offset);
		break;
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
		fill_number(filling, type, offset);
		break;
	default:
		break;
	}
}

/*
 * Of the C++ library only parts of containers and strings are blocks; others,
 * such as iterators, are not.
 */
static bool
is_never_block(const char *name)
{
	char part[NAME_MAX_LENGTH + 64];

	return (strncmp(name, "std::", 5) == 0 ||
		   strncmp(name, "__gnu_cxx::", 11) == 0) &&
	    strncmp(name, "std::basic_string<", 18) != 0 &&
	    strncmp(name, "std::__cxx11::basic_string<", 27) != 0 &&
	    !mu_container_part(name, part, sizeof(part));
}

bool
mu_layout_fill(struct mu_layout *layout, const char *around, const char *name,
    Dwarf_Die *die)
{
	struct filling filling = { .layout = layout };
	char whole[NAME_MAX_LENGTH];
	int length = snprintf(whole, sizeof(whole), "%s%s%s", around,
	    around[0] == '\0' ? "" : "::", name);

	*layout = (struct mu_layout) { .size = 0 };
	if (length < 0 || length >= NAME_MAX_LENGTH ||
	    !is_structure(dwarf_tag(die)) || !has_size(die, &layout->size) ||
	    layout->size < WORD || is_never_block(whole))
		return false;
	layout->name = strdup(whole);
	if (layout->name != NULL)
		fill(&filling, die, 0, 0);
	return layout->name != NULL;
}
