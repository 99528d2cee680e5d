/*
 * The recorder: what the rest of it shares.
 *
 * Runs in: the original, any thread.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/options.h"
#include "lib/malloc_debug/stack_capture.h"
#include "mu/recorded.h"

extern struct debug_options recorder_options; /* constant once main() runs */
extern struct mu_recorded memunreachable_recorded;

/* Stacks are captured just now: a signal may switch it. */
extern bool recorder_capturing;

/* In a process forked from one that was tracked. */
extern bool recorder_child;

/*
 * This thread is inside the recorder: whatever it allocates meanwhile passes
 * by unseen, and is unseen when freed. Nests. Who leaves by longjmp() is found
 * to have left: see inside.h.
 */
void recorder_enter(void);
void recorder_leave(void);
bool recorder_inside(void);

/*
 * Be ready to record, though no option asked for it: LeakTracer's calls. False
 * = it cannot be, and says why. Once ready, always ready.
 */
bool recorder_wake(void);

/*
 * Entries look again at hooks_active, gate_closed, leaktracer_active and
 * journal_on; to be called after any of them has changed.
 */
void recorder_refresh(void);

struct recorded_block {
	uintptr_t begin; /* as the program knows it */
	size_t size;     /* as it asked for */
	uint32_t stack;  /* MU_STACK_... or a unit of the depot */
	enum mu_block_kind kind;
	bool freed; /* held back */
};

/*
 * Every block that is live, in the order of addresses; others may come and go
 * meanwhile. Ends early when VISIT returns false.
 */
void recorder_each(
    bool (*visit)(void *ctx, const struct recorded_block *block), void *ctx);

/* The one at POINTER, or false. */
bool recorder_find(const void *pointer, struct recorded_block *block);

/* Allocated in a child after the fork of a tracked process. */
bool recorder_stack_child(uint32_t stack);

/* The last part of the program's name. */
const char *recorder_program(void);

/* "malloc_debug: " and a line on stderr; never allocates. */
void recorder_say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
