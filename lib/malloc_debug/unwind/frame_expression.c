/*
 * Two kinds occur: those of PLT entries, whose CFA depends on the address
 * within 16 bytes (ld's elf_x86_64 PLT), and those of functions that realign
 * their stack, whose CFA lies right below the frame pointer (gcc's DRAP). Both
 * need only numbers, and one register plus a number.
 */
#include "lib/malloc_debug/unwind/frame_expression.h"

#include "mu/arch/unwind.h"

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

bool
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
