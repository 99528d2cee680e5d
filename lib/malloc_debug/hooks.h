/*
 * Malloc hooks: the program's own functions in place of malloc, realloc, free
 * and memalign. Registered by memunreachable_set_malloc_hook() and its like;
 * called where LIBC_HOOKS_ENABLE allows it.
 *
 * What a hook calls in its turn passes by the hooks, to the recorder as the
 * options have it. Runs in: the original, any thread.
 */
#ifndef HOOKS_H
#define HOOKS_H

#include <stdbool.h>
#include <stddef.h>

/* LIBC_HOOKS_ENABLE, and some hook is set: entries ask below. */
extern bool hooks_active;

/*
 * For entries, CALLER the address that they return to. True: a hook did it,
 * RESULT is what to return. False: no hook of the kind, or called from one.
 * malloc's serves operator new too; calloc is malloc's hook and zeroes (NULL
 * and ENOMEM where the product overflows); memalign's serves all aligned
 * forms, whose arguments the entry has checked.
 */
bool hooks_malloc(size_t size, const void *caller, void **result);
bool hooks_calloc(
    size_t members, size_t size, const void *caller, void **result);
bool hooks_realloc(
    void *pointer, size_t size, const void *caller, void **result);
bool hooks_memalign(
    size_t alignment, size_t size, const void *caller, void **result);
bool hooks_free(void *pointer, const void *caller);

/* LIBC_HOOKS_ENABLE was set: from now on registered hooks are called. */
void hooks_enable(void);

#endif
