/*
 * Parts of containers of libstdc++ and libc++, by the names of their classes:
 * the control blocks of shared_ptr, which have vtables also with -fno-rtti, and
 * nodes, which only debug information names.
 *
 * Pure.
 */
#ifndef LIB_TYPES_CONTAINER_PART_H
#define LIB_TYPES_CONTAINER_PART_H

#include <stdbool.h>
#include <stddef.h>

/*
 * If CLASS is a part of a container of X, write what it is to the SIZE bytes at
 * NAME, and return true: "shared_ptr control block of X", "std::list node of
 * X". After make_shared() the block holds the X as well: "X with its shared_ptr
 * control block".
 */
bool mu_container_part(const char *class, char *name, size_t size);

#endif
