#include "lib/malloc_debug/checks/unreachable_check.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "lib/malloc_debug/checks/guards_live.h"
#include "lib/malloc_debug/checks/leak_finder.h"
#include "lib/malloc_debug/state/state.h"

#define FUNCTION "LogUnreachableMemory"
#define MOST_LEAKS 100

static void *
find(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, FUNCTION), *library;

	if (symbol != NULL)
		return symbol;
	library = leak_finder_load();
	if (library == NULL) {
		recorder_say("%s", dlerror());
		return NULL;
	}
	return dlsym(library, FUNCTION);
}

/* The reason of a failure is logged by the library. */
void
unreachable_check(void)
{
	bool (*log_unreachable)(bool log_contents, size_t limit);
	void *symbol = find();

	guards_check_live();
	recorder_say("Starting to check for unreachable memory.");
	memcpy(&log_unreachable, &symbol, sizeof(symbol));
	if (symbol == NULL || !log_unreachable(false, MOST_LEAKS))
		recorder_say("Unreachable check failed, run setenforce 0 and "
			     "try again.");
}
