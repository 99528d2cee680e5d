/*
 * Classify a mapping by its line in /proc/PID/maps.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_SUBJECT_CLASSIFY_H
#define HEAPWALK_SUBJECT_CLASSIFY_H

#include "heapwalk/subject/snapshot.h"
#include "heapwalk/subject/tmpfs.h"

/*
 * True if MAPPING is readable plain memory: not a device (reading a register of
 * a card can change its state) and not a page of the kernel ([vvar]).
 */
bool mu_mapping_is_memory(const struct mu_mapping *mapping);

/*
 * True if MAPPING is memory, or would be if the program had not made it
 * inaccessible (PROT_NONE). Inaccessible shared memory is recognised only by
 * its name.
 */
bool mu_mapping_can_be_memory(const struct mu_mapping *mapping);

/*
 * True if all of RANGE is memory, by COUNT mappings sorted by address. It may
 * cross adjacent mappings.
 */
bool mu_mappings_are_memory(
    const struct mu_mapping *mappings, size_t count, struct mu_range range);

/* True for private memory without a file: anonymous, brk, stack. */
bool mu_mapping_is_anonymous(const struct mu_mapping *mapping);

/* True if all of RANGE is; see mu_mappings_are_memory(). */
bool mu_mappings_are_anonymous(
    const struct mu_mapping *mappings, size_t count, struct mu_range range);

/* True if the name starts with PREFIX, such as "/name". */
bool mu_mapping_is_named(const struct mu_mapping *mapping, const char *prefix);

/* True if both are mappings of one file. */
bool mu_mapping_same_file(
    const struct mu_mapping *a, const struct mu_mapping *b);

/* The last component of PATH. */
const char *mu_path_base(const char *path);

/*
 * True if TEXT begins with PREFIX. Inline: it is called often, and nearly all
 * names differ in the first byte.
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
 * True for shared memory that is the program's data, not a document: anonymous,
 * System V, memfd, tmpfs, or a ring of the kernel with words that the program
 * put there (io_uring, aio).
 */
bool mu_mapping_is_shared_memory(
    const struct mu_mapping *mapping, struct mu_tmpfs *tmpfs);

/*
 * True for a private mapping of a file in memory that programs change by
 * write() or through another mapping: each of its pages changes too, until it
 * is first written through this mapping. Files of other tmpfs mounts are
 * excluded: those that are mapped privately are programs and libraries.
 */
bool mu_mapping_is_view(const struct mu_mapping *mapping);

/* True for either of the two: a fork does not copy the contents. */
bool mu_mapping_is_changing(
    const struct mu_mapping *mapping, struct mu_tmpfs *tmpfs);

#endif
