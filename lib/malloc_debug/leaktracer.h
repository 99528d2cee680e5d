/*
 * LeakTracer: records of the blocks that were allocated while somebody asked
 * for it, and the file that lists those still live.
 *
 * A record is a slot of the depot (struct mu_stack_slot), which stands in the
 * word of its block in place of the stack. The state is one atomic word, with
 * no lock: it may be asked and changed in any thread, in signal handlers and
 * after fork().
 *
 * Runs in: the original, any thread.
 */
#ifndef DEBUG_LEAKTRACER_H
#define DEBUG_LEAKTRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/leaktracer_state.h"

/*
 * A LEAKTRACER_ variable is set or a call of the API was made: from then on
 * tags take the place of stacks. Never false again.
 */
extern bool leaktracer_active;

/* Frames to capture for a record at most. */
extern size_t leaktracer_frames;

/*
 * Reads the environment; monitors from here on if that says so. As early as
 * possible: dlsym() and signals are not touched. Nothing under AT_SECURE.
 */
void leaktracer_startup(void);

/*
 * The rest, in the library's constructor, before watch_start(): the banner,
 * the signals, what runs at exit.
 */
void leaktracer_constructor(void);

/* This thread's new blocks become records: capture a stack, then tag. */
static inline bool
leaktracer_wants(void)
{
	return leaktracer_active && leaktracer_monitored();
}

/*
 * STACK becomes a record: what to put into the word of the new block. 0: it is
 * not to be recorded.
 */
uint32_t leaktracer_tag(uint32_t stack);

/*
 * The block at POINTER of SIZE bytes, in whose word UNIT stood, is about to be
 * freed; its word is gone already, its memory still there. UNIT may be
 * anything that stands in words.
 */
void leaktracer_untag(uint32_t unit, const void *pointer, size_t size);

/*
 * The same block after realloc() gave it another size or place: what to put
 * into its word. UNIT stood there before; STACK is of the caller of realloc(),
 * 0 if none was captured. Not to be called if realloc() failed.
 */
uint32_t leaktracer_retag(uint32_t unit, uint32_t stack);

/* The calls of the API that start. */
void leaktracer_monitor_all(void);
void leaktracer_monitor_thread(void);

/*
 * Stops monitoring and writes what LEAKTRACER_ONEXIT_REPORT asked for; further
 * calls do nothing.
 */
void leaktracer_at_exit(void);

#endif
