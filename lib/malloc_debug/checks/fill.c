/* The options limit the number of bytes. */
#include "lib/malloc_debug/checks/fill.h"

#include <string.h>

#include "lib/malloc_debug/state/state.h"

void
fill_on_alloc(void *block, size_t from, size_t usable)
{
	size_t most = recorder_options.fill_on_alloc;
	size_t end = usable < most ? usable : most;

	if (from < end)
		memset((char *)block + from, FILL_ALLOC, end - from);
}

size_t
fill_freed(size_t usable)
{
	size_t most = recorder_options.fill_on_free;

	return usable < most ? usable : most;
}

void
fill_on_free(void *block, size_t usable)
{
	memset(block, FILL_FREE, fill_freed(usable));
}
