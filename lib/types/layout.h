/*
 * The layout of a structure, from debug information: which words of it are
 * pointers, and to what.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_LAYOUT_H
#define LIB_TYPES_LAYOUT_H

#include <elfutils/libdw.h>
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
	uint64_t own; /* hash of its name without namespaces */
	size_t size;  /* 0: none */
};

struct mu_layout {
	char *name; /* with namespaces; from malloc() */
	size_t size;
	bool embeds; /* it begins with a member that has a vtable */
	unsigned char words[MU_LAYOUT_WORDS]; /* enum mu_layout_word */
	unsigned char bools[MU_LAYOUT_WORDS]; /* bytes that are 0 or 1, as bits
					       */
	struct mu_layout_target targets[MU_LAYOUT_WORDS];
};

/*
 * Fill LAYOUT with the structure DIE, which is NAME in the namespaces AROUND.
 * Returns false if no block is of its own one of these, or without memory.
 */
bool mu_layout_fill(struct mu_layout *layout, const char *around,
    const char *name, Dwarf_Die *die);

#endif
