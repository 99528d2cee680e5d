/*
 * Look up a stack in the depot.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_STACK_DEPOT_FIND_H
#define LIB_MALLOC_DEBUG_UNWIND_STACK_DEPOT_FIND_H

#include "lib/malloc_debug/state/hidden.h"
#include "lib/malloc_debug/unwind/stack_depot.h"
#include "lib/malloc_debug/unwind/stack_depot_memory.h"

#define DEPOT_BUCKET_BITS 16

/* Units; written once, by init. */
extern HIDDEN uint32_t *depot_buckets;

#define DEPOT_LANES 16

extern HIDDEN const uint64_t depot_factors[DEPOT_LANES];

/*
 * Multilinear hashing: a sum of products, which do not depend on each other.
 * The upper bits of the sum are good; they are folded into the lower ones.
 */
static inline uint64_t
depot_hash(const uint64_t *frames, size_t num_frames, uint16_t flags)
{
	uint64_t sum = num_frames << 16 | flags;
	size_t i, lane;

	for (i = 0; i < num_frames; i += lane) {
		sum = (sum ^ sum >> 32) * 0xd6e8feb86659fd93ull;
		for (lane = 0; lane < DEPOT_LANES && i + lane < num_frames;
		     lane++)
			sum += frames[i + lane] * depot_factors[lane];
	}
	sum = (sum ^ sum >> 32) * 0xd6e8feb86659fd93ull;
	return sum ^ sum >> 29;
}

/* The bucket of the stacks with this hash; it holds the unit of the first. */
static inline uint32_t *
depot_bucket(uint64_t hash)
{
	return &depot_buckets[hash >> (64 - DEPOT_BUCKET_BITS)];
}

/*
 * True if the stored STACK has these frames and flags. HASH is the lower half
 * of depot_hash().
 */
static inline bool
depot_same(const struct mu_stack *stack, uint32_t hash, const uint64_t *frames,
    size_t num_frames, uint16_t flags)
{
	uint64_t differ = 0;
	size_t i;

	if (stack->hash != hash || stack->num_frames != num_frames ||
	    stack->flags != flags)
		return false;
	for (i = 0; i < num_frames; i++)
		differ |= stack->frames[i] ^ frames[i];
	return differ == 0;
}

/* Search the bucket that begins with UNIT, up to END. */
static inline uint32_t
depot_find_in_bucket(uint32_t unit, uint32_t end, uint32_t hash,
    const uint64_t *frames, size_t num_frames, uint16_t flags)
{
	const struct mu_stack *stack;

	for (; unit != end && unit != 0; unit = stack->next) {
		stack = depot_memory_at(unit);
		if (depot_same(stack, hash, frames, num_frames, flags))
			return unit;
	}
	return 0;
}

/*
 * The unit of frames that were read with a layout (see stack_layouts.h); 0
 * unless a walk stored the stack with this layout.
 */
static inline uint32_t
stack_depot_find(
    const uintptr_t *frames, size_t num_frames, uint16_t flags, uint32_t layout)
{
	const uint64_t *words = (const uint64_t *)frames;
	uint64_t hash = depot_hash(words, num_frames, flags);
	uint32_t unit = __atomic_load_n(depot_bucket(hash), __ATOMIC_ACQUIRE);

	unit = depot_find_in_bucket(
	    unit, 0, (uint32_t)hash, words, num_frames, flags);
	if (unit != 0 &&
	    __atomic_load_n(
		&depot_memory_at(unit)->reserved, __ATOMIC_RELAXED) != layout)
		return 0;
	return unit;
}

/* As stack_depot_put(), for a walk with this layout if it is not 0. */
uint32_t stack_depot_put_walked(const uintptr_t *frames, size_t num_frames,
    uint16_t flags, uint32_t layout);

#endif
