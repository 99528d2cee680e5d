/*
 * What a thread executes in CPython 3.6 to 3.13, in place of the frames of its
 * interpreter.
 *
 * A frame is a function and a line, which are stored in the depot once: see
 * MU_FRAME_SCRIPT. Code objects may be freed before a report is made, so
 * nothing refers to them. Never allocates, takes no lock.
 *
 * The program must export CPython's functions, or be linked with its library:
 * one that is loaded later by dlopen() is not seen.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_PYTHON_FRAMES_H
#define LIB_MALLOC_DEBUG_UNWIND_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/state/hidden.h"

/* May turn false when the first frames are met. */
extern HIDDEN bool python_frames_there;

/*
 * Call before main(), when dlsym() can be called. python_frames_there is false
 * afterwards if this is no program of CPython, or of another version.
 */
void python_frames_init(void);

/*
 * Replace what is behind the innermost frame of the interpreter's loop in the
 * stack UNIT of this thread. Returns the unit of the other stack, of at most
 * MAX frames, or UNIT if the thread executes no Python; 0: no memory.
 */
uint32_t python_frames_put(uint32_t unit, size_t max);

#endif
