/*
 * The recorder: what its parts share.
 */
#ifndef LIB_MALLOC_DEBUG_SHADOW_RECORDER_H
#define LIB_MALLOC_DEBUG_SHADOW_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/entry/options.h"
#include "lib/malloc_debug/unwind/stack_capture.h"
#include "mu/recorded.h"

extern struct debug_options recorder_options; /* constant once main() runs */
extern struct mu_recorded memunreachable_recorded;

/* Stacks are being captured; a signal may switch this. */
extern bool recorder_capturing;

/* In a process forked from one that was tracked. */
extern bool recorder_child;

/*
 * Mark this thread as inside the recorder: its allocations and their releases
 * are not recorded. Nests. A longjmp() out of it is detected: see inside.h.
 */
void recorder_enter(void);
void recorder_leave(void);
bool recorder_inside(void);

/*
 * Prepare recording, though no option requested it: for LeakTracer's functions.
 * False: not possible, and the reason is printed. Cannot be undone.
 */
bool recorder_wake(void);

/*
 * Make the entry points check hooks_active, gate_closed, leaktracer_active and
 * journal_on again; call after any of them has changed.
 */
void recorder_refresh(void);

struct recorded_block {
	uintptr_t begin; /* the program's address */
	size_t size;     /* requested size */
	uint32_t stack;  /* MU_STACK_... or a unit of the depot */
	enum mu_block_kind kind;
	bool freed; /* held back */
};

/*
 * Visit every live block by address, until VISIT returns false; other threads
 * may add and remove blocks during that.
 */
void recorder_each(
    bool (*visit)(void *ctx, const struct recorded_block *block), void *ctx);

/* The block at POINTER; false if there is none. */
bool recorder_find(const void *pointer, struct recorded_block *block);

/* Allocated in a child after the fork of a tracked process. */
bool recorder_stack_child(uint32_t stack);

/* The last part of the program's name. */
const char *recorder_program(void);

/* "malloc_debug: " and a line on stderr; never allocates. */
void recorder_say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
