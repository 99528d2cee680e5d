/*
 * The variables of the functions at a program counter, and where each is in the
 * frame. Those that are in registers, or in pieces, are left out.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "lib/types/declaring.h"
#include "mu/arch/unwind.h"

/* From where the offsets of a function's variables count. */
struct base {
	bool known;
	enum mu_declared_from from;
	int64_t offset;
};

static bool
register_base(uint64_t number, int64_t offset, struct base *base)
{
	*base = (struct base) {
		.known = number == MU_DWARF_SP || number == MU_DWARF_FP,
		.from = number == MU_DWARF_SP ? MU_FROM_SP : MU_FROM_FP,
		.offset = offset,
	};
	return base->known;
}

/* The only operation of DIE's ATTRIBUTE at PC. */
static bool
find_operation(
    Dwarf_Die *die, unsigned name, Dwarf_Addr pc, Dwarf_Op *operation)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *expression;
	size_t length;

	if (dwarf_attr(die, name, &attribute) == NULL ||
	    dwarf_getlocation_addr(&attribute, pc, &expression, &length, 1) !=
		1 ||
	    length != 1)
		return false;
	*operation = expression[0];
	return true;
}

static struct base
base_of(Dwarf_Die *function, Dwarf_Addr pc)
{
	struct base base = { .known = false };
	Dwarf_Op operation;

	if (!find_operation(function, DW_AT_frame_base, pc, &operation))
		return base;
	if (operation.atom == DW_OP_call_frame_cfa)
		base = (struct base) { true, MU_FROM_CFA, 0 };
	else if (operation.atom >= DW_OP_reg0 && operation.atom <= DW_OP_reg31)
		register_base(operation.atom - DW_OP_reg0, 0, &base);
	else if (operation.atom >= DW_OP_breg0 &&
	    operation.atom <= DW_OP_breg31)
		register_base(operation.atom - DW_OP_breg0,
		    (int64_t)operation.number, &base);
	return base;
}

static void
add_variable(const struct mu_declaring *declaring, Dwarf_Die *die,
    Dwarf_Addr pc, const struct base *base)
{
	struct base variable = *base;
	Dwarf_Op operation;

	if (!find_operation(die, DW_AT_location, pc, &operation))
		return;
	if (operation.atom == DW_OP_fbreg)
		variable.offset += (int64_t)operation.number;
	else if (operation.atom < DW_OP_breg0 ||
	    operation.atom > DW_OP_breg31 ||
	    !register_base(operation.atom - DW_OP_breg0,
		(int64_t)operation.number, &variable))
		return;
	if (variable.known)
		mu_declaring_variable(
		    declaring, die, variable.from, variable.offset);
}

static void
add_variables(const struct mu_declaring *declaring, Dwarf_Die *scope,
    Dwarf_Addr pc, const struct base *base)
{
	Dwarf_Die die;
	int tag;

	if (dwarf_child(scope, &die) != 0)
		return;
	do {
		tag = dwarf_tag(&die);
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			add_variable(declaring, &die, pc, base);
	} while (dwarf_siblingof(&die, &die) == 0);
}

void
mu_declaring_locals(const struct mu_declaring *declaring, Dwarf_Addr pc)
{
	struct base base = { .known = false };
	Dwarf_Die *scopes = NULL, unit;
	mu_die_ref ref;
	int i, count, tag;

	pc -= declaring->bias;
	if (!mu_debug_index_unit(declaring->index, pc, &ref) ||
	    !mu_debug_entry(declaring->index, ref, &unit))
		return;
	count = dwarf_getscopes(&unit, pc, &scopes);
	/* The function is outside of its blocks and what is inlined. */
	for (i = 0; i < count && !base.known; i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			base = base_of(&scopes[i], pc);
	for (i = 0; i < count; i++) {
		tag = dwarf_tag(&scopes[i]);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
		    tag == DW_TAG_inlined_subroutine)
			add_variables(declaring, &scopes[i], pc, &base);
	}
	free(scopes);
}
