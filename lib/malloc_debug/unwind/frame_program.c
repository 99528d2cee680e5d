#include "lib/malloc_debug/unwind/frame_program.h"

#include <stddef.h>

#include "mu/arch/unwind.h"

#define CFA_ADVANCE_LOC 0x40 /* the upper two bits; a number in the others */
#define CFA_OFFSET 0x80
#define CFA_RESTORE 0xc0

enum {
	CFA_NOP,
	CFA_SET_LOC,
	CFA_ADVANCE_LOC1,
	CFA_ADVANCE_LOC2,
	CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

#define MAX_REMEMBERED 3 /* compilers nest one; the stack may be small */

struct run {
	const struct unwind_entry *entry;
	struct frame_state now, initial, remembered[MAX_REMEMBERED];
	unsigned num_remembered;
	uintptr_t location, pc;
	bool bad;
};

/* The rule of register NUMBER; NULL for those that are not tracked. */
static struct frame_saved *
saved_of(struct run *run, struct frame_state *state, uint64_t number)
{
	if (number == MU_DWARF_FP)
		return &state->saved[SAVED_FP];
	if (number == run->entry->return_column)
		return &state->saved[SAVED_RA];
	return NULL;
}

static void
set(struct run *run, uint64_t number, enum frame_saved_how how, int64_t offset,
    struct unwind_bytes expression)
{
	struct frame_saved *saved = saved_of(run, &run->now, number);

	if (saved != NULL)
		*saved = (struct frame_saved) { how, offset, expression };
}

static void
set_plain(struct run *run, uint64_t number, enum frame_saved_how how)
{
	set(run, number, how, 0, (struct unwind_bytes) { NULL, NULL, false });
}

/* FACTORED is unsigned, as a product that overflows must not trap. */
static void
set_offset(struct run *run, uint64_t number, uint64_t factored)
{
	set(run, number, SAVED_AT_CFA,
	    (int64_t)(factored * (uint64_t)run->entry->data_align),
	    (struct unwind_bytes) { NULL, NULL, false });
}

static void
restore(struct run *run, uint64_t number)
{
	struct frame_saved *saved = saved_of(run, &run->now, number);

	if (saved != NULL)
		*saved = *saved_of(run, &run->initial, number);
}

static void
remember(struct run *run)
{
	if (run->num_remembered == MAX_REMEMBERED)
		run->bad = true;
	else
		run->remembered[run->num_remembered++] = run->now;
}

static void
restore_state(struct run *run)
{
	if (run->num_remembered == 0)
		run->bad = true;
	else
		run->now = run->remembered[--run->num_remembered];
}

static void
advance(struct run *run, uint64_t delta)
{
	run->location += delta * run->entry->code_align;
}

static void
define_cfa(struct run *run, uint64_t number, int64_t offset)
{
	run->now.by_expression = false;
	run->now.cfa_register = number;
	run->now.cfa_offset = offset;
}

static int64_t
factored_sleb(struct run *run, struct unwind_bytes *bytes)
{
	return (int64_t)((uint64_t)unwind_take_sleb(bytes) *
	    (uint64_t)run->entry->data_align);
}

/* Instructions that define the CFA. */
static void
step_cfa(struct run *run, struct unwind_bytes *bytes, uint8_t op)
{
	struct frame_state *now = &run->now;
	uint64_t number;

	switch (op) {
	case CFA_DEF_CFA:
		number = unwind_take_uleb(bytes);
		define_cfa(run, number, (int64_t)unwind_take_uleb(bytes));
		break;
	case CFA_DEF_CFA_SF:
		number = unwind_take_uleb(bytes);
		define_cfa(run, number, factored_sleb(run, bytes));
		break;
	case CFA_DEF_CFA_REGISTER:
		define_cfa(run, unwind_take_uleb(bytes), now->cfa_offset);
		break;
	case CFA_DEF_CFA_OFFSET:
		now->cfa_offset = (int64_t)unwind_take_uleb(bytes);
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		now->cfa_offset = factored_sleb(run, bytes);
		break;
	default: /* CFA_DEF_CFA_EXPRESSION */
		now->by_expression = true;
		now->cfa_expression =
		    unwind_take_block(bytes, unwind_take_uleb(bytes));
		break;
	}
}

/* Instructions that define a register. */
static void
step_register(struct run *run, struct unwind_bytes *bytes, uint8_t op)
{
	uint64_t number = unwind_take_uleb(bytes);

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_offset(run, number, unwind_take_uleb(bytes));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		set_offset(run, number, (uint64_t)unwind_take_sleb(bytes));
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_offset(run, number, 0 - unwind_take_uleb(bytes));
		break;
	case CFA_RESTORE_EXTENDED:
		restore(run, number);
		break;
	case CFA_UNDEFINED:
		set_plain(run, number, SAVED_UNDEFINED);
		break;
	case CFA_SAME_VALUE:
		set_plain(run, number, SAVED_SAME);
		break;
	case CFA_EXPRESSION:
		set(run, number, SAVED_AT_EXPRESSION, 0,
		    unwind_take_block(bytes, unwind_take_uleb(bytes)));
		break;
	case CFA_VAL_EXPRESSION:
		set_plain(run, number, SAVED_ELSEWHERE);
		unwind_take_block(bytes, unwind_take_uleb(bytes));
		break;
	default: /* CFA_REGISTER, CFA_VAL_OFFSET, CFA_VAL_OFFSET_SF */
		set_plain(run, number, SAVED_ELSEWHERE);
		unwind_take_uleb(bytes);
		break;
	}
}

static void
step_extended(struct run *run, struct unwind_bytes *bytes, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
	case CFA_AARCH64_NEGATE_RA_STATE:
		break;
	case CFA_ADVANCE_LOC1:
		advance(run, unwind_take(bytes, 1));
		break;
	case CFA_ADVANCE_LOC2:
		advance(run, unwind_take(bytes, 2));
		break;
	case CFA_ADVANCE_LOC4:
		advance(run, unwind_take(bytes, 4));
		break;
	case CFA_REMEMBER_STATE:
		remember(run);
		break;
	case CFA_RESTORE_STATE:
		restore_state(run);
		break;
	case CFA_GNU_ARGS_SIZE:
		unwind_take_uleb(bytes);
		break;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
	case CFA_DEF_CFA_EXPRESSION:
		step_cfa(run, bytes, op);
		break;
	default:
		if (op == CFA_SET_LOC ||
		    (op > CFA_VAL_EXPRESSION &&
			op != CFA_GNU_NEGATIVE_OFFSET_EXTENDED))
			run->bad = true; /* no compiler emits it */
		else
			step_register(run, bytes, op);
		break;
	}
}

static void
run_program(struct run *run, struct unwind_bytes bytes)
{
	uint8_t op, low;

	while (bytes.at < bytes.end && !bytes.bad && !run->bad &&
	    run->location <= run->pc) {
		op = (uint8_t)unwind_take(&bytes, 1);
		low = op & 0x3f;
		switch (op & 0xc0) {
		case CFA_ADVANCE_LOC:
			advance(run, low);
			break;
		case CFA_OFFSET:
			set_offset(run, low, unwind_take_uleb(&bytes));
			break;
		case CFA_RESTORE:
			restore(run, low);
			break;
		default:
			step_extended(run, &bytes, op);
			break;
		}
	}
	run->bad |= bytes.bad;
}

bool
frame_program_run(
    struct frame_state *state, const struct unwind_entry *entry, uintptr_t pc)
{
	struct run run = { .entry = entry, .pc = pc, .location = 0 };

	run_program(&run, entry->initial);
	run.initial = run.now;
	run.location = entry->begin;
	run_program(&run, entry->program);
	*state = run.now;
	return !run.bad;
}
