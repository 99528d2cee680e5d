/*
 * Convert addresses to frames: one for each function that is inlined there, and
 * one for the function around them. Each different frame is named once; frames
 * with the same name have the same number, wherever they were loaded. So stacks
 * can be compared, also those of two processes.
 */
#ifndef LIB_VIEW_FRAMES_H
#define LIB_VIEW_FRAMES_H

#include "lib/view/addresses.h"
#include "lib/view/locations.h"
#include "lib/view/records.h"

struct mu_frame {
	uint32_t number;
	uint32_t level; /* 0: the innermost function inlined there */
	struct mu_location location;
};

/* What a number stands for. */
struct mu_named {
	const struct mu_location *location;
	struct mu_frame *frame; /* a frame with this number */
};

#define MU_FRAMES_SOURCES 2

/* Zero at first. */
struct mu_frames {
	struct mu_frame *list; /* by source, address and level */
	size_t count, max;
	/* The first frame in LIST of each address, by its number. */
	uint32_t *first[MU_FRAMES_SOURCES];
	struct mu_named *named; /* by number */
	size_t num_named;
};

/*
 * Add the frames of ADDRESSES, which belong to SOURCE, a new one. Returns false
 * without memory.
 */
bool mu_frames_add(struct mu_frames *frames,
    const struct mu_addresses *addresses, size_t source,
    struct mu_locations *names);

/* Call when all frames are added: number them. Returns false without memory. */
bool mu_frames_number(struct mu_frames *frames);

/*
 * Replace the addresses in RECORD, of SOURCE, by frames: several for one if
 * functions are inlined there; a stack may then be cut.
 */
void mu_frames_replace(
    const struct mu_frames *frames, size_t source, struct mu_record *record);

/* Accepts one that is zero. */
void mu_frames_release(struct mu_frames *frames);

#endif
