/*
 * How to step from one frame to its caller: what the unwind tables say about an
 * address, as far as return addresses need it.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_FRAME_RULES_H
#define LIB_MALLOC_DEBUG_UNWIND_FRAME_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/unwind/table.h"

enum frame_kind {
	FRAME_PLAIN,
	FRAME_END,     /* the outermost one: its return address is undefined */
	FRAME_SIGNAL,  /* the interrupted frame: its registers are in the signal
			  frame */
	FRAME_NO_RULE, /* no rule in the tables: use the frame pointer */
	FRAME_NO_CALL, /* not a call: the address to which a coroutine
			  returns */
	FRAME_REALIGNED, /* CFA = *(fp + cfa_offset), fp at fp + slot */
};

/* Location of the return address. */
enum frame_return {
	RETURN_BELOW_CFA, /* at CFA - 8 */
	RETURN_IN_LINK,   /* still in the link register */
	RETURN_BEHIND_FP, /* in the word after the saved frame pointer */
	RETURN_AT_SLOT,   /* at CFA + slot; fp is unchanged */
};

struct frame_rule {
	enum frame_kind kind;
	enum frame_return ret;
	bool cfa_of_fp; /* CFA = fp + cfa_offset, else sp + cfa_offset */
	bool fp_saved;  /* the caller's is at CFA + slot */
	int64_t cfa_offset, slot;
};

/*
 * A packed rule, for the memo:
 *
 * - bit 0: 1
 * - bits 1, 2: cfa_of_fp, fp_saved
 * - bits 3, 4: enum frame_return
 * - bits 5-7: enum frame_kind
 * - bits 8-23: the memo's generation
 * - bits 24-39: slot / 8, signed
 * - bits 40-63: cfa_offset / 8, signed
 */
#define RULE_VALID 1u
#define RULE_CFA_OF_FP 2u
#define RULE_FP_SAVED 4u
#define RULE_RETURN_SHIFT 3
#define RULE_KIND_SHIFT 5
#define RULE_KIND_MASK (7u << RULE_KIND_SHIFT)
#define RULE_MEMO_SHIFT 8
#define RULE_MEMO_MASK (0xffffull << RULE_MEMO_SHIFT)

/* What a packed rule says of the frame. */
static inline enum frame_kind
rule_kind(uint64_t rule)
{
	return (enum frame_kind)(rule >> RULE_KIND_SHIFT & 7);
}

/* Where it has the return address. */
static inline enum frame_return
rule_return(uint64_t rule)
{
	return (enum frame_return)(rule >> RULE_RETURN_SHIFT & 3);
}

/* Bytes from sp, or from fp with RULE_CFA_OF_FP, to the CFA. */
static inline intptr_t
rule_cfa_offset(uint64_t rule)
{
	return ((int64_t)rule >> 40) * 8;
}

/* Bytes from the CFA to the slot of the saved fp or return address. */
static inline intptr_t
rule_slot(uint64_t rule)
{
	return (int16_t)(rule >> 24) * 8;
}

/*
 * RULE packed; 0 if it does not fit: an offset that is no multiple of 8 or too
 * large.
 */
uint64_t frame_rule_pack(const struct frame_rule *rule);

/* Find the rule for the instruction at PC in the tables of its MODULE. */
void frame_rule_find(
    struct frame_rule *rule, const struct unwind_module *module, uintptr_t pc);

/* The same for an entry that was found. */
void frame_rule_run(
    struct frame_rule *rule, const struct unwind_entry *entry, uintptr_t pc);

#endif
