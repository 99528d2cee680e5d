/*
 * A copy of the memory of this process, to be damaged: the program continues
 * unharmed, and its heap can be read thousands of times with different damage.
 *
 * Private writable memory is copied as it was at heap_image_take(); all other
 * memory is looked at where it is.
 */
#ifndef TESTS_SUPPORT_HEAPS_HEAP_IMAGE_H
#define TESTS_SUPPORT_HEAPS_HEAP_IMAGE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "heapwalk/heaps/table/table.h"
#include "heapwalk/subject/classify.h"
#include "tests/support/heaps/self_snapshot.h"

#define HEAP_IMAGE_RUNS 512
#define HEAP_IMAGE_PARTS 8192

struct heap_image_run {
	struct mu_range range; /* mappings without a gap between them */
	char *copy;
};

struct heap_image {
	struct self_snapshot self;
	struct heap_image_run runs[HEAP_IMAGE_RUNS];
	size_t num_runs;
	struct mu_range parts[HEAP_IMAGE_PARTS]; /* populated ones */
	size_t num_parts;
	struct mu_memory live; /* what was copied */
};

/* How a reading of the image ended, and what it listed. */
struct heap_reading {
	enum mu_status status;
	struct mu_why why;
	struct mu_range *blocks; /* by address */
	bool *kept;
	size_t count, num_kept, unproven_bytes;
	struct mu_arena arena;
};

struct heap_image_run *heap_image_run_of(
    struct heap_image *image, uintptr_t address);

/* Nothing in it is changed by what the program does from now on. */
void heap_image_take(
    struct heap_image *image, struct mu_thread *threads, size_t num_threads);

void heap_image_release(struct heap_image *image);

/* The image's word at ADDRESS, to be read and changed. */
uintptr_t *heap_image_word(struct heap_image *image, uintptr_t address);

void heap_image_read(struct heap_image *image, struct heap_reading *reading);
void heap_reading_close(struct heap_reading *reading);

/* The block that begins at ADDRESS, or -1. */
ssize_t heap_reading_find(
    const struct heap_reading *reading, uintptr_t address);

bool heap_reading_same(
    const struct heap_reading *a, const struct heap_reading *b);

#endif
