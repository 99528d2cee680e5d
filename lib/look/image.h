/*
 * The memory of a saved look: the words that it has, and zeros.
 *
 * Runs in: the command.
 */
#ifndef LIB_LOOK_IMAGE_H
#define LIB_LOOK_IMAGE_H

#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"

/* Mappings that follow each other, as one piece of our memory. */
struct mu_image_run {
	struct mu_range range; /* of the subject */
	char *view;
};

struct mu_look_image {
	struct mu_image_run *runs; /* by address */
	size_t num_runs;
	uintptr_t page; /* the last one that was written */
	size_t page_size;
	size_t written; /* bytes of pages, some counted twice */
	size_t limit;   /* of these */
};

/*
 * Reserve memory for all mappings of SNAP, of which LIMIT bytes may be written,
 * and make it SNAP's. Returns false if memory is exhausted. Close in any case.
 */
bool mu_look_image_open(struct mu_look_image *image, struct mu_snapshot *snap,
    size_t limit, struct mu_arena *arena);

/* Where RANGE is; NULL: not in one run, or empty. */
char *mu_look_image_at(
    const struct mu_look_image *image, struct mu_range range);

/* Write a word. Returns false if it is in no run, or there are too many. */
bool mu_look_image_put(
    struct mu_look_image *image, uintptr_t address, uintptr_t word);

/* Accepts the zero value. */
void mu_look_image_close(struct mu_look_image *image);

#endif
