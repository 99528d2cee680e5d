/* All forms of operator new, by their mangled names (Itanium C++ ABI 5.1.5). */
#include "lib/malloc_debug/entry/entry.h"
#include "lib/malloc_debug/entry/new_failed.h"

/* Calls that do not take the short path, and those that find no memory. */
INLINE void *
new_long(const struct call *call, unsigned form, size_t size, size_t alignment,
    const void *nothrow)
{
	enum recording_way way = entry_way();
	struct request request = {
		.members = 1, .size = size, .alignment = alignment
	};
	void *block;

	if (alignment == 0 && entry_is_short(way)) {
		request.size += size == 0;
		block =
		    entry_record(way, real.malloc(entry_bytes(request.size)),
			request.size, call->kind, call->start);
	} else {
		block = dispatch_alloc(call, &request);
	}
	if (LIKELY(block != NULL))
		return block;
	return new_failed(call, form, size, alignment, nothrow);
}

/* Neither sampling nor replaced operators have been checked yet. */
INLINE void *
new_unasked(const struct call *call, unsigned form, size_t size,
    size_t alignment, const void *nothrow)
{
	void *block = NULL;

	if (__builtin_expect(new_replaced, 0) &&
	    (form & (NEW_ARRAY | NEW_NOTHROW)) != 0)
		block = new_by_library(form, size, alignment, nothrow);
	else if (entry_passes(entry_way(), size))
		block = alignment == 0
		    ? real.malloc(size)
		    : real.memalign(alignment, size + (size == 0));
	return LIKELY(block != NULL)
	    ? block
	    : new_long(call, form, size, alignment, nothrow);
}

/* NULL: take the long path. */
INLINE void *
new_short(size_t size, enum mu_block_kind kind)
{
	enum recording_way way = entry_way();

	size += size == 0;
	if (entry_is_plain(way))
		return entry_plain(real.malloc(entry_bytes(size)), size, kind);
	return entry_passes(way, size) ? real.malloc(size) : NULL;
}

#define NAMED(name) __asm__(name) ENTRY
#define NEW_CALL CALL("operator new", MU_BLOCK_NEW, JOURNAL_MALLOC)
#define NEW_ARRAY_CALL \
	CALL("operator new[]", MU_BLOCK_NEW_ARRAY, JOURNAL_MALLOC)
#define NEW_ALIGNED_CALL CALL("operator new", MU_BLOCK_NEW, JOURNAL_MEMALIGN)
#define NEW_ARRAY_ALIGNED_CALL \
	CALL("operator new[]", MU_BLOCK_NEW_ARRAY, JOURNAL_MEMALIGN)

void *new_one(size_t size) NAMED("_Znwm");
void *new_array(size_t size) NAMED("_Znam");
void *new_one_nothrow(size_t size, const void *nothrow)
    NAMED("_ZnwmRKSt9nothrow_t");
void *new_array_nothrow(size_t size, const void *nothrow)
    NAMED("_ZnamRKSt9nothrow_t");
void *new_one_aligned(size_t size, size_t alignment)
    NAMED("_ZnwmSt11align_val_t");
void *new_array_aligned(size_t size, size_t alignment)
    NAMED("_ZnamSt11align_val_t");
void *new_one_aligned_nothrow(size_t size, size_t alignment,
    const void *nothrow) NAMED("_ZnwmSt11align_val_tRKSt9nothrow_t");
void *new_array_aligned_nothrow(size_t size, size_t alignment,
    const void *nothrow) NAMED("_ZnamSt11align_val_tRKSt9nothrow_t");

LONG_WAY void *
new_one_long(size_t size)
{
	return new_long(NEW_CALL, NEW_ONE, size, 0, NULL);
}

void *
new_one(size_t size)
{
	void *block = new_short(size, MU_BLOCK_NEW);

	if (LIKELY(block != NULL))
		return block;
	JUMP new_one_long(size);
}

static void *
new_array_replaced(size_t size)
{
	return new_unasked(NEW_ARRAY_CALL, NEW_ARRAY, size, 0, NULL);
}

LONG_WAY void *
new_array_long(size_t size)
{
	return new_long(NEW_ARRAY_CALL, NEW_ARRAY, size, 0, NULL);
}

void *
new_array(size_t size)
{
	void *block;

	if (__builtin_expect(new_replaced, 0))
		JUMP new_array_replaced(size);
	block = new_short(size, MU_BLOCK_NEW_ARRAY);
	if (LIKELY(block != NULL))
		return block;
	JUMP new_array_long(size);
}

void *
new_one_nothrow(size_t size, const void *nothrow)
{
	return new_unasked(NEW_CALL, NEW_ONE | NEW_NOTHROW, size, 0, nothrow);
}

void *
new_array_nothrow(size_t size, const void *nothrow)
{
	return new_unasked(
	    NEW_ARRAY_CALL, NEW_ARRAY | NEW_NOTHROW, size, 0, nothrow);
}

void *
new_one_aligned(size_t size, size_t alignment)
{
	return new_unasked(
	    NEW_ALIGNED_CALL, NEW_ONE | NEW_ALIGNED, size, alignment, NULL);
}

void *
new_array_aligned(size_t size, size_t alignment)
{
	return new_unasked(NEW_ARRAY_ALIGNED_CALL, NEW_ARRAY | NEW_ALIGNED,
	    size, alignment, NULL);
}

void *
new_one_aligned_nothrow(size_t size, size_t alignment, const void *nothrow)
{
	return new_unasked(NEW_ALIGNED_CALL,
	    NEW_ONE | NEW_ALIGNED | NEW_NOTHROW, size, alignment, nothrow);
}

void *
new_array_aligned_nothrow(size_t size, size_t alignment, const void *nothrow)
{
	return new_unasked(NEW_ARRAY_ALIGNED_CALL,
	    NEW_ARRAY | NEW_ALIGNED | NEW_NOTHROW, size, alignment, nothrow);
}
