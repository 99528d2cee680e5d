/*
 * What is recorded, and which path the entry points take.
 */
#ifndef LIB_MALLOC_DEBUG_SHADOW_RECORDING_H
#define LIB_MALLOC_DEBUG_SHADOW_RECORDING_H

#include <stdbool.h>

#include "lib/malloc_debug/state/hidden.h"

/*
 * Checked first by every entry point. In all states after the first the call is
 * passed to the next allocator.
 */
enum recording_way {
	RECORDING_NOT_STARTED, /* before the first allocation */
	RECORDING_PLAIN,       /* record live blocks, without stacks */
	RECORDING_STACKS,      /* the same with stacks */
	RECORDING_SAMPLED,     /* record only sampled blocks */
	RECORDING_OFF,         /* record nothing */
	RECORDING_CAREFUL,     /* do more than that: use the careful path */
};

extern enum recording_way recording_way HIDDEN;

/*
 * Further inputs; call recorder_refresh() after any change. A hook is
 * registered and LIBC_HOOKS_ENABLE is set; calls are written to the journal; a
 * LEAKTRACER_ variable is set or a function of its API was called; the id of
 * the thread that has closed the gate, or 0; how many threads have new blocks
 * ignored.
 */
extern bool hooks_active, journal_on, leaktracer_active;
extern int gate_closed, disabled_calls;

/* Blocks get words; checked in the careful path. */
extern bool recording_on;

/* All blocks get words, because of an option. Otherwise only LeakTracer's. */
extern bool recording_all;

/* The options require words. */
bool recording_wanted(void);

/* Make the tables for the options or LeakTracer. False = no memory. */
bool recording_start(void);

/*
 * Make the entry points check the flags above again; call after any of them has
 * changed.
 */
void recorder_refresh(void);

/* The recorder is initialised: choose the path of the entry points. */
void recording_choose(void);

/* Out of memory: report it once; existing records stay. */
void recording_stop(void);

#endif
