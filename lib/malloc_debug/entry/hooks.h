/*
 * Malloc hooks: functions of the program in place of malloc, realloc, free and
 * memalign. Registered by memunreachable_set_malloc_hook() and the like; called
 * if LIBC_HOOKS_ENABLE allows it.
 *
 * Calls that a hook itself makes bypass the hooks and go to the recorder.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_HOOKS_H
#define LIB_MALLOC_DEBUG_ENTRY_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * For entry points while hooks_active (recording.h) is set; CALLER is their
 * return address. True: a hook did the call, and RESULT is its result. False:
 * no hook of this kind, or called from a hook. malloc's hook serves operator
 * new and calloc(), which zeroes the block (NULL and ENOMEM if the product
 * overflows); memalign's serves all aligned forms, whose arguments the entry
 * point has checked.
 */
bool hooks_malloc(size_t size, const void *caller, void **result);
bool hooks_calloc(
    size_t members, size_t size, const void *caller, void **result);
bool hooks_realloc(
    void *pointer, size_t size, const void *caller, void **result);
bool hooks_memalign(
    size_t alignment, size_t size, const void *caller, void **result);
bool hooks_free(void *pointer, const void *caller);

/* LIBC_HOOKS_ENABLE is set: from now on registered hooks are called. */
void hooks_enable(void);

#endif
