/*
 * Step from frame to frame.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_STACK_WALK_H
#define LIB_MALLOC_DEBUG_UNWIND_STACK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/state/hidden.h"
#include "lib/malloc_debug/unwind/frame_memo.h"
#include "lib/malloc_debug/unwind/stack_capture.h"
#include "lib/malloc_debug/unwind/stack_capture_memory.h"
#include "mu/arch/unwind.h"

struct stack_walk {
	struct stack_memory memory;
	uintptr_t pc; /* inside the call, or where a signal interrupted */
	uintptr_t sp, fp;
	uintptr_t link;    /* aarch64, where a signal interrupted */
	uintptr_t slot;    /* address of the return address to pc */
	uintptr_t fp_slot; /* address that fp was loaded from; 0: never */
	bool has_link;
	bool sp_known; /* otherwise it is only a lower bound */
	bool rare;     /* used a signal frame, a guess, another load */
	bool ended;    /* the outermost frame was reached */
	bool invented; /* pc is not in a call: no call ends at the return
			  address */
};

/*
 * The known part of this thread's stack. A walk takes it for its duration; a
 * signal handler that interrupts the walk finds it empty.
 */
extern HIDDEN _Thread_local struct stack_memory stack_thread_memory
    __attribute__((tls_model("initial-exec")));

/*
 * Returns false if there is nothing to walk; call stack_walk_end()
 * nevertheless.
 */
bool stack_walk_begin(
    struct stack_walk *walk, uintptr_t pc, uintptr_t sp, uintptr_t fp);
void stack_walk_end(const struct stack_walk *walk);

/* Returns false after the last frame. */
bool stack_walk_rare(struct stack_walk *walk, uint64_t rule);

/* Lower values are not return addresses. */
#define STACK_LEAST_PC 65536

/*
 * Continue in the function that ADDRESS returns to. Returns false if it is no
 * return address.
 */
static inline bool
stack_walk_take_return(struct stack_walk *walk, uintptr_t address)
{
	address = mu_unwind_strip(address);
	if (address < STACK_LEAST_PC)
		return false;
	walk->pc = address - MU_UNWIND_CALL;
	return true;
}

/* True if [sp, CFA) is readable stack. */
static inline bool
stack_walk_reaches(struct stack_walk *walk, uintptr_t cfa)
{
	if (__builtin_expect(cfa - 8 < walk->sp || cfa % 8 != 0, 0))
		return false;
	return __builtin_expect(
		   stack_range_has(&walk->memory.now, cfa - 8), 1) ||
	    stack_memory_reach(&walk->memory, cfa - 8);
}

/* The most common form: all frames of gcc and clang on x86-64. */
#define RULE_COMMON_MASK (RULE_KIND_MASK | 3u << RULE_RETURN_SHIFT | RULE_VALID)

/*
 * Step to the caller by RULE, that of walk->pc. Returns false after the last
 * frame, and where the stack cannot be read.
 */
static inline bool
stack_walk_step(struct stack_walk *walk, uint64_t rule)
{
	uintptr_t cfa, at;

	if (__builtin_expect((rule & RULE_COMMON_MASK) != RULE_VALID, 0))
		return stack_walk_rare(walk, rule);
	cfa = ((rule & RULE_CFA_OF_FP) != 0 ? walk->fp : walk->sp) +
	    (uintptr_t)rule_cfa_offset(rule);
	if (!stack_walk_reaches(walk, cfa))
		return false;
	if ((rule & RULE_FP_SAVED) != 0) {
		at = cfa + (uintptr_t)rule_slot(rule);
		/*
		 * After a large step the page below is not known to be
		 * readable.
		 */
		if (at > cfa - 8 ||
		    (at < walk->memory.now.low &&
			!stack_memory_reach(&walk->memory, at)))
			return false;
		walk->fp = *(const uintptr_t *)at;
		walk->fp_slot = at;
	}
	walk->slot = cfa - 8;
	walk->sp = cfa;
	return stack_walk_take_return(walk, *(const uintptr_t *)walk->slot);
}

#endif
