/*
 * Is this thread inside the recorder? Then what it allocates is not the
 * program's.
 *
 * A counter alone would stay stuck when a signal handler that interrupted the
 * recorder leaves by longjmp(). So the frame of the function that entered is
 * remembered, with the return address that lies in it: who is called from
 * inside has a frame below it, and finds that address where it was.
 *
 * Frames have pointers (-fno-omit-frame-pointer), and on all CPUs that we know
 * the return address lies above the saved one: x86-64 psABI 3.2.2, AAPCS64
 * 6.2.3. Runs in: the original, any thread.
 */
#ifndef INSIDE_H
#define INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/malloc_debug/hidden.h"

struct inside {
	uint32_t depth;
	const uintptr_t *frame; /* of who entered first */
	uintptr_t back;
};

extern _Thread_local struct inside inside
    __attribute__((tls_model("initial-exec"))) HIDDEN;

/* The counter is not 0: is it so still? FRAME is the asking function's. */
bool inside_still(const void *frame);

/* To be asked in the function that the program called. */
#define INSIDE_NOW()                               \
	(__builtin_expect(inside.depth != 0, 0) && \
	    inside_still(__builtin_frame_address(0)))

#endif
