/*
 * Find where the C library is loaded, and how often: dlmopen() loads it once
 * more, and so does dlopen() in a static program; each copy has a separate
 * malloc.
 *
 * Runs in: original, sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_GLIBC_LIBC_H
#define HEAPWALK_HEAPS_GLIBC_LIBC_H

#include "heapwalk/subject/snapshot.h"

#define MU_LIBCS_MAX 16 /* namespaces of dlmopen(), main one included */

/* One load of a file: its mappings that lie in RANGE. */
struct mu_libc {
	const struct mu_mapping *file; /* one of them; NULL: any file's */
	struct mu_range range;
};

/*
 * All that may be it, the likeliest first: what holds snap->libc_address, then
 * what is called so. The address of a libc function can also be that of a stub
 * in the program (a PLT entry in a program that is not position-independent),
 * so the first one can turn out to hold no malloc. One that stands for all
 * files if nothing else is known. At most MU_LIBCS_MAX.
 */
size_t mu_libcs_find(const struct mu_snapshot *snap, struct mu_libc *libcs);

/* Is MAPPING writable data of LIBC? */
bool mu_libc_has_data(
    const struct mu_libc *libc, const struct mu_mapping *mapping);

/* Is the file of MAPPING called as the C library is? */
bool mu_libc_is_named(const struct mu_mapping *mapping);

#endif
