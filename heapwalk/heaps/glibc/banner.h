/*
 * Which release of glibc the subject runs, by the version string in its libc.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_BANNER_H
#define HEAPWALK_HEAPS_GLIBC_BANNER_H

#include "heapwalk/subject/snapshot.h"

/*
 * The release in TEXT, such as that of libc.so.6 when it is run (banner in
 * csu/version.c):
 *	GNU C Library (GNU libc) stable release version 2.36.
 * False if it has none. A pure function.
 */
bool mu_glibc_banner_parse(
    const char *text, size_t size, unsigned *major, unsigned *minor);

/* The same in the read-only mappings of libc; a static program has none. */
bool mu_glibc_banner_find(
    const struct mu_snapshot *snap, unsigned *major, unsigned *minor);

#endif
