/*
 * A buffer for memory of the subject that one thread reads in order.
 *
 * A view of memory that is not present is filled by faults, 5 to 10 us each
 * (heapwalk/memory/remote_window.h), or stays resident (a mapped core file). A
 * buffer of the size of a CPU's own cache is filled by one system call, and
 * reading it misses no cache.
 */
#ifndef HEAPWALK_SUBJECT_READ_BUFFER_H
#define HEAPWALK_SUBJECT_READ_BUFFER_H

#include "heapwalk/subject/snapshot.h"

/* Least capacity: 256 KiB and a little more. */
#define MU_READ_BUFFER ((size_t)260 << 10)

struct mu_read_buffer {
	struct mu_memory *memory;
	char *bytes; /* NULL: use views */
	size_t size;
};

/*
 * True if MEMORY, which may be NULL, should be read in pieces instead of
 * viewed.
 */
bool mu_read_buffer_helps(struct mu_memory *memory);

/*
 * MEMORY may be NULL. If there is no memory for a buffer, or MEMORY is present,
 * views are used. Close in any case.
 */
void mu_read_buffer_open(
    struct mu_read_buffer *buffer, struct mu_memory *memory);

/*
 * Get RANGE's bytes, whose view is VIEW: returns VIEW, or a copy in BUFFER,
 * which the next call overwrites. At most MU_READ_BUFFER bytes are copied.
 */
const char *mu_read_buffer_fill(
    struct mu_read_buffer *buffer, struct mu_range range, const char *view);

/* Accepts a zeroed BUFFER that was never opened. */
void mu_read_buffer_close(struct mu_read_buffer *buffer);

#endif
