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
 * Layouts lie in the depot, each once, and never change. Lock-free.
 * Runs in: the original, any thread.
 */
#ifndef STACK_LAYOUTS_H
#define STACK_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/hidden.h"
#include "mu/recorded.h"

#define LAYOUT_MOST 64 /* return addresses; frame pointers */
#define LAYOUT_LANES 4
#define LAYOUT_NO_POINTER 0xffffu /* the walk did not begin with one */

/* In the depot, which is words of 8 bytes. */
typedef uint16_t __attribute__((may_alias)) layout_place;

/*
 * Places are in words of 8 bytes from the start. First those of num_returns
 * return addresses, then those of num_pointers frame pointers; of each of the
 * two as many as make a multiple of LAYOUT_LANES, the rest are repetitions.
 * Behind them, of each frame pointer, to where it points.
 */
struct stack_layout {
	uint16_t reach;   /* all places are below */
	uint16_t pointer; /* to where the frame pointer of the start points */
	uint8_t num_returns, num_pointers;
	uint16_t ended; /* 1; 0: there were more frames than wanted */
	layout_place places[3 * LAYOUT_MOST];
} __attribute__((may_alias));

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
 * What belongs to a hash of 64 bits, which is not compared with what was
 * hashed. The check is the hash with the value mixed in, so that of an entry
 * of which one half was read before and one after a change nothing fits.
 */
struct stack_known {
	uint64_t check, value;
};

#define KNOWN_WAYS 4     /* a set is a cache line */
#define KNOWN_SETS 12    /* units of stacks, by their words: 256 KiB */
#define KNOWN_LAYOUTS 11 /* entries of layouts, by their keys: 128 KiB */

/* What the walk notes meanwhile. */
struct stack_trace {
	uintptr_t sp;
	bool lost;        /* it was not only that, or does not fit */
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

bool stack_layouts_init(void);

/* Its entry in the depot; NULL: it cannot be had. */
const struct mu_stack *stack_layout_put(const struct stack_trace *trace);

/*
 * Reads what lies at the places of the layout into FRAMES, whose first one is
 * there; all below LIMIT words from sp. How many frames, or 0.
 */
size_t stack_layout_read(const struct mu_stack *entry, uintptr_t sp,
    uintptr_t fp, size_t limit, uintptr_t *frames, size_t max);

/* In front of its set. */
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

/* What a walk depends on besides the stack: how many frames it may take, what
 * the stack is flagged with, and which code is there. CONFIG is of the first
 * two. */
static inline uint64_t
stack_layout_config(size_t max, uint16_t flags)
{
	return ((uint64_t)max << 16 | flags) * 0xd6e8feb86659fd93ull;
}

static inline uint64_t
stack_layout_wanted(uint64_t config, uint64_t generation)
{
	return config + generation * LAYOUT_MIX;
}

/* Of the layout for who begins there. PC takes 52 bits at most. */
static inline uint64_t
stack_layout_key(uint64_t wanted, uintptr_t pc, uintptr_t sp)
{
	return (wanted ^ (uint64_t)pc ^ (uint64_t)(sp & 0xff8) << 49) *
	    LAYOUT_MIX;
}

/* Of another one, where the words at the places of that of KEY are another
 * walk's: by one of them. */
static inline uint64_t
stack_layout_next_key(uint64_t key, uint64_t word)
{
	key = (key ^ word) * LAYOUT_MIX;
	return key ^ key >> 32;
}

static inline struct stack_known *
stack_layout_set(struct stack_layouts *all, uint64_t key)
{
	return all->layouts[key >> (64 - KNOWN_LAYOUTS)];
}

static inline const struct mu_stack *
stack_layout_find(struct stack_layouts *all, uint64_t key)
{
	return (const struct mu_stack *)(uintptr_t)stack_known_get(
	    stack_layout_set(all, key), key);
}

/* Of NUM words from places[I] on, less BASE. */
static inline __attribute__((always_inline)) uint64_t
stack_layout_sum(const struct stack_layout *layout, size_t i, size_t num,
    uintptr_t sp, uintptr_t base, const uint64_t *factors)
{
	const uintptr_t *stack = (const uintptr_t *)sp;
	const layout_place *at = layout->places + i, *end = at + num;
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
 * Of the words at the places of the layout, all that a walk from PC would
 * depend on; 0: one of them is not below LIMIT.
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

static inline struct stack_known *
stack_known_set(struct stack_layouts *all, uint64_t hash)
{
	return all->stacks[hash >> (64 - KNOWN_SETS)];
}

#endif
