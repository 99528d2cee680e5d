/* Reduce the state of a frame to what a walk needs. */
#include "lib/malloc_debug/unwind/frame_rules.h"

#include <string.h>

#include "lib/malloc_debug/unwind/frame_expression.h"
#include "lib/malloc_debug/unwind/frame_program.h"
#include "mu/arch/unwind.h"

static bool
judge_cfa(struct frame_rule *rule, const struct frame_state *now, uintptr_t pc)
{
	struct frame_value value = { BASE_NONE, now->cfa_offset };

	if (now->by_expression) {
		if (!frame_expression(&value, now->cfa_expression, pc))
			return false;
	} else if (now->cfa_register == MU_DWARF_SP) {
		value.base = BASE_SP;
	} else if (now->cfa_register == MU_DWARF_FP) {
		value.base = BASE_FP;
	}
	rule->cfa_of_fp = value.base == BASE_FP;
	rule->cfa_offset = value.offset;
	rule->kind = value.base == BASE_LOADED ? FRAME_REALIGNED : FRAME_PLAIN;
	return value.base != BASE_NONE;
}

static bool
judge_fp(struct frame_rule *rule, const struct frame_saved *fp, uintptr_t pc)
{
	struct frame_value value;

	switch (fp->how) {
	case SAVED_AT_CFA:
		rule->fp_saved = true;
		rule->slot = fp->offset;
		return rule->kind == FRAME_PLAIN;
	case SAVED_AT_EXPRESSION:
		rule->fp_saved = true;
		if (!frame_expression(&value, fp->expression, pc))
			return false;
		rule->slot = value.offset;
		return rule->kind == FRAME_REALIGNED && value.base == BASE_FP;
	default:
		return true; /* if it changed, its callers do not need it */
	}
}

static bool
judge_return(struct frame_rule *rule, const struct frame_saved *ra)
{
	rule->ret = RETURN_BELOW_CFA;
	if (ra->how == SAVED_AT_CFA && ra->offset == -8 && !MU_UNWIND_LINK)
		return true;
	if (!MU_UNWIND_LINK || rule->kind != FRAME_PLAIN)
		return false;
	if (ra->how == SAVED_SAME) {
		rule->ret = RETURN_IN_LINK;
		return true;
	}
	if (ra->how != SAVED_AT_CFA)
		return false;
	if (!rule->fp_saved) {
		rule->ret = RETURN_AT_SLOT;
		rule->slot = ra->offset;
		return true;
	}
	rule->ret = RETURN_BEHIND_FP;
	return ra->offset == rule->slot + 8;
}

void
frame_rule_run(
    struct frame_rule *rule, const struct unwind_entry *entry, uintptr_t pc)
{
	struct frame_state state;
	const struct frame_saved *ra = &state.saved[SAVED_RA];

	memset(rule, 0, sizeof(*rule));
	rule->kind = FRAME_SIGNAL;
	if (entry->signal_frame)
		return;
	rule->kind = FRAME_NO_RULE;
	if (!frame_program_run(&state, entry, pc))
		return;
	if (ra->how == SAVED_UNDEFINED)
		rule->kind = FRAME_END;
	else if (!judge_cfa(rule, &state, pc) ||
	    !judge_fp(rule, &state.saved[SAVED_FP], pc) ||
	    !judge_return(rule, ra))
		rule->kind = FRAME_NO_RULE;
}

/*
 * PC is in no function, and the next function begins right behind it. A call at
 * the end of a function would lie in that function; makecontext() makes the
 * first function of a coroutine return to the first byte of another.
 */
static bool
begins_behind(struct unwind_entry *entry, const struct unwind_module *module,
    uintptr_t pc)
{
	pc += MU_UNWIND_CALL;
	return unwind_entry_find(entry, module, pc) && entry->begin == pc;
}

void
frame_rule_find(
    struct frame_rule *rule, const struct unwind_module *module, uintptr_t pc)
{
	struct unwind_entry entry;

	if (unwind_entry_find(&entry, module, pc)) {
		frame_rule_run(rule, &entry, pc);
		return;
	}
	memset(rule, 0, sizeof(*rule));
	rule->kind =
	    begins_behind(&entry, module, pc) ? FRAME_NO_CALL : FRAME_NO_RULE;
}

uint64_t
frame_rule_pack(const struct frame_rule *rule)
{
	uint64_t cfa = (uint64_t)(rule->cfa_offset / 8);
	uint64_t slot = (uint64_t)(rule->slot / 8);

	if (rule->cfa_offset % 8 != 0 || rule->slot % 8 != 0 ||
	    rule->slot / 8 != (int16_t)slot ||
	    rule->cfa_offset / 8 != (int64_t)(cfa << 40) >> 40)
		return 0;
	return cfa << 40 | (slot & 0xffff) << 24 |
	    (uint64_t)rule->kind << RULE_KIND_SHIFT |
	    (uint64_t)rule->ret << RULE_RETURN_SHIFT |
	    (rule->fp_saved ? RULE_FP_SAVED : 0) |
	    (rule->cfa_of_fp ? RULE_CFA_OF_FP : 0) | RULE_VALID;
}
