/*
 * Memory of the subject that one thread reads in order.
 *
 * A view of memory that is not in place is filled by faults, 5 to 10 us each
 * (heapwalk/memory/remote_window.h), or stays resident (a core file that is
 * mapped). A buffer of the size of a CPU's own cache is filled by one system
 * call, and what is in it is read without a miss.
 */
#ifndef HEAPWALK_SUBJECT_READ_BUFFER_H
#define HEAPWALK_SUBJECT_READ_BUFFER_H

#include "heapwalk/subject/snapshot.h"

/* Bytes that it holds at least: 256 KiB, and a little of what lies beside. */
#define MU_READ_BUFFER ((size_t)260 << 10)

struct mu_read_buffer {
	struct mu_memory *memory;
	char *bytes; /* NULL: views are as good */
	size_t size;
};

/* Is MEMORY, which may be NULL, read in pieces rather than seen in place? */
bool mu_read_buffer_helps(struct mu_memory *memory);

/*
 * MEMORY may be NULL. Without memory for a buffer, or if MEMORY is in place,
 * all is seen by views. To be closed in any case.
 */
void mu_read_buffer_open(
    struct mu_read_buffer *buffer, struct mu_memory *memory);

/*
 * RANGE's bytes, which are at VIEW as view() gives them: VIEW, or a copy in
 * BUFFER, which the next call overwrites. A copy is only made of at most
 * MU_READ_BUFFER bytes.
 */
const char *mu_read_buffer_fill(
    struct mu_read_buffer *buffer, struct mu_range range, const char *view);

/* Accepts what was never opened, if it is zero. */
void mu_read_buffer_close(struct mu_read_buffer *buffer);

#endif
