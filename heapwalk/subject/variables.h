/*
 * Find a structure among the variables of programs and libraries, by its magic.
 */
#ifndef HEAPWALK_SUBJECT_VARIABLES_H
#define HEAPWALK_SUBJECT_VARIABLES_H

#include "heapwalk/subject/snapshot.h"

struct mu_variable {
	const char *library; /* which names of its file begin with */
	const char *magic;   /* its first 8 bytes */
	size_t size;
	bool (*is)(const char *view); /* what else makes it one */
};

/*
 * Its library first, then, as that may be linked statically, every other
 * module. 0: there is none.
 */
uintptr_t mu_variable_find(
    const struct mu_snapshot *snap, const struct mu_variable *variable);

#endif
