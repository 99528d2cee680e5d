#include "lib/types/entry.h"

#include <dwarf.h>
#include <string.h>

#define SIZE_LIMIT ((uint64_t)1 << 40) /* bytes of one object */
#define ARRAYS_MAX 16u                 /* of arrays */

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

/* Bounds may be negative if their form is signed. */
static bool
read_bound(Dwarf_Die *range, unsigned name, Dwarf_Sword *value)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	unsigned form;

	if (dwarf_attr_integrate(range, name, &attribute) == NULL)
		return false;
	form = dwarf_whatform(&attribute);
	if (form == DW_FORM_sdata || form == DW_FORM_implicit_const)
		return dwarf_formsdata(&attribute, value) == 0;
	if (dwarf_formudata(&attribute, &number) != 0 || number > SIZE_LIMIT)
		return false;
	*value = (Dwarf_Sword)number;
	return true;
}

/* The elements in one dimension RANGE, which begins at 0 as in C. */
static bool
count_range(Dwarf_Die *range, uint64_t *count)
{
	Dwarf_Sword upper, lower = 0, number;

	if (dwarf_tag(range) != DW_TAG_subrange_type)
		return false;
	if (!read_bound(range, DW_AT_count, &number)) {
		if (!read_bound(range, DW_AT_upper_bound, &upper) ||
		    (dwarf_hasattr_integrate(range, DW_AT_lower_bound) &&
			!read_bound(range, DW_AT_lower_bound, &lower)) ||
		    __builtin_sub_overflow(upper, lower, &number) ||
		    __builtin_add_overflow(number, 1, &number))
			return false;
	}
	*count = number < 0 ? 0 : (uint64_t)number;
	return true;
}

/* The elements of ARRAY, which may have several dimensions. */
static bool
count_elements(Dwarf_Die *array, uint64_t *count)
{
	Dwarf_Die range;
	uint64_t one;

	*count = 1;
	if (dwarf_hasattr(array, DW_AT_byte_stride) ||
	    dwarf_hasattr(array, DW_AT_bit_stride) ||
	    dwarf_child(array, &range) != 0)
		return false;
	do {
		if (!count_range(&range, &one) ||
		    __builtin_mul_overflow(*count, one, count))
			return false;
	} while (dwarf_siblingof(&range, &range) == 0);
	return true;
}

/* True if libdw does not know where arrays begin in the unit of DIE. */
static bool
has_no_language(Dwarf_Die *die)
{
	Dwarf_Die unit;

	return dwarf_diecu(die, &unit, NULL, NULL) != NULL &&
	    dwarf_srclang(&unit) == -1;
}

/*
 * The size of an array in a unit that has no language, as those in which dwz(1)
 * puts what others share.
 */
static bool
array_size(Dwarf_Die *die, uint64_t *size)
{
	Dwarf_Die array = *die;
	uint64_t count, all = 1;
	unsigned depth;

	for (depth = 0; dwarf_tag(&array) == DW_TAG_array_type; depth++)
		if (depth == ARRAYS_MAX || !has_no_language(&array) ||
		    !count_elements(&array, &count) ||
		    __builtin_mul_overflow(all, count, &all) ||
		    !mu_entry_type(&array, &array))
			return false;
	return depth > 0 && dwarf_aggregate_size(&array, size) == 0 &&
	    !__builtin_mul_overflow(*size, all, size);
}

bool
mu_entry_size(Dwarf_Die *die, uint64_t *size)
{
	return (dwarf_aggregate_size(die, size) == 0 ||
		   array_size(die, size)) &&
	    *size <= SIZE_LIMIT;
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

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		if (mu_entry_is_structure(&child))
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
