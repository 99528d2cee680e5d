/*
 * Instances of GType, such as GObjects.
 *
 * An instance begins with a pointer to its class, a class with its GType, which
 * is the address of a node (struct _TypeNode in gobject/gtype.c, the same from
 * GLib 2.36 on). The node refers back to itself and to the class, and has the
 * number of its name in GLib's table of strings. Private data of an instance
 * are before it, in the same block.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_GOBJECT_H
#define LIB_TYPES_GOBJECT_H

#include "lib/types/block_head.h"
#include "lib/types/subject.h"

/* Initialise to zero. */
struct mu_gobjects {
	bool asked;             /* the subject was searched for the table */
	uintptr_t quarks;       /* address of the table; 0: there is no GLib */
	uintptr_t fundamentals; /* of the nodes of fundamental types; or 0 */
	size_t instance_size;   /* of the last object found; 0: it was none */
	char name[256];
};

/*
 * Where the node of a type refers back to itself, in bytes from its begin: a
 * quick way to tell a class by its first word.
 */
#define MU_GTYPE_SELF 72
#define MU_GTYPE_OBJECT (20u << 2) /* of GObject itself */

/*
 * Find the type of the block with HEAD: an instance, or what GLib has of a type
 * ("GType class"). Returns false if it is none.
 */
bool mu_gobject_find(struct mu_gobjects *gobjects, struct mu_symbols *symbols,
    const struct mu_block_head *head, struct mu_type *type);

#endif
