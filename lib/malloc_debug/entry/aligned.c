/*
 * The aligned functions, which check their arguments here. aligned_alloc()
 * accepts sizes that are not a multiple of the alignment, as glibc and C17 (DR
 * 460) do: a program must not fail because it is recorded.
 */
#include <errno.h>
#include <unistd.h>

#include "lib/malloc_debug/entry/entry.h"

ENTRY void *memalign(size_t alignment, size_t size);
ENTRY void *aligned_alloc(size_t alignment, size_t size);
ENTRY int posix_memalign(void **block, size_t alignment, size_t size);
ENTRY void *valloc(size_t size);
ENTRY void *pvalloc(size_t size);

#define LEAST_ALIGNMENT 16 /* MALLOC_ALIGNMENT */

static bool
is_power(size_t alignment)
{
	return alignment != 0 && (alignment & (alignment - 1)) == 0;
}

INLINE void *
allocate(const struct call *call, size_t alignment, size_t size)
{
	enum recording_way way = entry_way();
	struct request request = {
		.members = 1, .size = size, .alignment = alignment
	};

	/* jemalloc 5.3's memalign() does not align a block of 0 bytes. */
	if (entry_passes(way, size))
		return real.memalign(alignment, size + (size == 0));
	return dispatch_alloc(call, &request);
}

static size_t
page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* As in glibc: the next power of two, and at least malloc's own alignment. */
static bool
round_up(size_t *alignment)
{
	size_t power = LEAST_ALIGNMENT;

	while (power < *alignment && power <= SIZE_MAX / 2)
		power *= 2;
	if (power < *alignment) {
		errno = EINVAL;
		return false;
	}
	*alignment = power;
	return true;
}

ENTRY void *
memalign(size_t alignment, size_t size)
{
	return round_up(&alignment)
	    ? allocate(CALL("memalign", MU_BLOCK_MALLOC, JOURNAL_MEMALIGN),
		  alignment, size)
	    : NULL;
}

ENTRY void *
aligned_alloc(size_t alignment, size_t size)
{
	if (!is_power(alignment)) {
		errno = EINVAL;
		return NULL;
	}
	return allocate(
	    CALL("aligned_alloc", MU_BLOCK_MALLOC, JOURNAL_MEMALIGN), alignment,
	    size);
}

ENTRY int
posix_memalign(void **block, size_t alignment, size_t size)
{
	int error = errno, failed;
	void *found;

	if (!is_power(alignment) || alignment % sizeof(void *) != 0)
		return EINVAL;
	found =
	    allocate(CALL("posix_memalign", MU_BLOCK_MALLOC, JOURNAL_MEMALIGN),
		alignment, size);
	failed = errno;
	errno = error;
	if (found == NULL)
		return failed == EINVAL ? EINVAL : ENOMEM;
	*block = found;
	return 0;
}

ENTRY void *
valloc(size_t size)
{
	return allocate(CALL("valloc", MU_BLOCK_MALLOC, JOURNAL_MEMALIGN),
	    page_size(), size);
}

ENTRY void *
pvalloc(size_t size)
{
	size_t page = page_size();

	if (size > SIZE_MAX - page + 1) {
		errno = ENOMEM;
		return NULL;
	}
	return allocate(CALL("pvalloc", MU_BLOCK_MALLOC, JOURNAL_MEMALIGN),
	    page, (size + page - 1) & ~(page - 1));
}
