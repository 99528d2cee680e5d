/* An entry of the answer, and a group of entries. */
#ifndef HEAPWALK_FOLD_LEAKS_H
#define HEAPWALK_FOLD_LEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/range.h"

#define MU_LEAK_FRAMES 16
#define MU_LEAK_CONTENTS 32

struct mu_leak {
	struct mu_range range;
	size_t referenced_count, referenced_size; /* bytes */
	size_t similar_count, similar_size;
	size_t similar_referenced_count, similar_referenced_size;
	size_t total_size;
	size_t num_frames;
	uintptr_t frames[MU_LEAK_FRAMES];
	unsigned char contents[MU_LEAK_CONTENTS];
	size_t num_more;       /* further frames */
	const uintptr_t *more; /* owned by the maker of the entry */
	bool cut;              /* the recorder kept no more frames */
	size_t group;          /* 1 + index of its group; 0: in none */
};

/* How entries are grouped; see heapwalk/fold/groups.h. */
enum mu_by {
	MU_BY_BLOCK, /* not at all */
	MU_BY_STACK, /* by stack, or by shape if none is known */
	MU_BY_SHAPE,
	MU_BY_TYPE,   /* by tag, or by size if there is none */
	MU_BY_MODULE, /* of the function that allocated, or else of the tag */
};

/* heapwalk/fold/shape.h */
#define MU_GROUP_HOLDS 64
#define MU_GROUP_DEPTH 6
#define MU_GROUP_TEXT 24
#define MU_GROUP_OTHERS 8

/* What hangs on the example of a group: blocks that are alike. */
struct mu_lost_hold {
	size_t parent; /* 1 + index of the row that it hangs on; 0: example */
	size_t offset; /* of the word in that, or in its first structure */
	bool element;  /* that is an array, of pointers or of structures */
	bool again;    /* that is like this one: a list, a tree */
	size_t size;   /* of the first block, in bytes; see BYTES */
	uintptr_t tag; /* of each block; 0: none */
	uintptr_t address;   /* of the first one */
	size_t count, bytes; /* unless these are COUNT of SIZE, sizes differ */
	char text[MU_GROUP_TEXT]; /* of the first one; "": none */
};

/* True if the blocks of HOLD have several sizes. */
static inline bool
mu_lost_hold_mixed(const struct mu_lost_hold *hold)
{
	return hold->count == 0 || hold->bytes / hold->count != hold->size ||
	    hold->bytes % hold->count != 0;
}

/* Members are those of struct mu_grouped. */
struct mu_lost_group {
	uint64_t key;
	size_t size;
	uintptr_t tag, module_address;
	bool mixed, uneven;
	size_t count, bytes, num_blocks, total_bytes;
	struct mu_leak example;

	/* Begins of other blocks of SIZE, evenly spread over the group. */
	size_t num_others;
	uintptr_t others[MU_GROUP_OTHERS];

	/*
	 * A word at BACK_AT of a block of row BACK - 1 leads back to the
	 * example; 0: none of a row does.
	 */
	size_t back, back_at;

	size_t num_holds;
	struct mu_lost_hold holds[MU_GROUP_HOLDS];
};

/* What the limit cut of the groups. */
struct mu_groups_info {
	enum mu_by by;                  /* MU_BY_BLOCK: there are none */
	size_t count;                   /* in the answer */
	size_t num_total;               /* with those that the limit cut */
	size_t rest_blocks, rest_bytes; /* of these */
};

#endif
