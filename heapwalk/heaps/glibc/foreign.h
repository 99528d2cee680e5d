/*
 * Detect allocators other than glibc's, which the program uses instead or in
 * addition. Those that are read, the others of GLIBC (which may be NULL), do
 * not count.
 *
 * Runs in: original, sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_GLIBC_FOREIGN_H
#define HEAPWALK_HEAPS_GLIBC_FOREIGN_H

#include "heapwalk/heaps/heap.h"
#include "mu/status.h"

/* The file of a known allocator other than glibc's, by its name; or NULL. */
const char *mu_glibc_foreign_file(const struct mu_snapshot *snap);

/*
 * To be called if glibc's own malloc is not found or not used.
 * MU_ERR_FOREIGN_ALLOCATOR, with the name of the allocator, if another one is
 * in its place; MU_OK if none is known. Looks only into the file that has
 * malloc.
 */
enum mu_status mu_glibc_foreign_refuse(const struct mu_snapshot *snap,
    const struct mu_heap_member *glibc, struct mu_why *why);

/*
 * MU_ERR_FOREIGN_ALLOCATOR, with the name of the allocator that a program or a
 * library contains, if it is known by its messages: glibc's was never used.
 * MU_OK if another one that is read explains that. Looks into all files, as
 * mu_glibc_foreign_check() does.
 */
enum mu_status mu_glibc_foreign_name(const struct mu_snapshot *snap,
    const struct mu_heap_member *glibc, struct mu_why *why);

/*
 * To be called after the heap was read: checks that BLOCKS has all that the
 * program allocated. MU_ERR_FOREIGN_ALLOCATOR: it has none of it, or none that
 * can be lost. MU_PARTIAL: not all. Looks into all files, so SNAP must be an
 * image: a file that was truncated since cannot be read (SIGBUS).
 */
enum mu_status mu_glibc_foreign_check(const struct mu_snapshot *snap,
    const struct mu_heap_member *glibc, const struct mu_blocks *blocks,
    struct mu_why *why);

#endif
