/*
 * Find the program or library that an address belongs to, and its load bias, by
 * the ELF headers that the dynamic linker maps.
 */
#ifndef HEAPWALK_SUBJECT_MODULES_H
#define HEAPWALK_SUBJECT_MODULES_H

#include "heapwalk/subject/snapshot.h"

/* What the variables of each thread begin with: PT_TLS. */
struct mu_tls_segment {
	uintptr_t image;         /* address */
	size_t image_size, size; /* the rest is zero; 0: there are none */
	size_t align;
};

struct mu_module {
	struct mu_range range;   /* all segments, with .bss and holes */
	struct mu_range segment; /* the segment with the address, whole pages */
	uintptr_t bias;          /* load bias: address minus p_vaddr */
	size_t mapping; /* index of the first; its name is the module's path */
	struct mu_tls_segment tls;
};

/*
 * Find the module of the variable at ADDRESS: in a mapping of its file, or in
 * anonymous memory that one of its segments extends to. Returns false if there
 * is none.
 */
bool mu_module_find(const struct mu_snapshot *snap, uintptr_t address,
    struct mu_module *module);

#endif
