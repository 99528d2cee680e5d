/*
 * References to entries: see debug_index.h. Bits 51 and 50 are the kind; of a
 * split unit bit 49 says that it is in .debug_types, bits 48 to 32 are its
 * number.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "lib/types/debug_index.h"
#include "mu/array.h"

#define KIND_SHIFT 50
#define KIND(ref) ((ref) >> KIND_SHIFT)
#define SPLIT_TYPES ((mu_die_ref)1 << 49)
#define NUMBER_SHIFT 32
#define NUMBERS ((size_t)1 << 17)

enum { IN_INFO, IN_TYPES, IN_SHARED, IN_SPLIT };

/* DWARF 4 has type units in .debug_types, 5 in .debug_info. */
static bool
is_in_types(Dwarf_CU *unit)
{
	Dwarf_Half version;
	uint8_t type;

	return dwarf_cu_info(
		   unit, &version, &type, NULL, NULL, NULL, NULL, NULL) == 0 &&
	    version < 5 && (type == DW_UT_type || type == DW_UT_split_type);
}

static mu_die_ref
base_of(const struct mu_debug_index *index, Dwarf_CU *unit)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(unit);
	bool types = is_in_types(unit);
	size_t i;

	if (dwarf == index->dwarf)
		return (mu_die_ref)(types ? IN_TYPES : IN_INFO) << KIND_SHIFT;
	for (i = 0; i < index->num_split; i++)
		if (index->split[i] == dwarf)
			return (mu_die_ref)IN_SPLIT << KIND_SHIFT |
			    (types ? SPLIT_TYPES : 0) |
			    (mu_die_ref)i << NUMBER_SHIFT;
	return dwarf == dwarf_getalt(index->dwarf)
	    ? (mu_die_ref)IN_SHARED << KIND_SHIFT
	    : MU_NO_DIE;
}

mu_die_ref
mu_die_ref_of(struct mu_debug_index *index, Dwarf_Die *die)
{
	Dwarf_Off offset = dwarf_dieoffset(die);

	if (die->cu != index->last_unit) {
		index->last_base = base_of(index, die->cu);
		index->last_unit = die->cu;
	}
	if (index->last_base == MU_NO_DIE || offset >> KIND_SHIFT != 0 ||
	    (KIND(index->last_base) == IN_SPLIT && offset >> NUMBER_SHIFT != 0))
		return MU_NO_DIE;
	return index->last_base | offset;
}

/* The file of the unit with NUMBER, which is split; NULL: it is not there. */
static Dwarf *
open_split(struct mu_debug_index *index, size_t number)
{
	Dwarf_Die here, unit;
	Dwarf **split;

	if (number >= index->num_skeletons)
		return NULL;
	if (index->num_split < index->num_skeletons) {
		split = reallocarray(
		    index->split, index->num_skeletons, sizeof(Dwarf *));
		if (split == NULL)
			return NULL;
		index->split = split;
		while (index->num_split < index->num_skeletons)
			split[index->num_split++] = NULL;
	}
	if (index->split[number] == NULL &&
	    dwarf_offdie(index->dwarf, index->skeletons[number], &here) !=
		NULL &&
	    dwarf_cu_info(here.cu, NULL, NULL, NULL, &unit, NULL, NULL, NULL) ==
		0 &&
	    unit.cu != NULL) {
		index->split[number] = dwarf_cu_getdwarf(unit.cu);
		index->last_unit = NULL;
	}
	return index->split[number];
}

bool
mu_debug_entry(struct mu_debug_index *index, mu_die_ref ref, Dwarf_Die *die)
{
	const Dwarf_Off offset = ref & (((mu_die_ref)1 << KIND_SHIFT) - 1);
	Dwarf *dwarf = index->dwarf;

	switch (KIND(ref)) {
	case IN_INFO:
		return dwarf_offdie(dwarf, offset, die) != NULL;
	case IN_TYPES:
		return dwarf_offdie_types(dwarf, offset, die) != NULL;
	case IN_SHARED:
		dwarf = dwarf_getalt(dwarf);
		return dwarf != NULL &&
		    dwarf_offdie(dwarf, offset, die) != NULL;
	case IN_SPLIT:
		dwarf = open_split(
		    index, (size_t)(offset >> NUMBER_SHIFT) & (NUMBERS - 1));
		if (dwarf == NULL)
			return false;
		return ((ref & SPLIT_TYPES) != 0
			       ? dwarf_offdie_types(
				     dwarf, (uint32_t)offset, die)
			       : dwarf_offdie(dwarf, (uint32_t)offset, die)) !=
		    NULL;
	default:
		return false;
	}
}

/* The units of the file to which HERE belongs, of which UNIT is one. */
static void
visit_split(struct mu_debug_index *index, Dwarf_Die *here, Dwarf_Die *unit,
    void (*visit)(
	struct mu_debug_index *index, Dwarf_Die *unit, Dwarf_Die *here))
{
	const size_t number = index->num_skeletons;
	Dwarf_CU *at = NULL;
	Dwarf_Die die;
	Dwarf *dwarf;

	if (unit->cu == NULL || number >= NUMBERS ||
	    !mu_array_room(index->skeletons, index->num_skeletons,
		index->max_skeletons, 64, NUMBERS)) {
		index->incomplete = true;
		return;
	}
	index->skeletons[index->num_skeletons++] = dwarf_dieoffset(here);
	dwarf = open_split(index, number);
	while (dwarf != NULL && !index->failed &&
	    dwarf_get_units(dwarf, at, &at, NULL, NULL, &die, NULL) == 0)
		visit(index, &die, at == unit->cu ? here : &die);
}

void
mu_debug_units(struct mu_debug_index *index,
    void (*visit)(
	struct mu_debug_index *index, Dwarf_Die *unit, Dwarf_Die *here))
{
	Dwarf_CU *at = NULL;
	Dwarf_Die here, unit;
	uint8_t type;

	index->num_skeletons = 0;
	while (!index->failed &&
	    dwarf_get_units(index->dwarf, at, &at, NULL, &type, &here, &unit) ==
		0) {
		if (type == DW_UT_skeleton)
			visit_split(index, &here, &unit, visit);
		else
			visit(index, &here, &here);
	}
}
