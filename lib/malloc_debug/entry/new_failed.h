/*
 * operator new without memory calls the operator of the C++ library, which runs
 * the new_handler and throws bad_alloc.
 *
 * A program may also replace some of the operators: C++ defines which other one
 * each default operator calls ([new.delete]), so the remaining ones must be
 * those of the C++ library and not ours.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_NEW_FAILED_H
#define LIB_MALLOC_DEBUG_ENTRY_NEW_FAILED_H

#include "lib/malloc_debug/entry/call.h"
#include "lib/malloc_debug/state/hidden.h"

enum new_form {
	NEW_ONE = 0,
	NEW_ARRAY = 1,
	NEW_NOTHROW = 2, /* or'ed */
	NEW_ALIGNED = 4, /* or'ed */
	NEW_FORMS = 8,
};

/*
 * The program replaces an operator new or delete. Checked in all forms except
 * those that the others call.
 */
extern bool new_replaced HIDDEN;

/* Before main(), when dlsym() can be called. */
void new_replaced_find(void);

/*
 * Call the C++ library's operator, which calls the program's. NULL if there is
 * no library, or no memory.
 */
void *new_by_library(
    unsigned form, size_t size, size_t alignment, const void *nothrow);

/* Throws if the library's operator throws. */
void *new_failed(const struct call *call, unsigned form, size_t size,
    size_t alignment, const void *nothrow);

#endif
