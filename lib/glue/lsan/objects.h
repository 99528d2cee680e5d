/*
 * What is lost, block by block, and what is suppressed of it.
 *
 * Runs in: original.
 */
#ifndef LIB_GLUE_LSAN_OBJECTS_H
#define LIB_GLUE_LSAN_OBJECTS_H

#include "lib/glue/lsan/lsan.h"
#include "memunreachable/memunreachable.h"

struct lsan_object {
	uintptr_t begin;
	size_t size;    /* requested, or usable if that is not known */
	uint64_t stack; /* equal for equal stacks, and for equal sizes of
			   objects without one */
	bool direct;    /* no other lost block leads to it */
};

/* Objects of one stack that are all direct, or all not. */
struct lsan_group {
	const struct lsan_object *objects;
	size_t count, bytes;
};

struct lsan_objects {
	struct lsan_object *items; /* no pass searches them */
	size_t count, max;
	size_t num_ignored; /* suppressed: they come first, and are ignored */
	struct lsan_group *groups; /* direct ones first, then by their bytes */
	size_t num_groups;
};

/*
 * List what INFO has found, in groups; what SUPPRESSED matches, and what only
 * that leads to, is left out and noted there. Returns false without memory, or
 * if it could not be checked again.
 */
bool lsan_objects_list(struct lsan_objects *objects,
    struct UnreachableMemoryInfo *info, struct lsan_suppressed *suppressed);
void lsan_objects_free(struct lsan_objects *objects);

/* What is known of the stack of an object without a symbolizer. */
struct lsan_stack {
	size_t count;
	uintptr_t pcs[MEMUNREACHABLE_MAX_FRAMES];
	uintptr_t offsets[MEMUNREACHABLE_MAX_FRAMES]; /* in the module */
	const char *functions[MEMUNREACHABLE_MAX_FRAMES];
	const char *modules[MEMUNREACHABLE_MAX_FRAMES];
};

/* That of the object at BEGIN; it is empty without a recorder. */
void lsan_stack_read(struct lsan_stack *stack, uintptr_t begin);

#endif
