/*
 * How a fuzzer's input damages the copy of a heap: words of malloc's data,
 * mostly to meaningful values; the list of mappings; the threads. All of it can
 * be undone.
 *
 * Places and values are numbers into tables that are made anew in each process,
 * so that an input means the same wherever the heap lies.
 */
#ifndef TESTS_SUPPORT_FUZZ_FUZZ_HEAP_DAMAGE_H
#define TESTS_SUPPORT_FUZZ_FUZZ_HEAP_DAMAGE_H

#include "tests/support/fuzz/fuzz_heap_image.h"

#define FUZZ_PLACES 16384
#define FUZZ_VALUES 2048
#define FUZZ_STEPS 64

struct fuzz_change {
	uintptr_t *word, old;
};

struct fuzz_damage {
	struct fuzz_heap *heap;
	uintptr_t places[FUZZ_PLACES]; /* addresses of words */
	size_t num_places;
	uintptr_t values[FUZZ_VALUES];
	size_t num_values;

	/* The damage of one input. */
	struct fuzz_change changes[2 * FUZZ_STEPS];
	size_t num_changes;
	struct mu_range hidden[FUZZ_STEPS]; /* of the copy, no access */
	size_t num_hidden;
	struct mu_mapping mappings[FUZZ_MAPPINGS];
	struct mu_thread threads[FUZZ_THREADS];
	uintptr_t registers[FUZZ_THREADS];
};

/* ---- where, and to what ---- */

static inline void
fuzz_add_places(struct fuzz_damage *damage, uintptr_t begin, size_t size)
{
	uintptr_t at;

	for (at = begin; at < begin + size; at += sizeof(at)) {
		require(damage->num_places < FUZZ_PLACES);
		if (fuzz_word(damage->heap, at) != NULL)
			damage->places[damage->num_places++] = at;
	}
}

static inline void
fuzz_add_value(struct fuzz_damage *damage, uintptr_t value)
{
	if (damage->num_values < FUZZ_VALUES)
		damage->values[damage->num_values++] = value;
}

/* Headers, and what a free chunk's links or a tcache begin with. */
static inline void
fuzz_add_chunks(struct fuzz_damage *damage, size_t arena)
{
	const struct mu_glibc *glibc = &damage->heap->glibc;
	const struct mu_glibc_layout *layout = glibc->layout;
	uintptr_t top, chunk, size;
	bool first = true;

	top =
	    *fuzz_word(damage->heap, glibc->arenas[arena] + layout->arena_top);
	chunk = arena == 0
	    ? *fuzz_word(damage->heap, glibc->mp + layout->par_sbrk_base)
	    : (glibc->arenas[arena] + layout->arena_size + 15) & ~(uintptr_t)15;
	for (; chunk < top; chunk += size) {
		size = *fuzz_word(damage->heap, chunk + 8) &
		    ~(uintptr_t)MU_SIZE_FLAGS;
		fuzz_add_places(damage, chunk, first ? size : 48);
		fuzz_add_value(damage, chunk);
		fuzz_add_value(damage, chunk + MU_GLIBC_HEADER);
		first = false;
	}
	fuzz_add_places(damage, top, 16);
	fuzz_add_value(damage, top);
}

static inline void
fuzz_damage_prepare(struct fuzz_damage *damage, struct fuzz_heap *heap)
{
	static const uintptr_t plain[] = { 0, 1, 2, 3, 8, 0x10, 0x11, 0x20,
		0x21, 0x25, 0x31, 0x41, 0x45, 0x291, 0x411, 0x1000, 0x1002,
		0x21000, (uintptr_t)1 << 40, INT64_MAX, SIZE_MAX, SIZE_MAX - 7,
		SIZE_MAX - 15, (uintptr_t)1 << 63, UINT32_MAX, 0xffff,
		-0x1000ul };
	const struct mu_glibc *glibc = &heap->glibc;
	const struct mu_glibc_layout *layout = glibc->layout;
	size_t i;

	damage->heap = heap;
	for (i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		fuzz_add_value(damage, plain[i]);
	fuzz_add_places(damage, glibc->mp, layout->par_size);
	for (i = 0; i < glibc->num_arenas; i++) {
		fuzz_add_places(damage, glibc->arenas[i], layout->arena_size);
		fuzz_add_value(damage, glibc->arenas[i]);
		fuzz_add_places(damage, heap->threads[i].tp - 256, 256 + 64);
		if (i == 0)
			continue;
		fuzz_add_places(damage, glibc->arenas[i] - layout->heap_header,
		    layout->heap_header);
		fuzz_add_value(damage, glibc->arenas[i] - layout->heap_header);
	}
	for (i = 0; i < FUZZ_MMAPPED; i++) {
		fuzz_add_places(damage, heap->mmapped[i] - 16, 16);
		fuzz_add_value(damage, heap->mmapped[i]);
	}
	for (i = 0; i < heap->num_mappings; i++) {
		fuzz_add_value(damage, heap->mappings[i].range.begin);
		fuzz_add_value(damage, heap->mappings[i].range.end);
	}
	for (i = 0; i < glibc->num_arenas; i++)
		fuzz_add_chunks(damage, i);
}

/* ---- what can be done ---- */

static inline uintptr_t
fuzz_value(const struct fuzz_damage *damage, struct fuzz_input *input)
{
	return damage->values[fuzz_take(input, 2) % damage->num_values];
}

static inline void
fuzz_change(struct fuzz_damage *damage, uintptr_t *word, uintptr_t value)
{
	struct fuzz_change *change = &damage->changes[damage->num_changes++];

	*change = (struct fuzz_change) { word, *word };
	*word = value;
}

/* Any word of the copy. */
static inline uintptr_t *
fuzz_any_word(struct fuzz_damage *damage, struct fuzz_input *input)
{
	struct fuzz_heap *heap = damage->heap;
	struct fuzz_run *run =
	    &heap->runs[fuzz_take(input, 1) % heap->num_runs];
	size_t words = mu_range_size(run->range) / sizeof(uintptr_t);

	return (uintptr_t *)run->copy + fuzz_take(input, 3) % words;
}

static inline void
fuzz_change_word(
    struct fuzz_damage *damage, struct fuzz_input *input, unsigned kind)
{
	uintptr_t at, *word, *other;

	at = damage->places[fuzz_take(input, 2) % damage->num_places];
	word = fuzz_word(damage->heap, at);
	other = fuzz_word(damage->heap,
	    damage->places[fuzz_take(input, 2) % damage->num_places]);
	switch (kind) {
	case 0:
		at = *word ^ (uintptr_t)1 << fuzz_take(input, 1) % 64;
		break;
	case 1:
		at = fuzz_take(input, 8);
		break;
	case 2:
		at = fuzz_value(damage, input);
		break;
	case 3: /* as a link of a list is written */
		at = fuzz_value(damage, input) ^ at >> 12;
		break;
	case 4:
		at = *word + (uintptr_t)(int16_t)fuzz_take(input, 2);
		break;
	case 5:
		at = *other;
		break;
	case 6:
		at = *other;
		fuzz_change(damage, other, *word);
		break;
	default:
		word = fuzz_any_word(damage, input);
		at = fuzz_value(damage, input);
		break;
	}
	fuzz_change(damage, word, at);
}

/* No access to RANGE in the copy, once all words were changed. */
static inline void
fuzz_hide(struct fuzz_damage *damage, struct mu_range range)
{
	struct fuzz_run *run = fuzz_run_of(damage->heap, range.begin);
	struct mu_range hidden;

	if (run == NULL || mu_range_size(range) == 0)
		return;
	hidden.begin = (uintptr_t)run->copy + (range.begin - run->range.begin);
	hidden.end = hidden.begin + mu_range_size(range);
	damage->hidden[damage->num_hidden++] = hidden;
}

static inline void
fuzz_change_mapping(struct fuzz_damage *damage, struct fuzz_input *input)
{
	struct mu_snapshot *snap = &damage->heap->snap;
	struct mu_mapping *mapping =
	    &snap->mappings[fuzz_take(input, 1) % snap->num_mappings];
	unsigned what = (unsigned)fuzz_take(input, 1) % 7;
	uintptr_t pages = mu_range_size(mapping->range) / FUZZ_PAGE, at;

	at = mapping->range.begin + fuzz_take(input, 2) % pages * FUZZ_PAGE;
	switch (what) {
	case 0:
		fuzz_hide(damage, mapping->range);
		mapping->readable = mapping->writable = false;
		break;
	case 1:
		mapping->writable = false;
		break;
	case 2:
		mapping->shared = true;
		break;
	case 3:
		mapping->inode = mapping->inode == 0;
		break;
	case 4: /* at least a page stays */
		at += at == mapping->range.begin ? FUZZ_PAGE : 0;
		fuzz_hide(damage, (struct mu_range) { at, mapping->range.end });
		mapping->range.end = at;
		break;
	case 5:
		fuzz_hide(
		    damage, (struct mu_range) { mapping->range.begin, at });
		mapping->range.begin = at;
		break;
	default:
		mapping->name = "";
		mapping->offset = 0;
		break;
	}
}

static inline void
fuzz_change_thread(struct fuzz_damage *damage, struct fuzz_input *input)
{
	struct mu_snapshot *snap = &damage->heap->snap;
	size_t i = fuzz_take(input, 1) % FUZZ_THREADS;
	unsigned what = (unsigned)fuzz_take(input, 1) % 7;
	uintptr_t value = fuzz_value(damage, input);

	switch (what) {
	case 0:
		damage->threads[i].tp = value;
		break;
	case 1:
		damage->threads[i].tp += value;
		break;
	case 2:
		damage->threads[i].sp = value;
		break;
	case 3:
		damage->threads[i].calling = !damage->threads[i].calling;
		break;
	case 4:
		damage->registers[i] = value;
		break;
	case 5:
		snap->num_threads = i;
		break;
	default:
		snap->libc_address = value;
		break;
	}
}

static inline void
fuzz_protect(const struct fuzz_damage *damage, int protection)
{
	const struct mu_range *hidden = damage->hidden;

	for (; hidden < damage->hidden + damage->num_hidden; hidden++)
		require(mprotect((void *)hidden->begin, mu_range_size(*hidden),
			    protection) == 0);
}

static inline void
fuzz_damage_do(struct fuzz_damage *damage, struct fuzz_input *input)
{
	unsigned kind, i;

	for (i = 0; i < FUZZ_STEPS && input->size > 0; i++) {
		kind = (unsigned)fuzz_take(input, 1) % 10;
		if (kind < 8)
			fuzz_change_word(damage, input, kind);
		else if (kind == 8)
			fuzz_change_mapping(damage, input);
		else
			fuzz_change_thread(damage, input);
	}
	fuzz_protect(damage, PROT_NONE);
}

static inline void
fuzz_damage_undo(struct fuzz_damage *damage)
{
	fuzz_protect(damage, PROT_READ | PROT_WRITE);
	damage->num_hidden = 0;
	while (damage->num_changes > 0) {
		damage->num_changes--;
		*damage->changes[damage->num_changes].word =
		    damage->changes[damage->num_changes].old;
	}
}

#endif
