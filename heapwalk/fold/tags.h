/*
 * Tags: first words of blocks that tell their type.
 *
 * The first word of a C++ object with virtual functions is the address of its
 * class's vtable, in its module's read-only data; many C objects begin with the
 * address of a table of functions. Both are recognised by what they point to:
 * an address in executable memory. A module is a file that is mapped
 * executable.
 */
#ifndef HEAPWALK_FOLD_TAGS_H
#define HEAPWALK_FOLD_TAGS_H

#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"

#define MU_TAGS_KEPT 256 /* a power of 2 */

struct mu_tag_module {
	struct mu_range range; /* of its mappings, from the first to the last */
	uint64_t name;         /* hash of its path */
	bool runtime;          /* a C or C++ library, or a recorder */
};

/* Without modules no word is a tag. */
struct mu_tags {
	struct mu_memory *memory;
	const struct mu_snapshot *snap;
	struct mu_tag_module *modules; /* by address */
	size_t num_modules;
	struct mu_range envelope; /* of all modules */
	struct {
		uintptr_t word;
		bool is_tag;
	} kept[MU_TAGS_KEPT]; /* cache */
};

/*
 * SNAP may be NULL: there are no modules. SNAP must stay. Returns false if
 * memory is exhausted.
 */
bool mu_tags_open(struct mu_tags *tags, const struct mu_snapshot *snap,
    struct mu_arena *arena);

/* True if WORD, the first one of a block, is a tag. */
bool mu_tags_has(struct mu_tags *tags, uintptr_t word);

/* The module that holds ADDRESS; NULL: none. */
const struct mu_tag_module *mu_tags_module(
    const struct mu_tags *tags, uintptr_t address);

/* A number for ADDRESS that does not depend on where its module is mapped. */
uint64_t mu_tags_key(const struct mu_tags *tags, uintptr_t address);

/* Mix WORD into HASH. */
static inline uint64_t
mu_tags_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

#endif
