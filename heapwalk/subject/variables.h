/*
 * Find a structure among the variables of programs and libraries, by its magic.
 */
#ifndef HEAPWALK_SUBJECT_VARIABLES_H
#define HEAPWALK_SUBJECT_VARIABLES_H

#include "heapwalk/subject/snapshot.h"

struct mu_variable {
	const char *library; /* the start of its file's name */
	const char *magic;   /* its first 8 bytes */
	size_t size;
	bool (*is)(const char *view); /* the remaining checks */
};

/*
 * Search its library first, then every other module, since it may be linked
 * statically. Returns 0 if it is not found.
 */
uintptr_t mu_variable_find(
    const struct mu_snapshot *snap, const struct mu_variable *variable);

#endif
