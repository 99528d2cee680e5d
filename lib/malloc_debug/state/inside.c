#include "lib/malloc_debug/state/inside.h"

#include <stddef.h>

#include "lib/malloc_debug/state/state.h"

/*
 * Calls inside the recorder never take more stack; frames further away are not
 * compared.
 */
#define DEEPEST ((uintptr_t)256 << 10)

_Thread_local struct inside inside __attribute__((tls_model("initial-exec")));

bool
inside_still(const void *frame)
{
	uintptr_t below = (uintptr_t)inside.frame - (uintptr_t)frame;

	/*
	 * Also false in a handler on an alternate stack: its allocations are
	 * then recorded, which needs no lock.
	 */
	if (below != 0 && below < DEEPEST && inside.frame[1] == inside.back)
		return true;
	inside.depth = 0;
	return false;
}

void
recorder_enter(void)
{
	const uintptr_t *own = __builtin_frame_address(0);

	if (inside.depth != 0 && inside_still(own)) {
		inside.depth++;
		return;
	}
	inside.frame = (const uintptr_t *)own[0];
	inside.back = inside.frame[1];
	inside.depth = 1;
}

void
recorder_leave(void)
{
	if (inside.depth != 0)
		inside.depth--;
}

bool
recorder_inside(void)
{
	return inside.depth != 0 && inside_still(__builtin_frame_address(0));
}
