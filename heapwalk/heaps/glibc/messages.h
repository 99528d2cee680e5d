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
 * The allocator whose messages are in the read-only data that MAPPING holds,
 * or NULL. INSTEAD: what is there takes glibc's place, so a sanitizer's runtime
 * counts, too, and what may lie there unused.
 */
const char *mu_glibc_message_find(const struct mu_snapshot *snap,
    const struct mu_mapping *mapping, bool instead);

#endif
