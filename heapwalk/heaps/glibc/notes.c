#include "heapwalk/heaps/glibc/notes.h"

#include <string.h>

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/ranges.h"
#include "mu/range.h"
#include "mu/sort.h"

/* Chunks are divided by the address of their block, as in parts.c. */
#define PART_BYTES ((size_t)1 << 20)
#define PART_GRAINS (PART_BYTES / MU_GRAIN)
#define PART_WORDS (PART_GRAINS / MU_WORD_BITS)

/*
 * At most a quarter of the heap, reached only with small chunks. The last note
 * stays empty: it ends a search.
 */
#define PART_NOTES (PART_BYTES / 4 / sizeof(struct mu_glibc_note))

_Static_assert(PART_NOTES < UINT16_MAX, "firsts[] has their indexes");

void
mu_glibc_notes_open(struct mu_glibc_notes *notes, size_t limit)
{
	*notes = (struct mu_glibc_notes) { .count = 0 };
	mu_arena_open(&notes->arena, limit);
}

size_t
mu_glibc_notes_add(struct mu_glibc_notes *notes, struct mu_range range)
{
	size_t parts = mu_range_size(range) / PART_BYTES + 2;
	struct mu_glibc_stretch_notes stretch = { .range = range };
	struct mu_arena *arena = &notes->arena;

	if (!mu_arena_room(
		arena, notes->stretches, notes->count, notes->max, 16))
		return MU_GLIBC_NO_NOTES;
	stretch.counts = mu_arena_alloc(arena, parts, sizeof(*stretch.counts));
	stretch.firsts =
	    mu_arena_alloc(arena, parts * PART_WORDS, sizeof(*stretch.firsts));
	stretch.notes =
	    mu_arena_alloc(arena, parts * PART_NOTES, sizeof(*stretch.notes));
	if (stretch.counts == NULL || stretch.firsts == NULL ||
	    stretch.notes == NULL)
		return MU_GLIBC_NO_NOTES;
	notes->stretches[notes->count] = stretch;
	return notes->count++;
}

void
mu_glibc_note(struct mu_glibc_stretch_notes *stretch, size_t offset,
    size_t size, const struct mu_glibc_links *links)
{
	size_t grain = (offset + MU_GLIBC_HEADER) / MU_GRAIN;
	size_t part = grain / PART_GRAINS, count = stretch->counts[part];
	struct mu_glibc_note *note = &stretch->notes[part * PART_NOTES + count];
	uint32_t at = grain % PART_GRAINS;
	uint16_t *first = &stretch->firsts[grain / MU_WORD_BITS];

	/* The part is full, or is being walked again. */
	if (count == PART_NOTES - 1 || (count > 0 && note[-1].at >= at) ||
	    size / MU_GRAIN > UINT32_MAX)
		return;
	*note =
	    (struct mu_glibc_note) { *links, at, (uint32_t)(size / MU_GRAIN) };
	stretch->counts[part]++;
	if (*first == 0)
		*first = (uint16_t)(count + 1);
}

void
mu_glibc_notes_seal(struct mu_glibc_notes *notes)
{
	mu_sort(notes->stretches, notes->count, sizeof(*notes->stretches),
	    mu_range_compare);
}

/* The stretch that holds CHUNK, and the grain of its block there; or NULL. */
static const struct mu_glibc_stretch_notes *
stretch_of(const struct mu_glibc_notes *notes, uintptr_t chunk, size_t *grain)
{
	const struct mu_glibc_stretch_notes *stretch;
	size_t i;

	i = mu_ranges_upper(
	    notes->stretches, notes->count, sizeof(*notes->stretches), chunk);
	stretch = &notes->stretches[i - 1];
	if (i == 0 || !mu_range_has(stretch->range, chunk) ||
	    chunk % MU_GRAIN != 0)
		return NULL;
	*grain = (chunk - stretch->range.begin + MU_GLIBC_HEADER) / MU_GRAIN;
	return stretch;
}

/* The first note of the KiB that holds GRAIN, or NULL. */
static const struct mu_glibc_note *
first_of(const struct mu_glibc_stretch_notes *stretch, size_t grain)
{
	uint16_t first = stretch->firsts[grain / MU_WORD_BITS];

	return first == 0
	    ? NULL
	    : &stretch->notes[grain / PART_GRAINS * PART_NOTES + first - 1];
}

bool
mu_glibc_note_of(const struct mu_glibc_notes *notes, uintptr_t chunk,
    char head[MU_GLIBC_MINSIZE])
{
	const struct mu_glibc_stretch_notes *stretch;
	const struct mu_glibc_note *note;
	size_t grain, size;

	stretch = stretch_of(notes, chunk, &grain);
	note = stretch == NULL ? NULL : first_of(stretch, grain);
	if (note == NULL)
		return false;
	grain %= PART_GRAINS;
	while (note->at < grain && note[1].at > note->at)
		note++;
	if (note->at != grain)
		return false;
	size = (size_t)note->size * MU_GRAIN;
	memcpy(head + MU_GLIBC_HEADER - sizeof(size), &size, sizeof(size));
	memcpy(head + MU_GLIBC_HEADER, &note->links, sizeof(note->links));
	return true;
}

void
mu_glibc_note_expect(const struct mu_glibc_notes *notes, uintptr_t chunk)
{
	const struct mu_glibc_stretch_notes *stretch;
	size_t grain;

	stretch = stretch_of(notes, chunk, &grain);
	if (stretch != NULL)
		__builtin_prefetch(&stretch->firsts[grain / MU_WORD_BITS]);
}

void
mu_glibc_note_expect_it(const struct mu_glibc_notes *notes, uintptr_t chunk)
{
	const struct mu_glibc_stretch_notes *stretch;
	const struct mu_glibc_note *note;
	size_t grain;

	stretch = stretch_of(notes, chunk, &grain);
	if (stretch == NULL)
		return;
	note = first_of(stretch, grain);
	__builtin_prefetch(note);
	__builtin_prefetch(note + 3);
}

void
mu_glibc_notes_close(struct mu_glibc_notes *notes)
{
	mu_arena_close(&notes->arena);
	*notes = (struct mu_glibc_notes) { .count = 0 };
}
