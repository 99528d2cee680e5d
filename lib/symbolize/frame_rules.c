#include "lib/symbolize/frame_rules.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#include "mu/arch/unwind.h"

#define FRAME_MOST ((Dwarf_Sword)1 << 28) /* bytes */

static bool
find_base(Dwarf_Frame *frame, struct mu_frame_rules *rules)
{
	Dwarf_Sword offset;
	Dwarf_Op *ops;
	uint64_t number;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1)
		return false;
	if (ops[0].atom == DW_OP_bregx) {
		number = ops[0].number;
		offset = (Dwarf_Sword)ops[0].number2;
	} else {
		number = (uint64_t)ops[0].atom - DW_OP_breg0;
		offset = (Dwarf_Sword)ops[0].number;
	}
	if (offset < -FRAME_MOST || offset > FRAME_MOST)
		return false;
	rules->cfa = (int32_t)offset;
	rules->base = number == MU_DWARF_SP ? MU_FRAME_SP
	    : number == MU_DWARF_FP         ? MU_FRAME_FP
					    : MU_FRAME_UNKNOWN;
	return rules->base != MU_FRAME_UNKNOWN;
}

/*
 * libdw writes "saved at CFA + offset" as the two operations
 * DW_OP_call_frame_cfa and DW_OP_plus_uconst, and leaves out the second for 0.
 */
static bool
find_saved(Dwarf_Frame *frame, int column, int16_t *saved, int32_t *at)
{
	Dwarf_Op room[3], *ops;
	Dwarf_Sword offset = 0;
	size_t count;

	if (dwarf_frame_register(frame, column, room, &ops, &count) != 0)
		return false;
	*saved = count > 0;
	if (count == 0)
		return true;
	if (ops[0].atom != DW_OP_call_frame_cfa || count > 2)
		return false;
	if (count == 2 && ops[1].atom != DW_OP_plus_uconst)
		return false;
	if (count == 2)
		offset = (Dwarf_Sword)ops[1].number;
	*at = (int32_t)offset;
	return offset >= -FRAME_MOST && offset <= FRAME_MOST;
}

/* The words below the CFA down to the lowest one with a register. */
static int16_t
count_saved(Dwarf_Frame *frame)
{
	const int32_t most = MU_FRAME_SAVED_MOST * (int32_t)sizeof(uintptr_t);
	int32_t at, lowest = 0;
	int16_t saved;
	int column;

	for (column = 0; column < MU_DWARF_GENERAL; column++) {
		at = 0;
		if (column == MU_DWARF_SP)
			continue;
		if (!find_saved(frame, column, &saved, &at) || at < -most)
			return MU_FRAME_SAVED_MOST;
		if (saved && at < lowest)
			lowest = at;
	}
	return (int16_t)(-lowest / (int32_t)sizeof(uintptr_t));
}

static bool
read_frame(Dwarf_Frame *frame, struct mu_frame_rules *rules)
{
	bool is_signal = false;
	int link = dwarf_frame_info(frame, NULL, NULL, &is_signal);

	rules->saved_words = count_saved(frame);
	return link >= 0 && !is_signal && find_base(frame, rules) &&
	    find_saved(frame, MU_DWARF_FP, &rules->fp_saved, &rules->fp) &&
	    find_saved(frame, link, &rules->link_saved, &rules->link);
}

bool
mu_frame_rules_find(
    Dwfl_Module *module, uintptr_t address, struct mu_frame_rules *rules)
{
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);
	Dwarf_Frame *frame = NULL;
	bool found;

	*rules = (struct mu_frame_rules) { .base = MU_FRAME_UNKNOWN };
	if (cfi == NULL)
		cfi = dwfl_module_dwarf_cfi(module, &bias);
	if (cfi == NULL ||
	    dwarf_cfi_addrframe(cfi, address - bias, &frame) != 0)
		return false;
	found = read_frame(frame, rules);
	free(frame);
	if (!found)
		*rules = (struct mu_frame_rules) { .base = MU_FRAME_UNKNOWN };
	return found;
}

static bool
is_small(int32_t offset)
{
	return offset >= -FRAME_MOST && offset <= FRAME_MOST;
}

bool
mu_frame_rules_check(const struct mu_frame_rules *rules)
{
	return rules->base >= MU_FRAME_UNKNOWN && rules->base <= MU_FRAME_FP &&
	    is_small(rules->cfa) && is_small(rules->fp) &&
	    is_small(rules->link) && (rules->fp_saved | 1) == 1 &&
	    (rules->link_saved | 1) == 1 && rules->saved_words >= 0;
}
