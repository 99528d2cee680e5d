/*
 * The type of a block, as reports show it.
 */
#ifndef LIB_TYPES_TYPE_H
#define LIB_TYPES_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/types/declared.h"

/* What a type was found by. */
enum mu_type_source {
	MU_TYPE_NONE,
	MU_TYPE_VTABLE,    /* the symbol of the vtable */
	MU_TYPE_RTTI,      /* the type information that the vtable refers to */
	MU_TYPE_CONTAINER, /* a part of a container of the C++ library */
	MU_TYPE_TAG,       /* the object's own: GObject, CPython */
	MU_TYPE_DWARF,     /* structures in debug information that fit */
	MU_TYPE_CONTENT,   /* what the bytes look like */
	MU_TYPE_SOURCES
};

/* What an object counts the references to it in. */
enum mu_type_counter {
	MU_COUNTER_NONE,
	MU_COUNTER_SHARED,     /* in the control block of a std::shared_ptr */
	MU_COUNTER_SHARED_CXX, /* the same of libc++, which counts from 0 */
	MU_COUNTER_GOBJECT,
	MU_COUNTER_PYTHON,
	MU_COUNTERS
};

struct mu_type {
	const char *name; /* demangled; NULL: not known */
	const char *text; /* what a text or a pointer to one begins with; its
			     bytes are contents of the block; NULL: none */
	enum mu_type_source source;
	enum mu_type_counter counter;
	bool certain;      /* proven; otherwise NAME is probable */
	size_t offset;     /* of the object, from the block's first byte */
	mu_declared_id id; /* for questions about NAME; 0: not known */
	const char *site; /* where it was probably allocated: "parse.c:88"; NULL
			     : not known */
	size_t stride; /* bytes from one object of an array to the next; 0: it
			  is no array, or not known */
};

#define MU_TYPE_TEXT_MAX 64 /* bytes of TEXT that are kept */

/* A block whose type is wanted. */
struct mu_typed_block {
	uintptr_t begin;
	size_t size; /* usable bytes */

	/* The first bytes, as they were found; the block must still have them.
	 */
	unsigned char head[32];
	size_t num_head; /* 0: not known */

	bool declared; /* the id of its type is wanted, too */

	uintptr_t held_at; /* a word that leads to it; 0: not known */
};

/*
 * Write the name of a row of COUNT (0: not known) of ELEMENT to NAME, of SIZE
 * bytes: "Session[3]", "float[3][16]" if an element is a "float[16]".
 */
void mu_type_row_name(
    char *name, size_t size, const char *element, size_t count);

/* The name of COUNTER in reports: "use_count"; NULL: there is none. */
const char *mu_type_counter_name(enum mu_type_counter counter);

/*
 * Where an object counts, in four bytes from its begin, and what is added to
 * the number there; false: it does not.
 */
bool mu_type_counter_place(
    enum mu_type_counter counter, size_t *at, unsigned *more);

/* The word for SOURCE in reports: "vtable". */
const char *mu_type_source_name(enum mu_type_source source);

#endif
