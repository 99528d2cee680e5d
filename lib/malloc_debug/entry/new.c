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

/* Returns NULL if the long path must be taken. */
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

/*
 * Define NAME with these parameters, the first of which is the block; TOLD sets
 * the members of struct call for the others. If the program replaces operators,
 * all forms but two call the LESSER one.
 */
#define DELETE(                                                             \
    name, label, form, kind, parameters, arguments, lesser, told...)        \
	LONG_WAY void name##_long parameters                                \
	{                                                                   \
		dispatch_free(CALL(form, kind, JOURNAL_FREE, told), block); \
	}                                                                   \
	void name parameters __asm__(label) ENTRY;                          \
	void name parameters                                                \
	{                                                                   \
		enum recording_way way = entry_way();                       \
                                                                            \
		lesser;                                                     \
		if (LIKELY(entry_frees(way, block))) {                      \
			real.free(block);                                   \
			return;                                             \
		}                                                           \
		JUMP name##_long arguments;                                 \
	}

#define BASIC ((void)0)
#define LESSER(name, arguments)                          \
	do {                                             \
		if (__builtin_expect(new_replaced, 0)) { \
			name arguments;                  \
			return;                          \
		}                                        \
	} while (0)

#define DELETE_ONE(name, label, parameters, arguments, lesser, told...)  \
	DELETE(name, label, "operator delete", MU_BLOCK_NEW, parameters, \
	    arguments, lesser, told)
#define DELETE_ARRAY(name, label, parameters, arguments, lesser, told...) \
	DELETE(name, label, "operator delete[]", MU_BLOCK_NEW_ARRAY,      \
	    parameters, arguments, lesser, told)

#define UNUSED __attribute__((unused))
#define PLAIN (void *block)
#define SIZED (void *block, size_t size)
#define NOTHROW (void *block, UNUSED const void *nothrow)
#define ALIGNED (void *block, size_t alignment)
#define SIZED_ALIGNED (void *block, size_t size, size_t alignment)
#define ALIGNED_NOTHROW \
	(void *block, size_t alignment, UNUSED const void *nothrow)

#define SIZE .sized = true, .size = size
#define ALIGNMENT .alignment = alignment

DELETE_ONE(delete_one, "_ZdlPv", PLAIN, (block), BASIC)
DELETE_ARRAY(
    delete_array, "_ZdaPv", PLAIN, (block), LESSER(delete_one, (block)))
DELETE_ONE(delete_one_sized, "_ZdlPvm", SIZED, (block, size),
    LESSER(delete_one, (block)), SIZE)
DELETE_ARRAY(delete_array_sized, "_ZdaPvm", SIZED, (block, size),
    LESSER(delete_array, (block)), SIZE)
DELETE_ONE(delete_one_nothrow, "_ZdlPvRKSt9nothrow_t", NOTHROW,
    (block, nothrow), LESSER(delete_one, (block)))
DELETE_ARRAY(delete_array_nothrow, "_ZdaPvRKSt9nothrow_t", NOTHROW,
    (block, nothrow), LESSER(delete_array, (block)))
DELETE_ONE(delete_one_aligned, "_ZdlPvSt11align_val_t", ALIGNED,
    (block, alignment), BASIC, ALIGNMENT)
DELETE_ARRAY(delete_array_aligned, "_ZdaPvSt11align_val_t", ALIGNED,
    (block, alignment), LESSER(delete_one_aligned, (block, alignment)),
    ALIGNMENT)
DELETE_ONE(delete_one_sized_aligned, "_ZdlPvmSt11align_val_t", SIZED_ALIGNED,
    (block, size, alignment), LESSER(delete_one_aligned, (block, alignment)),
    SIZE, ALIGNMENT)
DELETE_ARRAY(delete_array_sized_aligned, "_ZdaPvmSt11align_val_t",
    SIZED_ALIGNED, (block, size, alignment),
    LESSER(delete_array_aligned, (block, alignment)), SIZE, ALIGNMENT)
DELETE_ONE(delete_one_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    ALIGNED_NOTHROW, (block, alignment, nothrow),
    LESSER(delete_one_aligned, (block, alignment)), ALIGNMENT)
DELETE_ARRAY(delete_array_aligned_nothrow,
    "_ZdaPvSt11align_val_tRKSt9nothrow_t", ALIGNED_NOTHROW,
    (block, alignment, nothrow),
    LESSER(delete_array_aligned, (block, alignment)), ALIGNMENT)

/*
 * All forms of operator delete. Their further arguments, size and alignment,
 * are not needed to free; verify_pointers compares them.
 */

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
