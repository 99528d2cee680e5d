/*
 * Parts of containers of the C++ library, of GLib and of Qt, told by their
 * structure alone, as in programs without debug information: a container leads
 * to them, and agrees with itself. A list, a tree and a hash table have as many
 * nodes as they say, and their nodes lead back.
 *
 * The layouts are those of libstdc++ and libc++ (bits/stl_tree.h, __tree and
 * so on), the same since C++11; for the others see glib_parts.c and qt_parts.c.
 *
 * Runs in: the helper that finds names, and the command (any).
 */
#ifndef LIB_TYPES_CONTAINERS_H
#define LIB_TYPES_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_CONTAINER_WORDS 13 /* of a container that are looked at */

enum mu_part_kind {
	MU_PART_NONE,
	MU_PART_VECTOR,     /* elements */
	MU_PART_STRINGS,    /* elements that are strings of libstdc++ */
	MU_PART_DEQUE_MAP,  /* pointers to */
	MU_PART_DEQUE,      /* elements */
	MU_PART_HASH_TABLE, /* buckets */
	MU_PART_HASH_NODE,
	MU_PART_LIST_NODE,
	MU_PART_TREE_NODE,
	MU_PART_GHASH,
	MU_PART_GHASH_KEYS,
	MU_PART_GHASH_HASHES,
	MU_PART_GHASH_VALUES,
	MU_PART_GPTRARRAY,
	MU_PART_GPTRARRAY_ELEMENTS,
	MU_PART_GARRAY,
	MU_PART_GARRAY_ELEMENTS,
	MU_PART_GSTRING,
	MU_PART_GLIST,
	MU_PART_GSLICES, /* small pieces of memory that GLib divides it into */
	MU_PART_GTYPE_NODE,
	MU_PART_GTYPE_DATA,
	MU_PART_QHASH,
	MU_PART_QHASH_BUCKETS,
	MU_PART_QHASH_NODE,
	MU_PART_QHASH_SPANS,
	MU_PART_QHASH_ENTRIES,
	MU_PART_QMAP,
	MU_PART_QMAP_NODE,
	MU_PART_QOBJECT_EXTRA,
	MU_PART_QOBJECT_CONNECTIONS,
	MU_PART_QOBJECT_SIGNALS,
	MU_PART_QOBJECT_CONNECTION,
	MU_PART_QOBJECT_SLOT,
	MU_PART_QTHREAD_DATA,
	MU_PARTS
};

/* Libraries whose containers are looked for. */
enum {
	MU_LIBRARY_CXX = 1,
	MU_LIBRARY_GLIB = 2,
	MU_LIBRARY_QT5 = 4,
	MU_LIBRARY_QT6 = 8,
};

#define MU_CONTAINER_ANY_SIZE SIZE_MAX
#define MU_CONTAINER_STRING 32 /* bytes of a std::string of libstdc++ */

struct mu_containers {
	void *ctx;
	unsigned libraries; /* MU_LIBRARY_CXX and so on */

	/* Read memory of the subject; false: there is none. */
	bool (*read)(void *ctx, uintptr_t address, void *buffer, size_t size);

	/*
	 * Usable bytes of the block that begins there; 0: there is none;
	 * MU_CONTAINER_ANY_SIZE: not known.
	 */
	size_t (*size)(void *ctx, uintptr_t begin);

	/* True if there are instructions of a loaded file at ADDRESS. */
	bool (*code)(void *ctx, uintptr_t address);

	/*
	 * A part that was found, with the number of its elements, or 0. It is
	 * one if the container proves to be one, which END says.
	 */
	void (*found)(
	    void *ctx, uintptr_t begin, enum mu_part_kind part, size_t count);
	void (*end)(void *ctx, bool proven);

	size_t most;  /* nodes of one container that are followed */
	size_t steps; /* to nodes in vain: then none are followed any more */
};

/*
 * Find the parts of the container that begins at AT with WORDS, of which COUNT
 * can be read. False: there is none.
 */
bool mu_containers_find(struct mu_containers *parts, uintptr_t at,
    const uintptr_t *words, size_t count);

/*
 * True if WORD, the first of a container of a library that is not C++'s, and
 * NEXT may begin one; it may always begin in the first two words of a block.
 */
bool mu_containers_may_begin(
    const struct mu_containers *parts, uintptr_t word, uintptr_t next);

/* The library that is loaded from the file with NAME; 0: none of these. */
unsigned mu_containers_library(const char *name);

/*
 * What a part called NAME leads to, such as another node, without more proof;
 * NULL: nothing that is known. *SAME: only if it has the same size.
 */
const char *mu_part_below(const char *name, bool *same);

/* For finders. */

/* Read the word at ADDRESS; false: there is none. */
bool mu_containers_word(
    struct mu_containers *parts, uintptr_t address, uintptr_t *word);

/*
 * True if SIZE bytes may have been asked for the block at BEGIN. Large ones are
 * whole pages (glibc: M_MMAP_THRESHOLD).
 */
bool mu_containers_is_block(
    struct mu_containers *parts, uintptr_t begin, size_t size);

/* Read the COUNT words that a node begins with; false: it is none. */
bool mu_containers_node(struct mu_containers *parts, uintptr_t node,
    uintptr_t *words, size_t count);

/* Tell of the container itself, the SIZE bytes at AT, if it is a block. */
void mu_containers_found_self(struct mu_containers *parts, uintptr_t at,
    size_t size, enum mu_part_kind part);

/* Tell whether what was found so far belongs to a container. */
bool mu_containers_settle(struct mu_containers *parts, bool proven);

/* True if ADDRESS is 0 or one of instructions. */
bool mu_containers_function(struct mu_containers *parts, uintptr_t address);

/* The first of two numbers in one word. */
static inline uint32_t
mu_word_low(uintptr_t word)
{
	return (uint32_t)word;
}

/* The second of them. */
static inline uint32_t
mu_word_high(uintptr_t word)
{
	return (uint32_t)(word >> 32);
}

/* True if COUNT may be a number of references. */
static inline bool
mu_is_use_count(uint32_t count)
{
	return count >= 1 && count <= (uint32_t)1 << 24;
}

/*
 * As mu_containers_find(), but what GLib has: arrays, hash tables, strings,
 * lists, slices, types.
 */
bool mu_glib_parts_find(struct mu_containers *parts, uintptr_t at,
    const uintptr_t *words, size_t count);

/*
 * As mu_containers_find(), but what Qt has: hashes, maps, and what the private
 * data of a QObject lead to.
 */
bool mu_qt_parts_find(struct mu_containers *parts, uintptr_t at,
    const uintptr_t *words, size_t count);

/* What reports call PART. */
const char *mu_part_name(enum mu_part_kind part);

#endif
