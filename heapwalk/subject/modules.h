/*
 * Programs and libraries in memory: find the one of an address, and its load
 * address, by the ELF headers that the dynamic linker maps.
 */
#ifndef HEAPWALK_SUBJECT_MODULES_H
#define HEAPWALK_SUBJECT_MODULES_H

#include "heapwalk/subject/snapshot.h"

struct mu_module {
	struct mu_range range;   /* of all segments, .bss included, holes too */
	struct mu_range segment; /* the one with the address, whole pages */
	uintptr_t bias; /* address less p_vaddr: what addr2line has taken off */
	size_t mapping; /* index of the first; its name is the module's path */
};

/*
 * The module that ADDRESS is a variable of: in a mapping of its file, or in
 * anonymous memory that one of its segments extends to. False if none.
 */
bool mu_module_find(const struct mu_snapshot *snap, uintptr_t address,
    struct mu_module *module);

#endif
