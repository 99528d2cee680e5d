/*
 * Notes of the walk about chunks that may be on free lists.
 *
 * Where memory is read piece by piece (heapwalk/subject/read_buffer.h),
 * following a list in random order costs one system call per link, 3.4 us (2
 * cores, Linux 6.18). The walk passes every chunk, so it notes sizes and links
 * of free chunks, and of chunks in use that may be in a fastbin. A note only
 * repeats memory: a chunk without a note is read, and a note of something that
 * is no such chunk does no harm.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_NOTES_H
#define HEAPWALK_HEAPS_GLIBC_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "heapwalk/heaps/glibc/layout.h"
#include "mu/arena.h"
#include "mu/range.h"

/* The words after a chunk's header. */
struct mu_glibc_links {
	uintptr_t fd, bk;
};

/*
 * The links of the chunk CHUNK bytes behind VIEW, which has at least the
 * smallest chunk there.
 */
static inline struct mu_glibc_links
mu_glibc_links_at(const char *view, size_t chunk)
{
	struct mu_glibc_links links;

	__builtin_memcpy(&links, view + chunk + MU_GLIBC_HEADER, sizeof(links));
	return links;
}

/* For the chunk whose block is at grain AT of its part. */
struct mu_glibc_note {
	struct mu_glibc_links links;
	uint32_t at, size; /* in grains of 16 bytes */
};

/* The notes of one stretch; each part of it is walked by one worker. */
struct mu_glibc_stretch_notes {
	struct mu_range range;
	struct mu_glibc_note *notes; /* the same room for each part */
	uint32_t *counts;            /* number of notes in each part */
	uint16_t *firsts; /* for each KiB: 1 + index of its first note, or 0 */
};

struct mu_glibc_notes {
	struct mu_arena arena;
	struct mu_glibc_stretch_notes *stretches; /* by address once sealed */
	size_t count, max;
};

/* Notes take at most LIMIT bytes; 0: no notes. Close in any case. */
void mu_glibc_notes_open(struct mu_glibc_notes *notes, size_t limit);

/*
 * Make room for notes of chunks in RANGE, which starts with a chunk. Returns
 * the index of the stretch, or MU_GLIBC_NO_NOTES.
 */
#define MU_GLIBC_NO_NOTES SIZE_MAX
size_t mu_glibc_notes_add(struct mu_glibc_notes *notes, struct mu_range range);

/*
 * Note the chunk at OFFSET in STRETCH. Chunks of a part must come by address,
 * and from one thread.
 */
void mu_glibc_note(struct mu_glibc_stretch_notes *stretch, size_t offset,
    size_t size, const struct mu_glibc_links *links);

/* Call when all notes are made. */
void mu_glibc_notes_seal(struct mu_glibc_notes *notes);

/*
 * Get the head of CHUNK, without its first word and the flags of its size.
 * Returns false if there is no note.
 */
bool mu_glibc_note_of(const struct mu_glibc_notes *notes, uintptr_t chunk,
    char head[MU_GLIBC_MINSIZE]);

/* Prefetch for mu_glibc_note_of(): first the index, later the note. */
void mu_glibc_note_expect(const struct mu_glibc_notes *notes, uintptr_t chunk);
void mu_glibc_note_expect_it(
    const struct mu_glibc_notes *notes, uintptr_t chunk);

/* Release the memory of NOTES. Accepts the zero value; may be called twice. */
void mu_glibc_notes_close(struct mu_glibc_notes *notes);

#endif
