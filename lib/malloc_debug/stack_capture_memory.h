/*
 * Which addresses of a stack can be read. Where a stack ends is told by
 * nobody: threads, coroutines and handlers of signals have theirs anywhere.
 * So pages are tried by a system call, each once, from the first one on.
 *
 * Runs in: the original, any thread.
 */
#ifndef STACK_CAPTURE_MEMORY_H
#define STACK_CAPTURE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_range {
	uintptr_t low, high; /* multiples of the page; equal: nothing */
};

/*
 * Only the thread's own stack is remembered from walk to walk, as it is there
 * while the thread is: that of a coroutine is gone some day, and a smaller one
 * comes to its place. It is known by reaching up to what is at its end.
 *
 * Around the frames just now, and those of the walk before it went far: out
 * of a handler's stack, or over a huge frame. Zeros are a good beginning.
 */
struct stack_memory {
	struct stack_range home;    /* the thread's own */
	struct stack_range foreign; /* found not to be that: a hint only */
	struct stack_range now, other;
};

/* Can the word at ADDRESS be read? A page is 4096 bytes at least. */
bool stack_memory_probe(uintptr_t address);

/* A walk begins at SP, which lies below TOP if it is the thread's own stack. */
bool stack_memory_begin(
    struct stack_memory *memory, uintptr_t sp, uintptr_t top);

/* Have ADDRESS in memory->now. False: it cannot be read. */
bool stack_memory_reach(struct stack_memory *memory, uintptr_t address);

static inline bool
stack_range_has(const struct stack_range *range, uintptr_t address)
{
	return address - range->low < range->high - range->low;
}

#endif
