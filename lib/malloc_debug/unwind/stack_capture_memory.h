/*
 * The readable part of a stack. Nothing records where a stack ends: threads,
 * coroutines and signal handlers have stacks anywhere. So each page is tested
 * once by a system call, from the first one on.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_STACK_CAPTURE_MEMORY_H
#define LIB_MALLOC_DEBUG_UNWIND_STACK_CAPTURE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_range {
	uintptr_t low, high; /* multiples of the page; equal: nothing */
};

/*
 * Only the thread's own stack is remembered between walks, as it exists as long
 * as the thread: a coroutine's stack may be unmapped and replaced by a smaller
 * one. The own stack is recognised because it reaches up to an address at its
 * end.
 *
 * NOW is the range around the current frames, OTHER the one before the walk
 * made a large step: out of a signal handler's stack, or over a huge frame.
 * Initialise with zeros.
 */
struct stack_memory {
	struct stack_range home;    /* the thread's own */
	struct stack_range foreign; /* known not to be that stack: only a
				       hint */
	struct stack_range now, other;
};

/* True if the word at ADDRESS can be read. Pages have at least 4096 bytes. */
bool stack_memory_probe(uintptr_t address);

/*
 * Begin a walk at SP, which lies below TOP if it is in the thread's own stack.
 */
bool stack_memory_begin(
    struct stack_memory *memory, uintptr_t sp, uintptr_t top);

/* Extend memory->now to ADDRESS. False: it cannot be read. */
bool stack_memory_reach(struct stack_memory *memory, uintptr_t address);

/* True if ADDRESS is in RANGE, of which low is never above high. */
static inline bool
stack_range_has(const struct stack_range *range, uintptr_t address)
{
	return address - range->low < range->high - range->low;
}

#endif
