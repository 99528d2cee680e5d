/*
 * The less common frames: those of signals, of code without tables, of
 * functions that realign their stack, and all of aarch64.
 */
#include "lib/malloc_debug/unwind/stack_walk.h"

static bool
load(struct stack_walk *walk, uintptr_t address, uintptr_t *value)
{
	if (address % 8 != 0 || !stack_memory_reach(&walk->memory, address))
		return false;
	*value = *(const uintptr_t *)address;
	return true;
}

#define LARGEST_FRAME ((uintptr_t)1 << 20)

/* The tables have a rule for it, which does not depend on the frame pointer. */
static bool
has_tables(uintptr_t address)
{
	const struct frame_memo *memo =
	    __atomic_load_n(&frame_memo, __ATOMIC_ACQUIRE);
	uint64_t rule = frame_memo_find(
	    memo, frame_memo_now(), mu_unwind_strip(address) - MU_UNWIND_CALL);

	return rule_kind(rule) != FRAME_NO_RULE &&
	    rule_kind(rule) != FRAME_NO_CALL;
}

/*
 * In code without tables the frame pointer points to the saved frame pointer of
 * the caller, followed by the return address. The words there are checked: a
 * caller with tables, such as libc's qsort(), uses that register freely, so
 * there the return address must be plausible. Not done on another stack: a
 * coroutine begins with the frame pointer of its creator, and glibc 2.31 has no
 * table for the code that its first function returns to.
 */
static bool
by_frame_pointer(struct stack_walk *walk)
{
	uintptr_t fp = walk->fp, caller, address;

	walk->rare = true;
	if (fp < walk->sp || fp - walk->sp > LARGEST_FRAME ||
	    fp > UINTPTR_MAX - 16)
		return false;
	walk->slot = fp + 8;
	if (!load(walk, fp, &caller) || !load(walk, walk->slot, &address) ||
	    (caller != 0 && caller <= fp && !has_tables(address)))
		return false;
	walk->fp = caller;
	walk->fp_slot = fp;
	walk->sp = fp + 16;
	walk->sp_known = !MU_UNWIND_LINK;
	return stack_walk_take_return(walk, address);
}

/* The kernel stored the thread's registers above the handler's frame. */
static bool
by_signal(struct stack_walk *walk)
{
	uintptr_t context = walk->sp + MU_SIGNAL_FRAME;

	walk->rare = true;
	walk->slot = 0;
	if (!load(walk, context + MU_SIGNAL_PC, &walk->pc) ||
	    !load(walk, context + MU_SIGNAL_SP, &walk->sp) ||
	    !load(walk, context + MU_SIGNAL_FP, &walk->fp) ||
	    !load(walk, context + MU_SIGNAL_LINK, &walk->link))
		return false;
	walk->has_link = MU_UNWIND_LINK;
	walk->sp_known = true;
	return walk->pc >= STACK_LEAST_PC;
}

static bool
find_cfa(struct stack_walk *walk, uint64_t rule, uintptr_t *cfa)
{
	uintptr_t offset = (uintptr_t)rule_cfa_offset(rule);

	if (rule_kind(rule) == FRAME_REALIGNED) {
		walk->rare = true;
		return load(walk, walk->fp + offset, cfa);
	}
	if ((rule & RULE_CFA_OF_FP) != 0)
		*cfa = walk->fp + offset;
	else if (walk->sp_known)
		*cfa = walk->sp + offset;
	else if ((rule & RULE_FP_SAVED) != 0)
		/* AAPCS64 6.4.6: x29 points to where x29 is saved. */
		*cfa = walk->fp - (uintptr_t)rule_slot(rule);
	else
		return false;
	return true;
}

static bool
find_return(
    struct stack_walk *walk, uint64_t rule, uintptr_t cfa, uintptr_t fp_slot)
{
	uintptr_t address;

	switch (rule_return(rule)) {
	case RETURN_IN_LINK:
		if (!walk->has_link)
			return false;
		walk->slot = 0;
		return stack_walk_take_return(walk, walk->link);
	case RETURN_BEHIND_FP:
		walk->slot = fp_slot + 8;
		break;
	case RETURN_AT_SLOT:
		walk->slot = cfa + (uintptr_t)rule_slot(rule);
		break;
	default:
		walk->slot = cfa - 8;
		break;
	}
	return load(walk, walk->slot, &address) &&
	    stack_walk_take_return(walk, address);
}

bool
stack_walk_rare(struct stack_walk *walk, uint64_t rule)
{
	uintptr_t cfa, fp = walk->fp, fp_slot = 0;

	if (rule_kind(rule) == FRAME_END || rule_kind(rule) == FRAME_NO_CALL) {
		walk->ended = true;
		walk->invented = rule_kind(rule) == FRAME_NO_CALL;
		return false;
	}
	if (rule_kind(rule) == FRAME_SIGNAL)
		return by_signal(walk);
	if (rule_kind(rule) == FRAME_NO_RULE)
		return by_frame_pointer(walk);
	if (!find_cfa(walk, rule, &cfa) || cfa < walk->sp || cfa % 8 != 0 ||
	    (cfa == walk->sp && !walk->has_link))
		return false;
	if ((rule & RULE_FP_SAVED) != 0) {
		fp_slot =
		    (rule_kind(rule) == FRAME_REALIGNED ? walk->fp : cfa) +
		    (uintptr_t)rule_slot(rule);
		if (!load(walk, fp_slot, &fp))
			return false;
		walk->fp_slot = fp_slot;
	}
	if (!find_return(walk, rule, cfa, fp_slot))
		return false;
	walk->has_link = false;
	walk->fp = fp;
	walk->sp = cfa;
	walk->sp_known = true;
	return true;
}
