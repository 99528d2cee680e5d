/*
 * Convert addresses to frames: one for each function that is inlined there, and
 * one for the function around them. Each different frame is named once; frames
 * with the same name have the same number, wherever they were loaded. So stacks
 * can be compared, also those of two processes.
 */
#ifndef LIB_VIEW_FRAMES_H
#define LIB_VIEW_FRAMES_H

#include "lib/view/hash_index.h"
#include "lib/view/locations.h"
#include "lib/view/records.h"

struct mu_frame {
	uintptr_t pc;
	size_t source; /* source of the address: 0 or 1 */
	size_t level;  /* 0: the innermost function inlined there */
	size_t number;
	struct mu_location location;
};

/* What a number stands for. */
struct mu_named {
	const struct mu_location *location;
	struct mu_frame *frame; /* a frame with this number */
};

/* Zero at first. */
struct mu_frames {
	struct mu_frame *list; /* by source, pc and level */
	size_t count, max;
	struct mu_hash_index index; /* of those with level 0 */
	struct mu_named *named;     /* by number */
	size_t num_named;
};

/*
 * Add the frames of RECORDS, which belong to a new source. Returns false
 * without memory.
 */
bool mu_frames_add(struct mu_frames *frames, const struct mu_records *records,
    size_t source, struct mu_locations *names);

/* Call when all frames are added: number them. Returns false without memory. */
bool mu_frames_number(struct mu_frames *frames);

/*
 * Replace the addresses in RECORDS by numbers, by several if functions are
 * inlined; a stack may then be cut again. Returns false without memory.
 */
bool mu_frames_replace(
    const struct mu_frames *frames, struct mu_records *records, size_t source);

/* Accepts one that is zero. */
void mu_frames_release(struct mu_frames *frames);

#endif
