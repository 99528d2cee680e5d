/* Classify a mapping by its line in /proc/PID/maps. */
#ifndef HEAPWALK_SUBJECT_CLASSIFY_H
#define HEAPWALK_SUBJECT_CLASSIFY_H

#include "heapwalk/subject/snapshot.h"
#include "heapwalk/subject/tmpfs.h"

/*
 * Readable, and plain memory behind it: no device (reading a register of a
 * card can change its state) and no page of the kernel's own ([vvar]).
 */
bool mu_mapping_is_memory(const struct mu_mapping *mapping);

/*
 * Is MAPPING memory, or would it be if the program had not closed it for the
 * time being (PROT_NONE)? Closed shared memory is known by its name only.
 */
bool mu_mapping_can_be_memory(const struct mu_mapping *mapping);

/*
 * Is all of RANGE, by COUNT mappings by address? It may cross from one into the
 * next if nothing is between.
 */
bool mu_mappings_are_memory(
    const struct mu_mapping *mappings, size_t count, struct mu_range range);

/* Private memory without a file: anonymous, brk, stack. */
bool mu_mapping_is_anonymous(const struct mu_mapping *mapping);

/* Is all of RANGE? As mu_mappings_are_memory(). */
bool mu_mappings_are_anonymous(
    const struct mu_mapping *mappings, size_t count, struct mu_range range);

/* Starts with the text "/name" or the like. */
bool mu_mapping_is_named(const struct mu_mapping *mapping, const char *prefix);

/* Of one file? */
bool mu_mapping_same_file(
    const struct mu_mapping *a, const struct mu_mapping *b);

/* The path without its folders. */
const char *mu_path_base(const char *path);

/*
 * Does TEXT begin with PREFIX? By hand: nearly all differ in the first byte,
 * and it is asked for often.
 */
static inline bool
mu_starts_with(const char *text, const char *prefix)
{
	for (; *prefix != '\0'; prefix++, text++)
		if (*text != *prefix)
			return false;
	return true;
}

/*
 * Shared, and the program's memory all the same, not a document: anonymous,
 * System V, memfd, tmpfs, or a ring of the kernel that holds words which the
 * program gave it (io_uring, aio).
 */
bool mu_mapping_is_shared_memory(
    const struct mu_mapping *mapping, struct mu_tmpfs *tmpfs);

/*
 * A private mapping of a file that lives in memory and that programs write to
 * by write() or through another mapping: its pages change too, up to the first
 * write to each through this one. Files of a tmpfs elsewhere are left out:
 * those that are mapped privately are programs and libraries.
 */
bool mu_mapping_is_view(const struct mu_mapping *mapping);

/* Either of the two: a fork does not copy what it holds. */
bool mu_mapping_is_changing(
    const struct mu_mapping *mapping, struct mu_tmpfs *tmpfs);

#endif
