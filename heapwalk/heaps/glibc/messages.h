/*
 * Recognise allocators by their messages: an allocator linked into a program
 * has no file, and its symbols may be stripped, but its strings remain.
 *
 * Runs in: original, sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_GLIBC_MESSAGES_H
#define HEAPWALK_HEAPS_GLIBC_MESSAGES_H

#include "heapwalk/subject/snapshot.h"

/*
 * The allocator whose messages are in the read-only data of MAPPING, or NULL.
 * With INSTEAD, the file's malloc replaces glibc's: then a sanitizer's runtime
 * counts, too, and so does an allocator that may be present but unused
 * elsewhere.
 */
const char *mu_glibc_message_find(const struct mu_snapshot *snap,
    const struct mu_mapping *mapping, bool instead);

/* True if FILE, one of its mappings, is or contains the allocator NAME. */
bool mu_glibc_message_is(const struct mu_snapshot *snap,
    const struct mu_mapping *file, const char *name);

#endif
