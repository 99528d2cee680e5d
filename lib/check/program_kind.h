/*
 * Programs whose heap cannot be read whatever their layout: those of another C
 * library, or of none.
 *
 * Pure.
 */
#ifndef LIB_CHECK_PROGRAM_KIND_H
#define LIB_CHECK_PROGRAM_KIND_H

#include "heapwalk/subject/snapshot.h"
#include "mu/status.h"

/*
 * MU_ERR_FOREIGN_ALLOCATOR and the cure if SNAP, whose glibc is not known, is
 * of a program with musl, bionic or of Go; else MU_OK.
 */
enum mu_status mu_program_kind_refuse(
    const struct mu_snapshot *snap, struct mu_why *why);

#endif
