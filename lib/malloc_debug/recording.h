/*
 * Is anything recorded, and which way do entries take?
 *
 * Runs in: the original, any thread.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include <stdbool.h>

#include "lib/malloc_debug/hidden.h"

/* What an entry asks first; every one below leads to the next allocator. */
enum recording_way {
	RECORDING_UNBORN,  /* no allocation was seen yet */
	RECORDING_PLAIN,   /* live blocks, without stacks */
	RECORDING_STACKS,  /* with stacks */
	RECORDING_SAMPLED, /* only those blocks that are sampled */
	RECORDING_ASLEEP,  /* nothing */
	RECORDING_CAREFUL, /* something else besides: all is asked */
};

extern enum recording_way recording_way HIDDEN;

/* Blocks get words: asked in the careful way. */
extern bool recording_on;

/* All of them: an option asks for it. Else only LeakTracer's. */
extern bool recording_all;

/* The options want blocks to have words. */
bool recording_wanted(void);

/* Tables for what the options or LeakTracer want. False = no memory. */
bool recording_start(void);

/* The recorder is born: entries take the way that all this asks for. */
void recording_choose(void);

/* Out of memory: says so once; what is known stays known. */
void recording_stop(void);

#endif
