/*
 * LD_PRELOADed: passes every allocation on to glibc and records what lives,
 * independently of how glibc keeps its heap.
 *
 * The table is mapped, not allocated, and holds addresses hidden. glibc has
 * exported the __libc_ names since 2.0, so nothing has to be looked up, and
 * nothing can be asked for too early.
 */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/support/recorder.h"

#define SLOTS ((size_t)1 << 20) /* a power of two */
#define GONE ((uintptr_t)1)     /* a slot that was used and is free again */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static struct recorder_entry *table;
static int lock;

static void
take_lock(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
		;
	if (table == NULL)
		table =
		    mmap(NULL, SLOTS * sizeof(*table), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (table == MAP_FAILED)
		abort();
}

static void
drop_lock(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static size_t
slot_of(uintptr_t address)
{
	return (size_t)((address >> 4) * 0x9e3779b97f4a7c15ull >> 40) &
	    (SLOTS - 1);
}

static void *
note(void *block)
{
	size_t i, tries;

	if (block == NULL)
		return NULL;
	take_lock();
	i = slot_of((uintptr_t)block);
	for (tries = 0; table[i].hidden > GONE; i = (i + 1) & (SLOTS - 1)) {
		if (++tries == SLOTS)
			abort();
	}
	table[i].hidden = ~(uintptr_t)block;
	table[i].size = malloc_usable_size(block);
	drop_lock();
	return block;
}

static void
forget(void *block)
{
	size_t i;

	if (block == NULL)
		return;
	take_lock();
	for (i = slot_of((uintptr_t)block);
	     table[i].hidden != ~(uintptr_t)block; i = (i + 1) & (SLOTS - 1)) {
		if (table[i].hidden == 0)
			abort(); /* never seen: the record is not complete */
	}
	table[i].hidden = GONE;
	drop_lock();
}

const struct recorder_entry *
recorder_table(size_t *slots)
{
	*slots = SLOTS;
	return table;
}

bool
recorder_find(uintptr_t address, size_t *size)
{
	size_t i = slot_of(address), tries;

	for (tries = 0; table[i].hidden != 0 && tries < SLOTS; tries++) {
		if (table[i].hidden == ~address) {
			*size = table[i].size;
			return true;
		}
		i = (i + 1) & (SLOTS - 1);
	}
	return false;
}

void *
malloc(size_t size)
{
	return note(__libc_malloc(size));
}

void *
calloc(size_t count, size_t size)
{
	return note(__libc_calloc(count, size));
}

void *
realloc(void *old, size_t size)
{
	void *block;

	/* Gone first: another thread may get the address at once. */
	forget(old);
	block = __libc_realloc(old, size);
	if (block == NULL && size != 0)
		note(old);
	return note(block);
}

void *
memalign(size_t alignment, size_t size)
{
	return note(__libc_memalign(alignment, size));
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int
posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = memalign(alignment, size);
	return *block == NULL ? ENOMEM : 0;
}

void
free(void *block)
{
	forget(block);
	__libc_free(block);
}
