/* Find the release of glibc by the version string in libc. */
#ifndef HEAPWALK_HEAPS_GLIBC_BANNER_H
#define HEAPWALK_HEAPS_GLIBC_BANNER_H

#include "heapwalk/subject/snapshot.h"

/*
 * Find the release in TEXT, which libc.so.6 prints when it is run (banner in
 * csu/version.c): "GNU C Library (GNU libc) stable release version 2.36".
 * Returns false if there is none. Pure.
 */
bool mu_glibc_banner_parse(
    const char *text, size_t size, unsigned *major, unsigned *minor);

/* The same for the read-only mappings of libc; a static program has none. */
bool mu_glibc_banner_find(
    const struct mu_snapshot *snap, unsigned *major, unsigned *minor);

#endif
