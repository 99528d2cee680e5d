/*
 * Recognise programs whose heap cannot be read: those with another C library,
 * or none.
 *
 * Pure.
 */
#ifndef LIB_CHECK_PROGRAM_KIND_H
#define LIB_CHECK_PROGRAM_KIND_H

#include "heapwalk/subject/snapshot.h"
#include "mu/status.h"

/*
 * MU_ERR_FOREIGN_ALLOCATOR and a remedy if SNAP, whose glibc is not known, is a
 * program with musl or bionic, or a Go program; otherwise MU_OK.
 */
enum mu_status mu_program_kind_refuse(
    const struct mu_snapshot *snap, struct mu_why *why);

#endif
