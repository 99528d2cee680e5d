/*
 * Passes every allocation on and records it.
 *
 * The functions stand in the program itself, so that every library calls them,
 * and look up the next malloc: glibc's, or LeakSanitizer's if that is
 * preloaded. Valgrind replaces glibc's where it lies, and is made to leave
 * these alone (--soname-synonyms=somalloc=nouserintercepts). operator new is
 * here because Valgrind replaces libstdc++'s, which would not come by here.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/corpus/support/record.h"

#define CALLER ((uintptr_t)__builtin_return_address(0))

struct next {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	void (*free)(void *);
};

static struct next next;

/* dlsym() may allocate before there is anything to allocate with. */
static char early[4096] __attribute__((aligned(16)));
static size_t early_used;

static bool
is_early(const void *p)
{
	return (const char *)p >= early &&
	    (const char *)p < early + sizeof(early);
}

static void *
take_early(size_t size)
{
	void *p = early + early_used;

	if (size > sizeof(early) - early_used - 16)
		abort();
	early_used += (size + 15) & ~(size_t)15;
	return p;
}

/* False while it is being looked for. */
static bool
find_next(void)
{
	static int searching;

	if (next.free != NULL)
		return true;
	if (searching)
		return false;
	searching = 1;
	record_prepare();
	*(void **)&next.malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&next.calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&next.realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&next.memalign = dlsym(RTLD_NEXT, "memalign");
	*(void **)&next.free = dlsym(RTLD_NEXT, "free");
	return next.free != NULL;
}

static void *
allocate(size_t size, uintptr_t caller)
{
	if (!find_next())
		return take_early(size);
	return record_add(next.malloc(size), size, caller);
}

static void *
allocate_aligned(size_t alignment, size_t size, uintptr_t caller)
{
	if (!find_next())
		abort();
	return record_add(next.memalign(alignment, size), size, caller);
}

static void
release(void *block)
{
	if (block == NULL || is_early(block) || !find_next())
		return;
	record_remove(block);
	next.free(block);
}

void *
malloc(size_t size)
{
	return allocate(size, CALLER);
}

void *
calloc(size_t count, size_t size)
{
	if (!find_next())
		return take_early(count * size); /* static, so zero */
	return record_add(next.calloc(count, size), count * size, CALLER);
}

void *
realloc(void *old, size_t size)
{
	void *block;

	if (!find_next() || is_early(old)) {
		block = allocate(size, CALLER);
		if (old != NULL)
			memcpy(block, old, size);
		return block;
	}
	/* Gone first: another thread may get the address at once. */
	record_remove(old);
	block = next.realloc(old, size);
	if (block == NULL && size != 0)
		abort();
	return record_add(block, size, CALLER);
}

void *
memalign(size_t alignment, size_t size)
{
	return allocate_aligned(alignment, size, CALLER);
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	return allocate_aligned(alignment, size, CALLER);
}

void *
valloc(size_t size)
{
	return allocate_aligned(4096, size, CALLER);
}

int
posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = allocate_aligned(alignment, size, CALLER);
	return *block == NULL ? ENOMEM : 0;
}

void
free(void *block)
{
	release(block);
}

/*
 * operator new and operator delete, as LP64 names them. An alignment is passed
 * as a size_t is; a delete's further arguments are not needed.
 */
#define NEW(name, ...)                         \
	void *name(size_t size __VA_ARGS__);   \
	void *name(size_t size __VA_ARGS__)    \
	{                                      \
		return allocate(size, CALLER); \
	}
#define NEW_ALIGNED(name)                                         \
	void *name(size_t size, size_t alignment);                \
	void *name(size_t size, size_t alignment)                 \
	{                                                         \
		return allocate_aligned(alignment, size, CALLER); \
	}
#define DELETE(name)            \
	void name(void *block); \
	void name(void *block)  \
	{                       \
		release(block); \
	}

NEW(_Znwm)
NEW(_Znam)
NEW(_ZnwmRKSt9nothrow_t, , const void *tag __attribute__((unused)))
NEW(_ZnamRKSt9nothrow_t, , const void *tag __attribute__((unused)))
NEW_ALIGNED(_ZnwmSt11align_val_t)
NEW_ALIGNED(_ZnamSt11align_val_t)
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvRKSt9nothrow_t)
DELETE(_ZdaPvRKSt9nothrow_t)
DELETE(_ZdlPvSt11align_val_t)
DELETE(_ZdaPvSt11align_val_t)
DELETE(_ZdlPvmSt11align_val_t)
DELETE(_ZdaPvmSt11align_val_t)
