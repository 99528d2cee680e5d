/*
 * An allocator of the program's own, which never gives back: in memory of its
 * own. BESIDES: the program asks glibc's for a part, by its inner name.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define ROOM ((size_t)4 << 20)
#define HEADER 16

void *__libc_malloc(size_t);

static char room[ROOM] __attribute__((aligned(16)));
static size_t used;

void *
malloc(size_t size)
{
	size_t whole = HEADER + ((size + 15) & ~(size_t)15), at;

	at = __atomic_fetch_add(&used, whole, __ATOMIC_RELAXED);
	if (size > ROOM || at + whole > ROOM) {
		errno = ENOMEM;
		return NULL;
	}
	*(size_t *)(room + at) = size;
	return room + at + HEADER;
}

void
free(void *block)
{
	(void)block;
}

void *
calloc(size_t count, size_t size)
{
	return malloc(count * size);
}

void *
realloc(void *block, size_t size)
{
	size_t old = block != NULL ? *(size_t *)((char *)block - HEADER) : 0;
	void *grown = malloc(size);

	if (grown != NULL && block != NULL)
		memcpy(grown, block, old < size ? old : size);
	return grown;
}

#ifdef BESIDES
static void *glibcs[10];

__attribute__((constructor)) static void
besides(void)
{
	size_t i;

	for (i = 0; i < 10; i++) {
		glibcs[i] = __libc_malloc(100);
		*(void **)glibcs[i] = __libc_malloc(100);
	}
}
#endif
