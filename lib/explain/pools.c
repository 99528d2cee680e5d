/*
 * Memory that a program divides by itself: of what is in it only the whole is a
 * block, or none is. A note says how the program is made to do without.
 */
#include <string.h>

#include "lib/explain/explaining.h"
#include "lib/types/containers.h"
#include "mu/text.h"

#define WORD sizeof(uintptr_t)
#define SLICES_SHARE 20  /* of the heap: slices are told of from 1/20 on */
#define ARENA_OBJECT 512 /* bytes, at most (CPython: Objects/obmalloc.c) */
#define STRINGS 500      /* larger ones that shrank stay blocks, but are few */

/* struct _zend_mm_chunk of PHP: the heap, the next and the previous chunk. */
#define CHUNK_SIZE ((uintptr_t)2 << 20)
#define CHUNK_HEAD \
	((uintptr_t)1 << 12)         /* it has the heap, if it is the first */
#define CHUNKS_MAX ((size_t)1 << 12) /* that are looked at */

struct strings {
	const struct mu_live_types *types;
	size_t small;
};

static void
add_note(struct mu_explained *out, const char *text)
{
	size_t length = strlen(out->note);

	mu_text_format(out->note + length, sizeof(out->note) - length, "%s%s",
	    length > 0 ? "; " : "", text);
}

/* What GLib has divided is not known by the piece. */
static void
note_slices(struct mu_explained *out)
{
	const char *slices = mu_part_name(MU_PART_GSLICES);
	size_t i, bytes = 0;
	char text[160];

	for (i = 0; i < out->num_in_use; i++)
		if (out->in_use[i].type != NULL &&
		    strcmp(out->in_use[i].type, slices) == 0)
			bytes += out->in_use[i].size * out->in_use[i].count;
	if (bytes <= out->live_bytes / SLICES_SHARE)
		return;
	mu_text_format(text, sizeof(text),
	    "GLib divides %zu KiB into slices, which are no blocks; if the"
	    " program is started with G_SLICE=always-malloc, each is one",
	    bytes >> 10);
	add_note(out, text);
}

/* Without arenas an interpreter has thousands of short names as blocks. */
static bool
count_string(void *ctx, const struct mu_block *block)
{
	struct strings *strings = ctx;
	const struct mu_live_type *type =
	    mu_live_type_of(strings->types, block->number);

	strings->small += mu_block_marked(block) &&
	    type->counter == MU_COUNTER_PYTHON &&
	    mu_range_size(block->range) <= ARENA_OBJECT &&
	    strcmp(type->name, "str") == 0;
	return strings->small < STRINGS;
}

static void
note_arenas(struct mu_explaining *explaining)
{
	const struct mu_live_types *types = &explaining->types;
	struct strings strings = { .types = types };
	bool python = false;
	size_t i;

	for (i = 1; i < types->count; i++)
		python |= types->types[i].counter == MU_COUNTER_PYTHON;
	if (!python)
		return;
	mu_blocks_each(explaining->graph->blocks, count_string, &strings);
	if (strings.small < STRINGS)
		add_note(explaining->out,
		    "CPython has objects of up to 512 bytes in arenas, where"
		    " they are no blocks; if the program is started with"
		    " PYTHONMALLOC=malloc, each is one");
}

/* The chunks are a ring, and the first one has the heap that all refer to. */
static bool
is_php_chunk(const struct mu_snapshot *snap, uintptr_t at)
{
	uintptr_t heap, next, back;

	return mu_snapshot_word(snap, at, &heap) && heap > at + 2 * WORD &&
	    heap - at < CHUNK_HEAD &&
	    mu_snapshot_word(snap, at + WORD, &next) &&
	    next % CHUNK_SIZE == 0 &&
	    mu_snapshot_word(snap, next + 2 * WORD, &back) && back == at;
}

/* How many chunks are in the ring of the one at FIRST. */
static size_t
count_ring(const struct mu_snapshot *snap, uintptr_t first)
{
	size_t count = 0;
	uintptr_t at = first;

	do
		count++;
	while (count < CHUNKS_MAX && mu_snapshot_word(snap, at + WORD, &at) &&
	    at != first);
	return count;
}

static size_t
count_php_chunks(const struct mu_snapshot *snap)
{
	const struct mu_mapping *mapping;
	size_t i, looked = 0;
	uintptr_t at;

	for (i = 0; i < snap->num_mappings && looked < CHUNKS_MAX; i++) {
		mapping = &snap->mappings[i];
		if (mapping->name[0] != '\0' || !mapping->writable)
			continue;
		at = (mapping->range.begin + CHUNK_SIZE - 1) & -CHUNK_SIZE;
		for (; at < mapping->range.end && looked < CHUNKS_MAX;
		     at += CHUNK_SIZE, looked++)
			if (is_php_chunk(snap, at))
				return count_ring(snap, at);
	}
	return 0;
}

static void
note_php(struct mu_explained *out, const struct mu_snapshot *snap)
{
	size_t chunks = count_php_chunks(snap);
	char text[160];

	if (chunks == 0)
		return;
	mu_text_format(text, sizeof(text),
	    "PHP has what requests allocate in %zu MiB of chunks, where it is"
	    " no block; if the program is started with USE_ZEND_ALLOC=0, each"
	    " is one",
	    chunks * (CHUNK_SIZE >> 20));
	add_note(out, text);
}

void
mu_pools_note(struct mu_explaining *explaining)
{
	note_slices(explaining->out);
	note_arenas(explaining);
	note_php(explaining->out, explaining->snap);
}
