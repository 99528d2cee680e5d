/* Reduce the state of a frame to what a walk needs. */
#include "lib/malloc_debug/unwind/frame_rules.h"

#include <string.h>

#include "lib/malloc_debug/unwind/frame_program.h"
#include "lib/malloc_debug/unwind/table.h"
#include "mu/arch/unwind.h"

enum frame_base {
	BASE_NONE, /* a number */
	BASE_SP,
	BASE_FP,
	BASE_LOADED, /* the word at address fp + offset */
};

/* A number that may be relative to a register. */
struct frame_value {
	enum frame_base base;
	int64_t offset;
};

#define OP_DEREF 0x06
#define OP_AND 0x1a
#define OP_MINUS 0x1c
#define OP_PLUS 0x22
#define OP_PLUS_UCONST 0x23
#define OP_SHL 0x24
#define OP_GE 0x2a
#define OP_LIT0 0x30
#define OP_LIT31 0x4f
#define OP_BREG0 0x70
#define OP_BREG31 0x8f
#define OP_CONST1U 0x08
#define OP_CONST1S 0x09
#define OP_CONST2U 0x0a
#define OP_CONST2S 0x0b

#define MAX_VALUES 8
#define MAX_STEPS 64

struct values {
	struct frame_value at[MAX_VALUES];
	unsigned num;
	bool bad;
};

/*
 * Evaluate DWARF expressions that give a location on the stack.
 *
 * Two kinds occur: those of PLT entries, whose CFA depends on the address
 * within 16 bytes (ld's elf_x86_64 PLT), and those of functions that realign
 * their stack, whose CFA lies right below the frame pointer (gcc's DRAP). Both
 * need only numbers, and one register plus a number.
 */

static void
push(struct values *values, enum frame_base base, int64_t offset)
{
	if (values->num == MAX_VALUES)
		values->bad = true;
	else
		values->at[values->num++] =
		    (struct frame_value) { base, offset };
}

static struct frame_value
pop(struct values *values)
{
	if (values->num == 0) {
		values->bad = true;
		return (struct frame_value) { BASE_NONE, 0 };
	}
	return values->at[--values->num];
}

static void
push_register(
    struct values *values, unsigned number, int64_t offset, uintptr_t pc)
{
	if (number == MU_DWARF_SP)
		push(values, BASE_SP, offset);
	else if (number == MU_DWARF_FP)
		push(values, BASE_FP, offset);
	else if (number == MU_DWARF_RA && !MU_UNWIND_LINK)
		push(values, BASE_NONE, (int64_t)pc + offset);
	else
		values->bad = true;
}

/* Combine two values: only a sum may contain a register, and only one. */
static void
combine(struct values *values, uint8_t op)
{
	struct frame_value b = pop(values), a = pop(values);
	uint64_t x = (uint64_t)a.offset, y = (uint64_t)b.offset;

	if (op == OP_PLUS && (a.base == BASE_NONE || b.base == BASE_NONE)) {
		push(values, a.base == BASE_NONE ? b.base : a.base,
		    (int64_t)(x + y));
		return;
	}
	if (b.base != BASE_NONE || (a.base != BASE_NONE && op != OP_MINUS)) {
		values->bad = true;
		return;
	}
	switch (op) {
	case OP_AND:
		push(values, BASE_NONE, (int64_t)(x & y));
		break;
	case OP_MINUS:
		push(values, a.base, (int64_t)(x - y));
		break;
	case OP_SHL:
		push(values, BASE_NONE, y < 64 ? (int64_t)(x << y) : 0);
		break;
	case OP_GE:
		push(values, BASE_NONE, a.offset >= b.offset);
		break;
	default:
		values->bad = true;
		break;
	}
}

static void
load(struct values *values)
{
	struct frame_value address = pop(values);

	if (address.base != BASE_FP)
		values->bad = true;
	push(values, BASE_LOADED, address.offset);
}

static void
step(struct values *values, struct unwind_bytes *bytes, uintptr_t pc)
{
	uint8_t op = (uint8_t)unwind_take(bytes, 1);

	if (op >= OP_LIT0 && op <= OP_LIT31)
		push(values, BASE_NONE, op - OP_LIT0);
	else if (op >= OP_BREG0 && op <= OP_BREG31)
		push_register(
		    values, op - OP_BREG0, unwind_take_sleb(bytes), pc);
	else if (op == OP_DEREF)
		load(values);
	else if (op == OP_CONST1U)
		push(values, BASE_NONE, (int64_t)unwind_take(bytes, 1));
	else if (op == OP_CONST1S)
		push(values, BASE_NONE, (int8_t)unwind_take(bytes, 1));
	else if (op == OP_CONST2U)
		push(values, BASE_NONE, (int64_t)unwind_take(bytes, 2));
	else if (op == OP_CONST2S)
		push(values, BASE_NONE, (int16_t)unwind_take(bytes, 2));
	else if (op == OP_PLUS_UCONST) {
		push(values, BASE_NONE, (int64_t)unwind_take_uleb(bytes));
		combine(values, OP_PLUS);
	} else
		combine(values, op);
}

/* Evaluate EXPRESSION at the instruction PC. False: not of a supported form. */
static bool
frame_expression(
    struct frame_value *value, struct unwind_bytes expression, uintptr_t pc)
{
	struct values values = { .num = 0 };
	unsigned steps = 0;

	while (expression.at < expression.end && !expression.bad &&
	    !values.bad && ++steps <= MAX_STEPS)
		step(&values, &expression, pc);
	*value = pop(&values);
	return !values.bad && !expression.bad && steps <= MAX_STEPS;
}

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
