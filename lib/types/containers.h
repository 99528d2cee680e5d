/*
 * Parts of containers of the C++ library, told by their structure alone, as in
 * programs without debug information: a container leads to them, and agrees
 * with itself. A list, a tree and a hash table have as many nodes as they say,
 * and their nodes lead back.
 *
 * The layouts are those of libstdc++ and libc++ (bits/stl_tree.h, __tree and
 * so on), the same since C++11.
 *
 * Runs in: the helper that finds names, and the command (any).
 */
#ifndef LIB_TYPES_CONTAINERS_H
#define LIB_TYPES_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_CONTAINER_WORDS 10 /* of a container that are looked at */

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
	MU_PARTS
};

#define MU_CONTAINER_ANY_SIZE SIZE_MAX
#define MU_CONTAINER_STRING 32 /* bytes of a std::string of libstdc++ */

struct mu_containers {
	void *ctx;

	/* Read memory of the subject; false: there is none. */
	bool (*read)(void *ctx, uintptr_t address, void *buffer, size_t size);

	/*
	 * Usable bytes of the block that begins there; 0: there is none;
	 * MU_CONTAINER_ANY_SIZE: not known.
	 */
	size_t (*size)(void *ctx, uintptr_t begin);

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
 * What a part called NAME leads to, such as another node, without more proof;
 * NULL: nothing that is known. *SAME: only if it has the same size.
 */
const char *mu_part_below(const char *name, bool *same);

/* What reports call PART. */
const char *mu_part_name(enum mu_part_kind part);

#endif
