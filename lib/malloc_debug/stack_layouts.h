/*
 * Where the words lay that a walk read, relative to the stack pointer that it
 * began with: return addresses, and those saved frame pointers by which it
 * went on.
 *
 * A walk goes by rules of addresses and by these words alone. So if another
 * one would begin at the same address, and finds at the same places words that
 * are known to belong together, it would go the same way; it need not be made.
 * What a layout is taken for is a guess, by the address and by where in its
 * page the stack pointer is; the words then tell.
 *
 * Lock-free. Runs in: the original, any thread.
 */
#ifndef STACK_LAYOUTS_H
#define STACK_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/hidden.h"
#include "mu/arch_unwind.h"

#define LAYOUT_WORDS 50
#define LAYOUT_FP_OF_START 0xffffu /* the place of a frame pointer */

/*
 * Offsets in words of 8 bytes: num_returns of return addresses, then
 * num_pointers pairs: where a frame pointer lies, and to where it points.
 */
struct stack_layout {
	uint32_t turn; /* odd: being written */
	uint32_t mark; /* of all that follows but the key; not 0 */
	uint64_t key;
	uint16_t max; /* frames that the walk would take */
	uint8_t num_returns, num_pointers;
	uint32_t reserved;
	uint16_t words[LAYOUT_WORDS + 2];
};

/*
 * Words that are known to belong together, by their hash of 64 bits: the unit
 * of the stack. The check is the hash with the unit mixed in, so that an entry
 * of which one half was read before and one after a change does not fit.
 */
struct stack_known {
	uint64_t check, unit;
};

/* What the walk notes meanwhile. */
struct stack_trace {
	uintptr_t sp;
	bool lost; /* it was not only that, or does not fit */
	unsigned num_returns, num_pointers;
	uint16_t returns[LAYOUT_WORDS], pointers[LAYOUT_WORDS];
};

#define LAYOUT_BITS 11 /* 256 KiB */
#define KNOWN_BITS 13  /* 128 KiB */
#define LAYOUT_MIX 0x9e3779b97f4a7c15ull

struct stack_layouts {
	struct stack_layout layouts[1u << LAYOUT_BITS];
	struct stack_known known[1u << KNOWN_BITS]; /* in pairs */
	uint64_t factors[LAYOUT_WORDS];             /* random and odd */
};

extern HIDDEN struct stack_layouts *stack_layouts; /* written once, by init */

bool stack_layouts_init(void);
void stack_layouts_fork_child(void);

/* 0: it cannot be had. */
uint32_t stack_layout_mark(const struct stack_trace *trace);
void stack_layout_note(
    const struct stack_trace *trace, uint32_t mark, uint64_t key, size_t max);

static inline uint64_t
stack_layout_key(uint64_t key, uint64_t word)
{
	key = (key ^ word) * LAYOUT_MIX;
	return key ^ key >> 32;
}

static inline struct stack_layout *
stack_layout_of(uint64_t key)
{
	return &stack_layouts->layouts[key >> (64 - LAYOUT_BITS)];
}

/* Are the frame pointers as the layout has them, from words[I] on? */
static inline bool
stack_layout_agrees(const struct stack_layout *layout, size_t i, size_t num,
    uintptr_t sp, uintptr_t fp, size_t limit)
{
	const uintptr_t *stack = (const uintptr_t *)sp;
	const uint16_t *pair = &layout->words[i];
	uintptr_t there;
	size_t at;

	if (i + 2 * num > LAYOUT_WORDS)
		return false;
	for (; num > 0; num--, pair += 2) {
		at = __atomic_load_n(&pair[0], __ATOMIC_RELAXED);
		if (at == LAYOUT_FP_OF_START)
			there = fp;
		else if (at < limit)
			there = stack[at];
		else
			return false;
		if (there !=
		    sp + 8ul * __atomic_load_n(&pair[1], __ATOMIC_RELAXED))
			return false;
	}
	return true;
}

static inline struct stack_known *
stack_known_of(uint64_t hash, size_t way)
{
	return &stack_layouts->known[hash >> (64 - KNOWN_BITS) ^ way];
}

static inline uint64_t
stack_known_check(uint64_t hash, uint64_t unit)
{
	return hash ^ unit * LAYOUT_MIX;
}

/*
 * The unit of the stack, if its words at the places of the layout of KEY are
 * known to follow START, which stands for the address and what is wanted;
 * else 0, and *HASH, by which it can be noted if it is not 0.
 */
static inline uint32_t
stack_known_find(uint64_t *hash, uint64_t key, uint64_t start, uintptr_t sp,
    uintptr_t fp, size_t limit)
{
	const struct stack_layout *layout = stack_layout_of(key);
	const struct stack_known *known;
	const uintptr_t *stack = (const uintptr_t *)sp;
	const uint64_t *factors = stack_layouts->factors;
	uint32_t turn = __atomic_load_n(&layout->turn, __ATOMIC_ACQUIRE);
	uint64_t sum, unit;
	size_t i, at, num;

	*hash = 0;
	num = __atomic_load_n(&layout->num_returns, __ATOMIC_RELAXED);
	if (__atomic_load_n(&layout->key, __ATOMIC_RELAXED) != key ||
	    turn % 2 != 0 || num > LAYOUT_WORDS)
		return 0;
	sum = start + __atomic_load_n(&layout->mark, __ATOMIC_RELAXED);
	for (i = 0; i < num; i++) {
		at = __atomic_load_n(&layout->words[i], __ATOMIC_RELAXED);
		if (at >= limit)
			return 0;
		sum += stack[at] * factors[i];
	}
	if (!stack_layout_agrees(layout, num,
		__atomic_load_n(&layout->num_pointers, __ATOMIC_RELAXED), sp,
		fp, limit))
		return 0;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&layout->turn, __ATOMIC_RELAXED) != turn)
		return 0;
	/* Sums of products are good in their upper bits. */
	*hash = (sum ^ sum >> 32) * LAYOUT_MIX;
	for (i = 0; i < 2; i++) {
		known = stack_known_of(*hash, i);
		unit = __atomic_load_n(&known->unit, __ATOMIC_RELAXED);
		if (__atomic_load_n(&known->check, __ATOMIC_RELAXED) ==
		    stack_known_check(*hash, unit))
			return (uint32_t)unit;
	}
	return 0;
}

void stack_known_note(uint64_t hash, uint32_t unit);

/*
 * Reads what lies at the places of the layout of KEY into FRAMES, whose first
 * one is there; all below LIMIT words from sp. How many frames, or 0.
 */
static inline size_t
stack_layout_read(uint32_t *mark, uint64_t key, uintptr_t sp, uintptr_t fp,
    size_t limit, uintptr_t *frames, size_t max)
{
	const struct stack_layout *layout = stack_layout_of(key);
	const uintptr_t *stack = (const uintptr_t *)sp;
	uint32_t turn = __atomic_load_n(&layout->turn, __ATOMIC_ACQUIRE);
	size_t i, at, num;

	num = __atomic_load_n(&layout->num_returns, __ATOMIC_RELAXED);
	*mark = __atomic_load_n(&layout->mark, __ATOMIC_RELAXED);
	if (__atomic_load_n(&layout->key, __ATOMIC_RELAXED) != key ||
	    __atomic_load_n(&layout->max, __ATOMIC_RELAXED) != max ||
	    turn % 2 != 0 || num >= max || num > LAYOUT_WORDS)
		return 0;
	for (i = 0; i < num; i++) {
		at = __atomic_load_n(&layout->words[i], __ATOMIC_RELAXED);
		if (at >= limit)
			return 0;
		frames[i + 1] = mu_unwind_strip(stack[at]) - MU_UNWIND_CALL;
	}
	if (!stack_layout_agrees(layout, num,
		__atomic_load_n(&layout->num_pointers, __ATOMIC_RELAXED), sp,
		fp, limit))
		return 0;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&layout->turn, __ATOMIC_RELAXED) != turn)
		return 0;
	return num + 1;
}

#endif
