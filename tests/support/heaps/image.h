/*
 * This process as the subject of a test: its present mappings, and memory of
 * known contents in them.
 *
 * image_open() between setup and asking; whatever is mapped or written later
 * is not in the picture.
 */
#ifndef TESTS_SUPPORT_HEAPS_IMAGE_H
#define TESTS_SUPPORT_HEAPS_IMAGE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heapwalk/memory/self.h"
#include "heapwalk/subject/ranges.h"
#include "ptrace/live/mappings.h"
#include "tests/support/heaps/self_snapshot.h"

struct image {
	struct mu_arena arena;
	struct mu_memory_self self;
	struct mu_pages pages;
	size_t page; /* bytes */
};

extern struct image image;

void image_setup(void);
void image_open(struct mu_snapshot *snap);
void image_teardown(void);

/* What mu_ranges_seal() guarantees. */
bool ranges_in_order(const struct mu_ranges *set);

/* Write 1 for each page of the range that is populated. */
void image_ask(struct mu_snapshot *snap, const char *at, size_t pages,
    unsigned char *populated);

char *map_pages(size_t pages, int flags, int fd);
char *map_untouched(size_t pages);
char *map_filled(size_t pages);

/* A file without a name, full of 'f'. -1: not possible in DIRECTORY. */
int file_of_pages(const char *directory, size_t pages);

#endif
