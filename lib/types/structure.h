/*
 * The structure that a block may be: one whose size fits, and whose pointers
 * and numbers agree with the words of the block.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_STRUCTURE_H
#define LIB_TYPES_STRUCTURE_H

#include "lib/types/block_head.h"
#include "lib/types/call_sites.h"
#include "lib/types/declarations.h"
#include "lib/types/layout.h"
#include "lib/types/subject.h"
#include "lib/types/type.h"

/* A structure of a module, whose layout is read when it is first wanted. */
struct mu_known_structure {
	uint64_t size, own, hash; /* as in struct mu_indexed_type */
	size_t module, type;      /* indexes */
	bool asked;
	struct mu_layout *layout; /* NULL: no block is one, or not asked */
};

/* Initialise to zero, except DECLARATIONS and SITES. */
struct mu_structures {
	struct mu_declarations *declarations;
	struct mu_call_sites *sites;
	bool asked;  /* the debug information was read */
	bool failed; /* not all of it could be: none may be believed */
	struct mu_known_structure *list; /* by size, then name; each once */
	size_t count, max;
	char name[1024];   /* as reports show it */
	const char *class; /* the name of the last one found, as declared */
};

/*
 * Find what the block with HEAD probably is. The name is "A, B or C" if up to
 * three fit equally well. Returns false if nothing fits, more do, or no pointer
 * speaks for the best one.
 */
bool mu_structure_find(struct mu_structures *structures,
    const struct mu_block_head *head, struct mu_type *type);

/*
 * True if debug information has a structure NAME, of LENGTH bytes, for which
 * malloc() gives SIZE usable bytes, and nothing else of that size that begins
 * with an object of another type. A STRIDE is the size of the structure itself,
 * as an element of an array.
 */
bool mu_structure_confirms(struct mu_structures *structures, const char *name,
    size_t length, size_t size, size_t stride);

/*
 * The size of the structure NAME for which malloc() gives USABLE bytes; 0:
 * there is none, or several.
 */
uint64_t mu_structure_size(
    struct mu_structures *structures, const char *name, size_t usable);

#endif
