/*
 * Find out whether this thread is inside the recorder: then its allocations are
 * not the program's.
 *
 * A counter alone would stay raised when a signal handler that interrupted the
 * recorder leaves by longjmp(). So the frame of the function that entered is
 * stored with the return address in it: a function called from inside has a
 * frame below it, and finds that address unchanged.
 *
 * Frames have frame pointers (-fno-omit-frame-pointer), and on both CPUs the
 * return address lies above the saved frame pointer: x86-64 psABI 3.2.2,
 * AAPCS64 6.2.3.
 */
#ifndef LIB_MALLOC_DEBUG_STATE_INSIDE_H
#define LIB_MALLOC_DEBUG_STATE_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/malloc_debug/state/hidden.h"

struct inside {
	uint32_t depth;
	const uintptr_t *frame; /* of the function that entered first */
	uintptr_t back;
};

extern _Thread_local struct inside inside
    __attribute__((tls_model("initial-exec"))) HIDDEN;

/*
 * True if the counter, which is not 0, is still valid. FRAME is that of the
 * calling function.
 */
bool inside_still(const void *frame);

#endif
