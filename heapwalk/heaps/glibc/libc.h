/*
 * Find all loads of the C library: dlmopen() loads it once more, and so does
 * dlopen() in a static program; each copy has a separate malloc.
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
 * The candidates for libc, most likely first: the module that holds
 * snap->libc_address, then modules named like it. In a program that is not
 * position-independent the address of a libc function can be that of a PLT
 * entry of the program, so the first candidate may have no malloc. If nothing
 * else is known, one entry stands for all files. At most MU_LIBCS_MAX.
 */
size_t mu_libcs_find(const struct mu_snapshot *snap, struct mu_libc *libcs);

/* True if MAPPING is writable data of LIBC. */
bool mu_libc_has_data(
    const struct mu_libc *libc, const struct mu_mapping *mapping);

/*
 * True if the file of MAPPING is named like glibc: "libc.so.6", before 2.34 a
 * link to "libc-2.31.so". musl's "libc.so" is not.
 */
bool mu_libc_is_named(const struct mu_mapping *mapping);

/* True if such a file is mapped: a static program has its libc anywhere. */
bool mu_libc_is_mapped(const struct mu_snapshot *snap);

#endif
