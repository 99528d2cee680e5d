/*
 * Preloaded: counts what is allocated, puts a header before some of it, and
 * passes everything on to the malloc behind.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static size_t calls;

void *
malloc(size_t size)
{
	static void *(*next)(size_t);

	if (next == NULL)
		next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	calls++;
	return next(size);
}

void
free(void *block)
{
	static void (*next)(void *);

	if (next == NULL)
		next = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	next(block);
}
