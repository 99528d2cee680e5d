/*
 * A cache of unwind rules by address, shared by all threads.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_FRAME_MEMO_H
#define LIB_MALLOC_DEBUG_UNWIND_FRAME_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/malloc_debug/state/hidden.h"
#include "lib/malloc_debug/unwind/frame_rules.h"

/* An entry belongs to one address for ever. rule 0: not known yet. */
struct frame_memo_entry {
	uintptr_t pc;
	uint64_t rule;
};

#define FRAME_MEMO_NEIGHBOURS 8

/*
 * A full table is replaced by a larger one; the old one stays mapped, as
 * threads may be reading it.
 */
struct frame_memo {
	unsigned shift;
	uint32_t used;
	uint64_t reserved;
	struct frame_memo_entry entries[];
};

extern HIDDEN struct frame_memo *frame_memo;

/*
 * Stored in the memo bits of each rule; rules of an older generation are
 * invalid.
 */
extern HIDDEN uint64_t frame_memo_generation;

/* The generation for the rules of a walk that begins now. */
static inline uint64_t
frame_memo_now(void)
{
	return __atomic_load_n(&frame_memo_generation, __ATOMIC_RELAXED);
}

/*
 * Map the first table; false without memory. frame_memo_forget() makes all
 * rules invalid.
 */
bool frame_memo_init(void);
void frame_memo_forget(void);

/* Compute the rule of PC after a miss. Never 0. */
uint64_t frame_memo_compute(uintptr_t pc);

/*
 * The first of FRAME_MEMO_NEIGHBOURS entries in which PC can be (Fibonacci
 * hashing).
 */
static inline uint64_t
frame_memo_hash(uintptr_t pc, unsigned shift)
{
	return (uint64_t)pc * 0x9e3779b97f4a7c15ull >> shift;
}

/* Returns the rule of PC. All rules of one walk must be of GENERATION. */
static inline uint64_t
frame_memo_find(
    const struct frame_memo *memo, uint64_t generation, uintptr_t pc)
{
	const struct frame_memo_entry *entry =
	    &memo->entries[frame_memo_hash(pc, memo->shift)];
	uint64_t rule;
	unsigned i;

	for (i = 0; i < FRAME_MEMO_NEIGHBOURS; i++, entry++) {
		if (__atomic_load_n(&entry->pc, __ATOMIC_RELAXED) != pc)
			continue;
		rule = __atomic_load_n(&entry->rule, __ATOMIC_RELAXED);
		if (rule != 0 && ((rule ^ generation) & RULE_MEMO_MASK) == 0)
			return rule;
		break;
	}
	return frame_memo_compute(pc);
}

#endif
