#include "lib/malloc_debug/checks/leak_finder.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

static void *
load_beside(void)
{
	char path[PATH_MAX];
	const char *slash;
	size_t length;
	Dl_info info;

	if (dladdr((void *)load_beside, &info) == 0 || info.dli_fname == NULL)
		return NULL;
	slash = strrchr(info.dli_fname, '/');
	if (slash == NULL)
		return NULL;
	length = (size_t)(slash + 1 - info.dli_fname);
	if (length + sizeof(LEAK_FINDER) > sizeof(path))
		return NULL;
	memcpy(path, info.dli_fname, length);
	memcpy(path + length, LEAK_FINDER, sizeof(LEAK_FINDER));
	return dlopen(path, RTLD_NOW);
}

void *
leak_finder_load(void)
{
	void *library = load_beside();

	return library != NULL ? library : dlopen(LEAK_FINDER, RTLD_NOW);
}
