/*
 * What the walk sees of the chunks that lists of free chunks lead to.
 *
 * Where memory is read piece by piece (heapwalk/subject/read_buffer.h) to
 * follow a list in no order is one system call a link, 3.4 us (2 cores, Linux
 * 6.18). The walk passes every chunk, so it notes sizes and links of those that
 * are free, and of those in use that look like members of a fastbin. A note has
 * what memory has, so a chunk without one is read, and one that is no chunk
 * after all does no harm.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_NOTES_H
#define HEAPWALK_HEAPS_GLIBC_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "heapwalk/heaps/glibc/layout.h"
#include "mu/arena.h"
#include "mu/range.h"

/* What a chunk begins with behind its header. */
struct mu_glibc_links {
	uintptr_t fd, bk;
};

static inline struct mu_glibc_links
mu_glibc_links_at(const char *view, size_t chunk)
{
	struct mu_glibc_links links;

	__builtin_memcpy(&links, view + chunk + MU_GLIBC_HEADER, sizeof(links));
	return links;
}

/* Of the chunk whose block is at grain AT of its part. */
struct mu_glibc_note {
	struct mu_glibc_links links;
	uint32_t at, size; /* in grains of 16 bytes */
};

/* Those of one stretch; a part of it is walked by one worker. */
struct mu_glibc_stretch_notes {
	struct mu_range range;
	struct mu_glibc_note *notes; /* room for the same number a part */
	uint32_t *counts;            /* of each part */
	uint16_t *firsts; /* of each 1 KiB: 1 + the first one's index, or 0 */
};

struct mu_glibc_notes {
	struct mu_arena arena;
	struct mu_glibc_stretch_notes *stretches; /* by address once sealed */
	size_t count, max;
};

/* For at most LIMIT bytes; 0: none are made. To be closed in any case. */
void mu_glibc_notes_open(struct mu_glibc_notes *notes, size_t limit);

/*
 * Room for notes of chunks in RANGE, which starts with one: the index of the
 * stretch, or MU_GLIBC_NO_NOTES.
 */
#define MU_GLIBC_NO_NOTES SIZE_MAX
size_t mu_glibc_notes_add(struct mu_glibc_notes *notes, struct mu_range range);

/*
 * Note the chunk at OFFSET in STRETCH. Chunks of a part come by address, and
 * from one thread.
 */
void mu_glibc_note(struct mu_glibc_stretch_notes *stretch, size_t offset,
    size_t size, const struct mu_glibc_links *links);

/* All are made. */
void mu_glibc_notes_seal(struct mu_glibc_notes *notes);

/*
 * The front of the chunk at address CHUNK, but for its first word and the flags
 * of its size. False: there is no note of it.
 */
bool mu_glibc_note_of(const struct mu_glibc_notes *notes, uintptr_t chunk,
    char head[MU_GLIBC_MINSIZE]);

/*
 * Ask memory for what mu_glibc_note_of() will read: first where the note is,
 * and later for the note.
 */
void mu_glibc_note_expect(const struct mu_glibc_notes *notes, uintptr_t chunk);
void mu_glibc_note_expect_it(
    const struct mu_glibc_notes *notes, uintptr_t chunk);

void mu_glibc_notes_close(struct mu_glibc_notes *notes);

#endif
