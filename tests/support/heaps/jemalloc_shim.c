/*
 * Preloaded between a program and its allocator: notes each block, after it was
 * allocated and before it is freed, in the file $SHIM_TABLE.
 */
#include "tests/support/heaps/jemalloc_shim.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct shim_table *_Atomic table;

static struct shim_table *
open_table(void)
{
	struct shim_table *mapped = table, *none = NULL;
	const char *path = getenv("SHIM_TABLE");
	int file;

	if (mapped != NULL || path == NULL)
		return mapped;
	file = open(path, O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, sizeof(*mapped)) != 0)
		abort();
	mapped = mmap(
	    NULL, sizeof(*mapped), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (mapped == MAP_FAILED)
		abort();
	if (!atomic_compare_exchange_strong(&table, &none, mapped)) {
		munmap(mapped, sizeof(*mapped));
		return none;
	}
	return mapped;
}

static void *
note(void *block)
{
	struct shim_table *to = open_table();
	uintptr_t address = (uintptr_t)block, old;
	size_t i = shim_hash(address), tries;

	if (block == NULL || to == NULL)
		return block;
	for (tries = 0; tries < SHIM_SLOTS; tries++) {
		i %= SHIM_SLOTS;
		old = to->slots[i].address;
		if (old <= SHIM_GONE &&
		    atomic_compare_exchange_strong(
			&to->slots[i].address, &old, address)) {
			to->slots[i].usable = malloc_usable_size(block);
			to->live++;
			return block;
		}
		i++;
	}
	abort();
}

static void
forget(void *block)
{
	struct shim_table *to = open_table();
	uintptr_t address = (uintptr_t)block;
	size_t i = shim_hash(address), tries;

	if (block == NULL || to == NULL)
		return;
	for (tries = 0; tries < SHIM_SLOTS; tries++) {
		i %= SHIM_SLOTS;
		if (to->slots[i].address == address) {
			to->slots[i].address = SHIM_GONE;
			to->live--;
			return;
		}
		if (to->slots[i].address == 0)
			abort();
		i++;
	}
	abort();
}

#define NEXT(name)                             \
	static __typeof__(name) *_Atomic next; \
	__typeof__(name) *call = next;         \
	if (call == NULL)                      \
	next = call = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

void *
malloc(size_t size)
{
	NEXT(malloc);
	return note(call(size));
}

void *
calloc(size_t count, size_t size)
{
	NEXT(calloc);
	return note(call(count, size));
}

void
free(void *block)
{
	NEXT(free);
	forget(block);
	call(block);
}

void *
realloc(void *block, size_t size)
{
	NEXT(realloc);
	void *moved;

	forget(block);
	moved = call(block, size);
	if (moved == NULL && size != 0)
		note(block);
	return note(moved);
}

int
posix_memalign(void **block, size_t alignment, size_t size)
{
	NEXT(posix_memalign);
	int error = call(block, alignment, size);

	if (error == 0)
		note(*block);
	return error;
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	NEXT(aligned_alloc);
	return note(call(alignment, size));
}

void *
memalign(size_t alignment, size_t size)
{
	NEXT(memalign);
	return note(call(alignment, size));
}

void *
valloc(size_t size)
{
	NEXT(valloc);
	return note(call(size));
}

void *
mallocx(size_t size, int flags)
{
	static void *(*_Atomic next)(size_t, int);
	void *(*call)(size_t, int) = next;

	if (call == NULL)
		next = call =
		    (void *(*)(size_t, int))dlsym(RTLD_NEXT, "mallocx");
	return note(call(size, flags));
}

void
sdallocx(void *block, size_t size, int flags)
{
	static void (*_Atomic next)(void *, size_t, int);
	void (*call)(void *, size_t, int) = next;

	if (call == NULL)
		next = call =
		    (void (*)(void *, size_t, int))dlsym(RTLD_NEXT, "sdallocx");
	forget(block);
	call(block, size, flags);
}
