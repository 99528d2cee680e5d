/*
 * All forms of operator delete. Their further arguments, size and alignment,
 * are not needed to free; verify_pointers compares them.
 */
#include "lib/malloc_debug/entry/entry.h"
#include "lib/malloc_debug/entry/new_failed.h"

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
