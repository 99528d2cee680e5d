/*
 * LeakTracer: records of the blocks that were allocated while monitoring was
 * on, and the file that lists those still live.
 *
 * A record is a slot of the depot (struct mu_stack_slot), whose unit replaces
 * the stack in the word of its block. The state is one atomic word without a
 * lock: it may be read and changed in any thread, in signal handlers and after
 * fork().
 */
#ifndef LIB_MALLOC_DEBUG_LEAKTRACER_LEAKTRACER_H
#define LIB_MALLOC_DEBUG_LEAKTRACER_LEAKTRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/leaktracer/state.h"
#include "lib/malloc_debug/shadow/recording.h"

/*
 * Once leaktracer_active (recording.h) is set, words hold records instead of
 * stacks. It is never reset.
 */

/* Maximum number of frames of a record. */
extern size_t leaktracer_frames;

/*
 * Read the environment, and start monitoring if it says so. Called as early as
 * possible, so it uses neither dlsym() nor signals. Does nothing under
 * AT_SECURE.
 */
void leaktracer_startup(void);

/*
 * The remaining set-up, in the library's constructor before watch_start(): the
 * banner, the signals, the work at exit.
 */
void leaktracer_constructor(void);

/* Called when leaktracer_active is set: tells readers of the tables. */
void leaktracer_publish(void);

/*
 * True if new blocks of this thread are recorded: capture a stack, then tag it.
 */
static inline bool
leaktracer_wants(void)
{
	return leaktracer_active && leaktracer_monitored();
}

/*
 * Make a record with STACK. Returns the value for the word of the new block; 0:
 * do not record it.
 */
uint32_t leaktracer_tag(uint32_t stack);

/*
 * The block at POINTER of SIZE bytes is about to be freed. UNIT is the value
 * from its word, which is cleared already; its memory still exists. UNIT may be
 * any value that a word can hold.
 */
void leaktracer_untag(uint32_t unit, const void *pointer, size_t size);

/*
 * The block after a successful realloc(), which may have changed its size or
 * address. Returns the value for its word. UNIT is the old value; STACK is that
 * of the caller of realloc(), 0 if none was captured.
 */
uint32_t leaktracer_retag(uint32_t unit, uint32_t stack);

/* The functions of the API that start monitoring. */
void leaktracer_monitor_all(void);
void leaktracer_monitor_thread(void);

/*
 * Stop monitoring and write the report of LEAKTRACER_ONEXIT_REPORT; further
 * calls do nothing.
 */
void leaktracer_at_exit(void);

#endif
