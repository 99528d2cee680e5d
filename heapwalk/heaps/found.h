/*
 * What back ends have in common that find their allocator, without symbols,
 * among the variables of a program or library.
 *
 * Runs in: original, sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_FOUND_H
#define HEAPWALK_HEAPS_FOUND_H

#include "heapwalk/heaps/heap.h"

/* The state of a member begins with it. */
struct mu_heap_found {
	const struct mu_mapping *file; /* of the program or library it is in;
					  NULL: not found */
};

/* Make a copy of FOUND, of SIZE bytes, the state of MEMBER, if it has a file.
 */
enum mu_status mu_heap_found_keep(struct mu_heap_member *member,
    const struct mu_heap_found *found, size_t size, struct mu_arena *arena,
    struct mu_why *why);

/* mu_heap_ops.has_file() */
bool mu_heap_found_has_file(
    const struct mu_heap_member *member, const struct mu_mapping *mapping);

/*
 * True for a mapping with variables that may be those of an allocator. In the
 * process itself only the file that has malloc is read: a file that was
 * truncated since cannot be (SIGBUS), and a pass costs what it did.
 */
bool mu_heap_may_be_in(
    const struct mu_snapshot *snap, const struct mu_mapping *mapping);

/*
 * The variables of the file of MAPPING, which has its .data: .bss follows, in a
 * mapping without a name.
 */
bool mu_heap_variables(const struct mu_snapshot *snap,
    const struct mu_mapping *mapping, struct mu_range *variables);

#endif
