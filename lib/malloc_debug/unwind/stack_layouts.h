/*
 * The positions, relative to the initial stack pointer, of the words that a
 * walk read: return addresses, and the saved frame pointers that it used.
 *
 * A walk depends only on the rules of addresses and on these words. So if
 * another walk would begin at the same address, and the same positions hold
 * words that are known to belong together, it would have the same result and
 * need not be made. The layout is chosen by the address and the position of the
 * stack pointer in its page, which is a guess; the words then confirm it.
 *
 * Layouts lie in the depot, each once, and never change. Lock-free.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_STACK_LAYOUTS_H
#define LIB_MALLOC_DEBUG_UNWIND_STACK_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/state/hidden.h"
#include "mu/recorded.h"

#define LAYOUT_MOST 64 /* return addresses; frame pointers */
#define LAYOUT_LANES 4
#define LAYOUT_NO_POINTER 0xffffu /* the walk began without a frame pointer */

/* In the depot, which is words of 8 bytes. */
typedef uint16_t __attribute__((may_alias)) layout_offset;

/*
 * Offsets are in words of 8 bytes from the start. First come those of
 * num_returns return addresses, then those of num_pointers frame pointers; each
 * of the two is padded with repetitions to a multiple of LAYOUT_LANES. Then,
 * for each frame pointer, the offset it points to.
 */
struct stack_layout {
	uint16_t reach;   /* greater than all offsets */
	uint16_t pointer; /* offset that the initial frame pointer points to */
	uint8_t num_returns, num_pointers;
	uint16_t ended; /* the stack ended (1) or was cut at the maximum (0) */
	layout_offset offsets[3 * LAYOUT_MOST];
} __attribute__((may_alias));

/* NUM, rounded up to a multiple of LAYOUT_LANES. */
static inline size_t
stack_layout_lanes(size_t num)
{
	return (num + LAYOUT_LANES - 1) & ~(size_t)(LAYOUT_LANES - 1);
}

/* The layout in the depot's entry of one. */
static inline const struct stack_layout *
stack_layout_in(const struct mu_stack *entry)
{
	return (const struct stack_layout *)entry->frames;
}

/*
 * The value of a 64-bit hash, which is not compared with the hashed data. The
 * check is the hash mixed with the value, so an entry that was read half before
 * and half after a change does not match.
 */
struct stack_known {
	uint64_t check, value;
};

#define KNOWN_WAYS 4     /* a set is a cache line */
#define KNOWN_SETS 12    /* units of stacks, by their words: 256 KiB */
#define KNOWN_LAYOUTS 11 /* entries of layouts, by their keys: 128 KiB */

/* What a walk records. */
struct stack_trace {
	uintptr_t sp;
	bool lost;        /* the walk used other words too, or does not fit */
	bool ended;       /* as in struct stack_layout */
	uint16_t pointer; /* as in struct stack_layout */
	unsigned num_returns, num_pointers;
	uint16_t returns[LAYOUT_MOST], pointers[LAYOUT_MOST];
	uint16_t targets[LAYOUT_MOST];
};

#define LAYOUT_MIX 0x9e3779b97f4a7c15ull

struct stack_layouts {
	struct stack_known stacks[1u << KNOWN_SETS][KNOWN_WAYS];
	struct stack_known layouts[1u << KNOWN_LAYOUTS][KNOWN_WAYS];
	uint64_t factors[2 * LAYOUT_MOST + 1]; /* random and odd */
};

extern HIDDEN struct stack_layouts *stack_layouts; /* written once, by init */

/* Map the tables, once; false without memory. */
bool stack_layouts_init(void);

/* Its entry in the depot; NULL if that cannot be made. */
const struct mu_stack *stack_layout_put(const struct stack_trace *trace);

/*
 * Read the words at the offsets of the layout into FRAMES, whose first element
 * is set already; all below LIMIT words from sp. Returns the number of frames,
 * or 0.
 */
size_t stack_layout_read(const struct mu_stack *entry, uintptr_t sp,
    uintptr_t fp, size_t limit, uintptr_t *frames, size_t max);

/* Insert in front of its set. */
void stack_known_note(struct stack_known *set, uint64_t hash, uint64_t value);

/* The value, or 0. */
static inline __attribute__((always_inline)) uint64_t
stack_known_get(const struct stack_known *set, uint64_t hash)
{
	uint64_t value;
	size_t i;

	for (i = 0; i < KNOWN_WAYS; i++) {
		value = __atomic_load_n(&set[i].value, __ATOMIC_RELAXED);
		if ((__atomic_load_n(&set[i].check, __ATOMIC_ACQUIRE) ^
			value) == hash)
			return value;
	}
	return 0;
}

/*
 * What a walk depends on besides the stack: the maximum number of frames, the
 * flags of the stack, and the loaded code. CONFIG combines the first two.
 */
static inline uint64_t
stack_layout_config(size_t max, uint16_t flags)
{
	return ((uint64_t)max << 16 | flags) * 0xd6e8feb86659fd93ull;
}

/* CONFIG for the code of GENERATION (frame_memo_generation). */
static inline uint64_t
stack_layout_wanted(uint64_t config, uint64_t generation)
{
	return config + generation * LAYOUT_MIX;
}

/* Key of the layout for a walk that begins there. PC has at most 52 bits. */
static inline uint64_t
stack_layout_key(uint64_t wanted, uintptr_t pc, uintptr_t sp)
{
	return (wanted ^ (uint64_t)pc ^ (uint64_t)(sp & 0xff8) << 49) *
	    LAYOUT_MIX;
}

/*
 * Key of another layout, for the case that the words at the offsets of KEY's
 * belong to another walk: derived from one of these words.
 */
static inline uint64_t
stack_layout_next_key(uint64_t key, uint64_t word)
{
	key = (key ^ word) * LAYOUT_MIX;
	return key ^ key >> 32;
}

/* The set in which the layout with KEY is looked up. */
static inline struct stack_known *
stack_layout_set(struct stack_layouts *all, uint64_t key)
{
	return all->layouts[key >> (64 - KNOWN_LAYOUTS)];
}

/*
 * The depot's entry with the layout for KEY; NULL if none is known. It is a
 * guess: see above.
 */
static inline const struct mu_stack *
stack_layout_find(struct stack_layouts *all, uint64_t key)
{
	return (const struct mu_stack *)(uintptr_t)stack_known_get(
	    stack_layout_set(all, key), key);
}

/* Sum over NUM words from offsets[I] on, less BASE. */
static inline __attribute__((always_inline)) uint64_t
stack_layout_sum(const struct stack_layout *layout, size_t i, size_t num,
    uintptr_t sp, uintptr_t base, const uint64_t *factors)
{
	const uintptr_t *stack = (const uintptr_t *)sp;
	const layout_offset *at = layout->offsets + i, *end = at + num;
	uint64_t sum = 0;

	for (factors += i; at < end; at += LAYOUT_LANES) {
		sum += (stack[at[0]] - base) * factors[0] +
		    (stack[at[1]] - base) * factors[1] +
		    (stack[at[2]] - base) * factors[2] +
		    (stack[at[3]] - base) * factors[3];
		factors += LAYOUT_LANES;
	}
	return sum;
}

/*
 * Hash of the words at the offsets of the layout, all that a walk from PC
 * depends on; 0: one of the offsets is not below LIMIT.
 */
static inline __attribute__((always_inline)) uint64_t
stack_layout_hash(const struct stack_layouts *all, const struct mu_stack *entry,
    uint64_t wanted, uintptr_t pc, uintptr_t sp, uintptr_t fp, size_t limit)
{
	const struct stack_layout *layout = stack_layout_in(entry);
	size_t returns = stack_layout_lanes(layout->num_returns);
	size_t pointers = layout->num_pointers;
	uint64_t sum;

	if (__builtin_expect(layout->reach > limit, 0))
		return 0;
	sum = (pc ^ wanted) * LAYOUT_MIX + (uintptr_t)entry;
	if (layout->pointer != LAYOUT_NO_POINTER)
		sum += (fp - sp) * all->factors[2 * LAYOUT_MOST];
	sum += stack_layout_sum(layout, 0, returns, sp, 0, all->factors);
	sum +=
	    stack_layout_sum(layout, returns, pointers, sp, sp, all->factors);
	/* Sums of products are good in their upper bits. */
	return (sum ^ sum >> 32) * LAYOUT_MIX;
}

/* The set in which the unit of a stack with HASH is looked up. */
static inline struct stack_known *
stack_known_set(struct stack_layouts *all, uint64_t hash)
{
	return all->stacks[hash >> (64 - KNOWN_SETS)];
}

#endif
