/*
 * The use of a byte of memory: a thread's stack or local storage, a module's
 * variables, or other.
 */
#ifndef HEAPWALK_ROOTS_ROOT_KINDS_H
#define HEAPWALK_ROOTS_ROOT_KINDS_H

#include "heapwalk/subject/stacks.h"

enum mu_root_kind {
	MU_ROOT_GLOBALS,   /* writable part of a module */
	MU_ROOT_STACK,     /* of a live thread, from sp minus the red zone */
	MU_ROOT_CALLER,    /* the same, of the thread that asked for the pass */
	MU_ROOT_TLS,       /* thread-local variables and struct pthread */
	MU_ROOT_ANONYMOUS, /* other memory of the program */
	MU_ROOT_REGION,    /* registered by the program */
};

struct mu_root_kinds {
	struct mu_stacks stacks;
	struct mu_ranges tls, bss; /* sealed */
};

/* SKIP, ARENA and the result are as for mu_stacks_find(). */
enum mu_status mu_root_kinds_find(struct mu_root_kinds *kinds,
    const struct mu_snapshot *snap, const struct mu_ranges *skip,
    struct mu_arena *arena);

/*
 * Split off the front of REST, which lies in MAPPING, as far as it has one KIND
 * and is neither dead stack nor a region. Returns false if REST is empty.
 */
bool mu_root_kinds_cut(const struct mu_root_kinds *kinds,
    const struct mu_mapping *mapping, struct mu_range *rest,
    struct mu_range *piece, enum mu_root_kind *kind);

#endif
