/*
 * Until the end, an arena's LIVE is the bytes of chunks that count as in use,
 * including 8 bytes of header each.
 */
#include "heapwalk/heaps/glibc/usage.h"

#include "heapwalk/heaps/glibc/mmapped.h"

#define SIZE_WORD 8 /* header bytes of a chunk in use; prev_size is usable */

static size_t
in_use(const struct mu_span *span)
{
	return span->bytes + span->count * SIZE_WORD;
}

/*
 * The start of the stretch of SPAN: heaps of other arenas begin with a header.
 */
static uintptr_t
stretch_begin(const struct mu_glibc *glibc, const struct mu_span *span)
{
	return span->owner == 0 ? span->range.begin
				: span->range.begin & ~(glibc->heap_max - 1);
}

static void
add_span(struct mu_glibc_walk *walk, const struct mu_span *span)
{
	struct mu_arena_usage *arena = &walk->heap->usage.arenas[span->owner];
	uintptr_t begin = stretch_begin(&walk->glibc, span);
	size_t used = in_use(span);

	arena->span += span->range.end - begin;
	arena->live += used;
	arena->bins += span->free;
	arena->top += span->top;
	arena->overhead +=
	    span->range.end - begin - used - span->free - span->top;
}

enum mu_status
mu_glibc_usage_open(struct mu_glibc_walk *walk)
{
	const struct mu_blocks *blocks = &walk->heap->blocks;
	struct mu_heap_usage *usage = &walk->heap->usage;
	size_t i;

	usage->num_arenas = walk->glibc.num_arenas;
	usage->arenas = mu_arena_alloc(
	    walk->memory, usage->num_arenas, sizeof(*usage->arenas));
	if (usage->arenas == NULL)
		return mu_glibc_no_memory(walk);
	for (i = 0; i < usage->num_arenas; i++)
		usage->arenas[i].address = walk->glibc.arenas[i];
	for (i = 0; i < blocks->num_spans; i++)
		add_span(walk, &blocks->spans[i]);
	return MU_OK;
}

static size_t *
freed(struct mu_arena_usage *arena, bool tcaches)
{
	return tcaches ? &arena->tcache : &arena->fastbins;
}

/*
 * Blocks that were taken since the last count were free: in tcaches (TCACHES)
 * or in fastbins.
 */
static void
recount(struct mu_glibc_walk *walk, bool tcaches)
{
	const struct mu_blocks *blocks = &walk->heap->blocks;
	struct mu_heap_usage *usage = &walk->heap->usage;
	size_t i, used;

	for (i = 0; i < usage->num_arenas; i++) {
		*freed(&usage->arenas[i], tcaches) = usage->arenas[i].live;
		usage->arenas[i].live = 0;
	}
	for (i = 0; i < blocks->num_spans; i++) {
		used = in_use(&blocks->spans[i]);
		usage->arenas[blocks->spans[i].owner].live += used;
		*freed(&usage->arenas[blocks->spans[i].owner], tcaches) -= used;
	}
}

void
mu_glibc_usage_fastbins(struct mu_glibc_walk *walk)
{
	struct mu_heap_usage *usage = &walk->heap->usage;
	size_t i;

	recount(walk, false);
	for (i = 0; i < usage->num_arenas; i++)
		usage->arenas[i].bins += usage->arenas[i].fastbins;
}

void
mu_glibc_usage_tcaches(struct mu_glibc_walk *walk)
{
	recount(walk, true);
}

void
mu_glibc_usage_struct(
    struct mu_glibc_walk *walk, uintptr_t address, size_t size)
{
	const struct mu_span *span =
	    mu_blocks_span(&walk->heap->blocks, address);
	struct mu_glibc_mmapped *mmapped = mu_glibc_mmapped_at(walk, address);
	struct mu_arena_usage *arena;

	if (span != NULL) {
		arena = &walk->heap->usage.arenas[span->owner];
		arena->live -= size;
		arena->overhead += size;
	}
	if (mmapped != NULL)
		mmapped->is_tcache = true;
}

void
mu_glibc_usage_mmapped(struct mu_glibc_walk *walk,
    const struct mu_glibc_mmapped *one, size_t whole, size_t usable)
{
	struct mu_heap_usage *usage = &walk->heap->usage;

	usage->mmapped += whole;
	if (one->unsure)
		usage->mmapped_unproven += whole;
	if (!one->cached)
		usage->mmapped_live += usable;
	else if (!one->is_tcache)
		usage->mmapped_free += whole;
}

void
mu_glibc_usage_close(struct mu_glibc_walk *walk)
{
	const struct mu_blocks *blocks = &walk->heap->blocks;
	struct mu_heap_usage *usage = &walk->heap->usage;
	struct mu_arena_usage *arena;
	size_t i, headers;

	usage->live_reachable = blocks->bytes;
	usage->unproven = walk->heap->unproven_bytes;
	usage->free_held = usage->mmapped_free;
	usage->overhead =
	    usage->mmapped - usage->mmapped_live - usage->mmapped_free;
	for (i = 0; i < blocks->num_spans; i++) {
		arena = &usage->arenas[blocks->spans[i].owner];
		headers = blocks->spans[i].count * SIZE_WORD;
		arena->live -= headers;
		arena->overhead += headers;
	}
	for (i = 0; i < usage->num_arenas; i++) {
		arena = &usage->arenas[i];
		usage->free_held += arena->bins + arena->tcache + arena->top;
		usage->overhead += arena->overhead;
	}
}
