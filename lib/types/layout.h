/*
 * The layouts of the program's structures, from its debug information: which
 * words of each are pointers, and to what.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_LAYOUT_H
#define LIB_TYPES_LAYOUT_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_LAYOUT_WORDS 32 /* of a structure that are looked at */

/* What a word of a structure is. */
enum mu_layout_word {
	MU_WORD_ANY,      /* padding, a union, bytes, fields with a gap */
	MU_WORD_NUMBER,   /* several numbers */
	MU_WORD_INTEGER,  /* one of eight bytes */
	MU_WORD_DOUBLE,   /* a floating-point number of eight bytes */
	MU_WORD_POINTER,  /* to anything */
	MU_WORD_DATA,     /* a pointer to something else than the next three */
	MU_WORD_TEXT,     /* a pointer to char */
	MU_WORD_FUNCTION, /* a pointer to code */
	MU_WORD_OBJECT,   /* a pointer to a structure */
};

/* A structure that a word points to. */
struct mu_layout_target {
	const char *name; /* without namespaces, of libdw; NULL: none */
	size_t size;
};

struct mu_layout {
	char *name;      /* with namespaces */
	const char *own; /* the part of it after them */
	size_t size;
	bool embeds; /* it begins with a member that has a vtable */
	unsigned char words[MU_LAYOUT_WORDS]; /* enum mu_layout_word */
	unsigned char bools[MU_LAYOUT_WORDS]; /* bytes that are 0 or 1, as bits
					       */
	struct mu_layout_target targets[MU_LAYOUT_WORDS];
};

/* Initialise to zero. */
struct mu_layouts {
	struct mu_layout *list; /* by size, then name; each once */
	size_t count, max;
	bool failed; /* not all could be read: none may be believed */
};

/* Add those of MODULE, and read until DEADLINE_NS at most. */
void mu_layouts_add(
    struct mu_layouts *layouts, Dwfl_Module *module, uint64_t deadline_ns);

/* Call after the last one was added. */
void mu_layouts_sort(struct mu_layouts *layouts);

/* The layout that TARGET names; NULL if there is none. */
const struct mu_layout *mu_layouts_find(
    const struct mu_layouts *layouts, const struct mu_layout_target *target);

#endif
