/*
 * The short paths through the recorder, inline in the entry points.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_ENTRY_H
#define LIB_MALLOC_DEBUG_ENTRY_ENTRY_H

#include "lib/malloc_debug/entry/call.h"
#include "lib/malloc_debug/entry/dispatch.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/shadow/sampling.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/state/bootstrap.h"
#include "lib/malloc_debug/state/inside.h"
#include "lib/malloc_debug/state/real.h"
#include "lib/malloc_debug/state/state.h"

#define ENTRY __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)

/*
 * Other paths are in separate functions, so that the short path needs no frame.
 * They are jumped to, not called, so their caller is the program. With
 * compilers that do neither, stacks begin with an entry point of ours, which is
 * harmless.
 */
#if defined(__has_attribute) && __has_attribute(musttail)
#define JUMP __attribute__((musttail)) return
#else
#pragma GCC optimize("optimize-sibling-calls")
#define JUMP return
#endif
#define LONG_WAY static __attribute__((noinline))

/* The path that calls take at this moment; another thread may change it. */
INLINE enum recording_way
entry_way(void)
{
	return __atomic_load_n(&recording_way, __ATOMIC_RELAXED);
}

/* True if each block gets a word without a stack, and nothing else is done. */
INLINE bool
entry_is_plain(enum recording_way way)
{
	return way == RECORDING_PLAIN && inside.depth == 0;
}

/* The same with a stack. */
INLINE bool
entry_is_stacked(enum recording_way way)
{
	return way == RECORDING_STACKS && inside.depth == 0;
}

/* True if WAY takes the short path, with a stack or without. */
INLINE bool
entry_is_short(enum recording_way way)
{
	return LIKELY((unsigned)way - RECORDING_PLAIN <=
		RECORDING_STACKS - RECORDING_PLAIN &&
	    inside.depth == 0);
}

/*
 * True if only sampled blocks are recorded. This path must be the fastest: even
 * a pair of calls that only pass to the next allocator takes half as long.
 */
INLINE bool
entry_samples(enum recording_way way)
{
	return way == RECORDING_SAMPLED;
}

/* True if a block of SIZE bytes is not recorded at all. */
INLINE bool
entry_passes(enum recording_way way, size_t size)
{
	return (LIKELY(entry_samples(way)) && LIKELY(!sampling_wants(size))) ||
	    way == RECORDING_OFF;
}

/*
 * Allocators other than glibc's may make blocks of 16 bytes, which have one
 * word.
 */
INLINE size_t
entry_bytes(size_t size)
{
	return size < real.least ? real.least : size;
}

/*
 * Write the word of a new block. If there is no memory for it, recording ends:
 * tables with gaps would mislead.
 */
INLINE void
entry_put(
    const void *block, size_t size, uint32_t stack, enum mu_block_kind kind)
{
	if (!LIKELY(live_put(block, size, mu_shadow_word(stack, kind))))
		recording_stop();
}

/* Record BLOCK without a stack, unless it is NULL. Returns BLOCK. */
INLINE void *
entry_plain(void *block, size_t size, enum mu_block_kind kind)
{
	if (LIKELY(block != NULL))
		entry_put(block, size, stack_id_off, kind);
	return block;
}

/*
 * Record BLOCK with the stack that begins at the fields of a struct
 * stack_start, passed in registers. NULL is passed on.
 */
void *entry_stacked(void *block, size_t size, enum mu_block_kind kind,
    uintptr_t pc, uintptr_t sp, uintptr_t fp);

/*
 * Record BLOCK by WAY, RECORDING_STACKS or RECORDING_PLAIN. START is that of
 * the entry point. Returns BLOCK.
 */
INLINE void *
entry_record(enum recording_way way, void *block, size_t size,
    enum mu_block_kind kind, struct stack_start start)
{
	return way == RECORDING_STACKS
	    ? entry_stacked(block, size, kind, start.pc, start.sp, start.fp)
	    : entry_plain(block, size, kind);
}

/*
 * True if the next allocator can free BLOCK without further steps: no word of
 * it is left. inside.depth need not be checked: a block with a word was not
 * allocated inside the recorder.
 */
INLINE bool
entry_frees(enum recording_way way, const void *block)
{
	if (LIKELY(entry_samples(way))) {
		/* bootstrap_memory counts as near. */
		if (LIKELY(!live_is_near(block)))
			return true;
		if (live_word(block) != 0)
			return false;
	} else if (LIKELY((unsigned)way - RECORDING_PLAIN <=
		       RECORDING_STACKS - RECORDING_PLAIN)) {
		if (LIKELY(live_take_plain(block)))
			return true;
		if (live_word(block) != 0)
			return false;
	} else if (way != RECORDING_OFF) {
		return false;
	}
	return !bootstrap_owns(block);
}

#endif
