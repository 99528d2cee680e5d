/*
 * The rules of addresses that were asked for, for all threads.
 *
 * Runs in: the original, any thread.
 */
#ifndef FRAME_MEMO_H
#define FRAME_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/malloc_debug/frame_rules.h"
#include "lib/malloc_debug/hidden.h"

/* An entry belongs to one address for ever; rule 0: not known yet. */
struct frame_memo_entry {
	uintptr_t pc;
	uint64_t rule;
};

#define FRAME_MEMO_NEIGHBOURS 8

/* Replaced by a larger one; as threads may be in it, it stays. */
struct frame_memo {
	unsigned shift;
	uint32_t used;
	uint64_t reserved;
	struct frame_memo_entry entries[];
};

extern HIDDEN struct frame_memo *frame_memo;

/* In the bits of a rule that are left to us: those of older ones do not count.
 */
extern HIDDEN uint64_t frame_memo_generation;

static inline uint64_t
frame_memo_now(void)
{
	return __atomic_load_n(&frame_memo_generation, __ATOMIC_RELAXED);
}

bool frame_memo_init(void);
void frame_memo_forget(void);

/* Where it was not found. Never 0. */
uint64_t frame_memo_compute(uintptr_t pc);

static inline uint64_t
frame_memo_hash(uintptr_t pc, unsigned shift)
{
	return (uint64_t)pc * 0x9e3779b97f4a7c15ull >> shift;
}

/* The rule of PC; those of the walk must all be of GENERATION. */
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
