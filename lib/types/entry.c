#include "lib/types/entry.h"

#include <dwarf.h>
#include <string.h>

#define SIZE_LIMIT ((uint64_t)1 << 40) /* bytes of one object */

bool
mu_entry_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die unit;

	if (dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute),
		type) == NULL ||
	    dwarf_peel_type(type, type) != 0)
		return false;
	/* What stands for a type in another unit may have no name. */
	if (dwarf_formref_die(
		dwarf_attr(type, DW_AT_signature, &attribute), &unit) != NULL)
		*type = unit;
	return true;
}

bool
mu_entry_size(Dwarf_Die *die, uint64_t *size)
{
	Dwarf_Word bytes;

	if (dwarf_aggregate_size(die, &bytes) != 0 || bytes > SIZE_LIMIT)
		return false;
	*size = bytes;
	return true;
}

bool
mu_entry_is_structure(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	    tag == DW_TAG_union_type;
}

bool
mu_entry_member(Dwarf_Die *die, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	/* The offset of a virtual base is an expression. */
	if (dwarf_hasattr(die, DW_AT_bit_size) ||
	    dwarf_hasattr(die, DW_AT_data_bit_offset) ||
	    dwarf_hasattr(die, DW_AT_external) ||
	    dwarf_hasattr(die, DW_AT_declaration))
		return false;
	if (dwarf_attr(die, DW_AT_data_member_location, &attribute) != NULL &&
	    dwarf_formudata(&attribute, &value) != 0)
		return false;
	*offset = value;
	return value < SIZE_LIMIT;
}

bool
mu_entry_has_types(Dwarf_Die *die)
{
	Dwarf_Die child;
	int tag;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		tag = dwarf_tag(&child);
		if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
		    tag == DW_TAG_union_type)
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/*
 * False for most variables of functions: those in a frame, in registers, or
 * with a list of locations. libdw keeps each expression that it is asked for.
 */
static bool
may_be_static(Dwarf_Attribute *attribute)
{
	Dwarf_Block block;

	if (dwarf_formblock(attribute, &block) != 0 || block.length == 0)
		return false;
	return block.data[0] < DW_OP_breg0 || block.data[0] > DW_OP_fbreg;
}

/* A number in .debug_addr, which split units use. */
static bool
is_indexed(uint8_t operation)
{
	return operation == DW_OP_addrx || operation == DW_OP_constx ||
	    operation == DW_OP_GNU_addr_index ||
	    operation == DW_OP_GNU_const_index;
}

enum mu_entry_where
mu_entry_location(Dwarf_Die *die, Dwarf_Word *value)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *expression;
	size_t length;

	if (dwarf_attr(die, DW_AT_location, &attribute) == NULL ||
	    !may_be_static(&attribute) ||
	    dwarf_getlocation(&attribute, &expression, &length) != 0 ||
	    length == 0)
		return MU_ENTRY_ELSEWHERE;
	*value = expression[0].number;
	if (is_indexed(expression[0].atom) &&
	    (dwarf_getlocation_attr(&attribute, &expression[0], &attribute) !=
		    0 ||
		(dwarf_formaddr(&attribute, value) != 0 &&
		    dwarf_formudata(&attribute, value) != 0)))
		return MU_ENTRY_ELSEWHERE;
	if (length == 1 &&
	    (expression[0].atom == DW_OP_addr ||
		is_indexed(expression[0].atom)))
		return MU_ENTRY_STATIC;
	if (length == 2 &&
	    (expression[1].atom == DW_OP_GNU_push_tls_address ||
		expression[1].atom == DW_OP_form_tls_address))
		return MU_ENTRY_THREAD;
	return MU_ENTRY_ELSEWHERE;
}

Dwarf_Word
mu_entry_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (dwarf_formudata(
		dwarf_attr_integrate(die, name, &attribute), &value) != 0)
		return 0;
	return value;
}

bool
mu_entry_name_begins(const char *name, const char *with)
{
	return name != NULL && strncmp(name, with, strlen(with)) == 0;
}
