/*
 * Allocators other than glibc's: the one that the program uses instead, or in
 * addition.
 *
 * Runs in: original, sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_GLIBC_FOREIGN_H
#define HEAPWALK_HEAPS_GLIBC_FOREIGN_H

#include "heapwalk/heaps/blocks.h"
#include "mu/status.h"

/* The file of an allocator that is not glibc's, by its name; or NULL. */
const char *mu_glibc_foreign_file(const struct mu_snapshot *snap);

/*
 * Where glibc's own malloc is not found, or not used: MU_ERR_FOREIGN_ALLOCATOR
 * and the name of what is there instead of it; MU_OK if nothing is known of
 * one. Looks into the file that malloc is in, and into no other.
 */
enum mu_status mu_glibc_foreign_refuse(
    const struct mu_snapshot *snap, struct mu_why *why);

/*
 * Where it was read: do BLOCKS have all that the program allocated?
 * MU_ERR_FOREIGN_ALLOCATOR: they have none of it, or none of them can be lost.
 * MU_PARTIAL: not all. Looks into all files, so for an image only: one that
 * was cut short since cannot be read (SIGBUS).
 */
enum mu_status mu_glibc_foreign_judge(const struct mu_snapshot *snap,
    const struct mu_blocks *blocks, struct mu_why *why);

#endif
