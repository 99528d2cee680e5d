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
#define FIRST_IMPORTS ((size_t)1 << 8) /* slots */
#define IMPORTS_MAX ((size_t)1 << 22)

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

static uint32_t *
import_slot(const struct mu_debug_index *index, mu_die_ref ref)
{
	const size_t most = index->num_import_slots - 1;
	size_t at = (size_t)(ref * 0x9e3779b97f4a7c15u >> 32) & most;

	while (index->import_slots[at] != 0 &&
	    index->imports[index->import_slots[at] - 1] != ref)
		at = (at + 1) & most;
	return &index->import_slots[at];
}

/* At least half of the slots are free. */
static bool
make_import_slots(struct mu_debug_index *index)
{
	size_t i, num = index->num_import_slots * 2;
	uint32_t *slots;

	if (index->num_imports < index->num_import_slots / 2)
		return true;
	if (num == 0)
		num = FIRST_IMPORTS;
	slots = calloc(num, sizeof(*slots));
	if (slots == NULL)
		return false;
	free(index->import_slots);
	index->import_slots = slots;
	index->num_import_slots = num;
	for (i = 0; i < index->num_imports; i++)
		*import_slot(index, index->imports[i]) = (uint32_t)(1 + i);
	return true;
}

/* Units of the module's own file are visited in any case. */
void
mu_debug_import(struct mu_debug_index *index, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die unit;
	uint32_t *slot;
	mu_die_ref ref;

	if (dwarf_formref_die(
		dwarf_attr(die, DW_AT_import, &attribute), &unit) == NULL) {
		index->incomplete = true;
		return;
	}
	ref = mu_die_ref_of(index, &unit);
	if (ref == MU_NO_DIE || KIND(ref) != IN_SHARED)
		return;
	if (!make_import_slots(index)) {
		index->failed = true;
		return;
	}
	slot = import_slot(index, ref);
	if (*slot != 0)
		return;
	if (!mu_array_room(index->imports, index->num_imports,
		index->max_imports, 256, IMPORTS_MAX)) {
		index->failed = true;
		return;
	}
	index->imports[index->num_imports++] = ref;
	*slot = (uint32_t)index->num_imports;
}

static void
close_imports(struct mu_debug_index *index)
{
	free(index->imports);
	free(index->import_slots);
	index->imports = NULL;
	index->import_slots = NULL;
	index->num_imports = index->max_imports = index->num_import_slots = 0;
}

/* These may import more of them. */
static void
visit_imports(struct mu_debug_index *index,
    void (*visit)(
	struct mu_debug_index *index, Dwarf_Die *unit, Dwarf_Die *here))
{
	Dwarf_Die unit;
	size_t i;

	for (i = 0; i < index->num_imports && !index->failed; i++)
		if (mu_debug_entry(index, index->imports[i], &unit))
			visit(index, &unit, &unit);
	close_imports(index);
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
	visit_imports(index, visit);
}
