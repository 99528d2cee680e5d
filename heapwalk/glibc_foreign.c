/*
 * Other allocators, by the names of their files: see heapwalk/glibc_data.h.
 *
 * Runs in: original, sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include <string.h>

#include "heapwalk/glibc_data.h"

const char *
mu_glibc_data_foreign(const struct mu_snapshot *snap)
{
	static const char *const allocators[] = { "libjemalloc", "libmimalloc",
		"libtcmalloc", "libasan", "libhwasan", "liblsan", "libtsan",
		"libmsan", "libclang_rt.asan", "libclang_rt.hwasan",
		"libclang_rt.lsan", "libclang_rt.tsan", "libclang_rt.scudo",
		"libscudo", "libsnmalloc", "libhoard", "librpmalloc",
		"libtbbmalloc_proxy", "libumem", "libdmalloc", "libefence",
		"libduma", "ld-musl", "libc.musl" };
	const char *name;
	size_t i, j;

	for (i = 0; i < snap->num_mappings; i++) {
		name = strrchr(snap->mappings[i].name, '/');
		name = name != NULL ? name + 1 : snap->mappings[i].name;
		for (j = 0; j < sizeof(allocators) / sizeof(*allocators); j++) {
			if (strncmp(name, allocators[j],
				strlen(allocators[j])) == 0)
				return name;
		}
	}
	return NULL;
}
