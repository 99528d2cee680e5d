/*
 * What a node of a map or set is found by: a number, a text, or a structure of
 * these.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_CONTAINER_KEY_H
#define LIB_TYPES_CONTAINER_KEY_H

#include <elfutils/libdw.h>

#include "lib/types/declared.h"

#define MU_KEY_NAME 64 /* bytes of the name of a part */

/* CTX and DEFINE are set by the caller; the rest is zero. */
struct mu_container_key {
	void *ctx;
	void (*define)(void *ctx, Dwarf_Die *die); /* mu_declaring_define() */

	bool parted; /* it is a structure */
	struct mu_declared_key parts[MU_DECLARED_KEYS];
	char names[MU_DECLARED_KEYS][MU_KEY_NAME]; /* of the parts */
	size_t count; /* 0: nothing is known, or there are more */
};

/*
 * Find the key in ELEMENT, which is the key itself or the pair of a map, at
 * OFFSET of a node.
 */
void mu_container_key_find(
    struct mu_container_key *key, const Dwarf_Die *element, uint64_t offset);

/* True if NAME is one that the authors of C++ libraries chose. */
bool mu_container_is_internal(const char *name);

#endif
