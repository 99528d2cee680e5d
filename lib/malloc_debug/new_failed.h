/*
 * operator new has found no memory: the C++ library's own takes over, with its
 * new_handler and its bad_alloc.
 *
 * And a program that has some of the operators of its own: C++ says of each of
 * the others which one it calls ([new.delete]), so those must not be ours.
 *
 * Runs in: the original, any thread.
 */
#ifndef NEW_FAILED_H
#define NEW_FAILED_H

#include "lib/malloc_debug/call.h"
#include "lib/malloc_debug/hidden.h"

enum new_form {
	NEW_ONE = 0,
	NEW_ARRAY = 1,
	NEW_NOTHROW = 2, /* or'ed */
	NEW_ALIGNED = 4, /* or'ed */
	NEW_FORMS = 8,
};

/* Some operator new or delete is the program's. Asked of all forms but those
 * that the others call. */
extern bool new_replaced HIDDEN;

/* Before main(), when dlsym() can be called. */
void new_replaced_find(void);

/* As the library has it, which calls the program's. NULL where there is no
 * library, or no memory. */
void *new_by_library(
    unsigned form, size_t size, size_t alignment, const void *nothrow);

/* Leaves by an exception where the library does. */
void *new_failed(const struct call *call, unsigned form, size_t size,
    size_t alignment, const void *nothrow);

#endif
