/*
 * What all parts of the recorder share: its options, the table that a pass
 * reads, messages, and whether a thread is inside.
 */
#ifndef LIB_MALLOC_DEBUG_STATE_STATE_H
#define LIB_MALLOC_DEBUG_STATE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/state/options.h"
#include "mu/recorded.h"

extern struct debug_options recorder_options; /* constant once main() runs */
extern struct mu_recorded memunreachable_recorded;

/* Stacks are being captured; a signal may switch this. */
extern bool recorder_capturing;

/* this process was forked from one that was recorded */
extern bool recorder_child;

/*
 * Mark this thread as inside the recorder: its allocations and their releases
 * are not recorded. Nests. A longjmp() out of it is detected: see inside.h.
 */
void recorder_enter(void);
void recorder_leave(void);
bool recorder_inside(void);

/* The last part of the program's name. */
const char *recorder_program(void);

/* Print "malloc_debug: " and a line on stderr; never allocates. */
void recorder_say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
