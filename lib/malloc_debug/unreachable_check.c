/*
 * A pass of libmemunreachable: see unreachable_check.h.
 *
 * Runs in: the original, the watcher.
 */
#include "lib/malloc_debug/unreachable_check.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "lib/malloc_debug/recorder.h"

#define LIBRARY "libmemunreachable.so.0"
#define FUNCTION "LogUnreachableMemory"
#define MOST_LEAKS 100

static void *
load_beside(void)
{
	char path[PATH_MAX];
	const char *slash;
	size_t length;
	Dl_info info;

	if (dladdr((void *)(uintptr_t)load_beside, &info) == 0)
		return NULL;
	slash = strrchr(info.dli_fname, '/');
	if (slash == NULL)
		return NULL;
	length = (size_t)(slash + 1 - info.dli_fname);
	if (length + sizeof(LIBRARY) > sizeof(path))
		return NULL;
	memcpy(path, info.dli_fname, length);
	memcpy(path + length, LIBRARY, sizeof(LIBRARY));
	return dlopen(path, RTLD_NOW);
}

static void *
find(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, FUNCTION), *library;

	if (symbol != NULL)
		return symbol;
	library = load_beside();
	if (library == NULL)
		library = dlopen(LIBRARY, RTLD_NOW);
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

	recorder_say("Starting to check for unreachable memory.");
	memcpy(&log_unreachable, &symbol, sizeof(symbol));
	if (symbol == NULL || !log_unreachable(false, MOST_LEAKS))
		recorder_say("Unreachable check failed, run setenforce 0 and "
			     "try again.");
}
