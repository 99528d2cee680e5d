/*
 * Find mimalloc without symbols: Debian's library has none.
 *
 * _mi_heap_main, a variable with an initial value, begins with the address of
 * the thread's data, tld_main, which has its address. It has the queues of all
 * size classes, with the sizes of their blocks. Since 3.2 it is a list of
 * threads' heaps, which have the queues. A page in one of them tells whether
 * mi_page_t and mi_segment_t, or mi_arena_t, are those of the layout, too:
 * programs have copies of mimalloc with changes. That of CPython 3.13 is read.
 */
#include <string.h>

#include "heapwalk/heaps/glibc/messages.h"
#include "heapwalk/heaps/mimalloc/heap.h"

#define SEGMENT_OLD                                                           \
	.segment_abandoned = 192, .segment_used = 208, .segment_cookie = 216, \
	.segment_slices = 224, .segment_info = 232, .segment_entries = 248,   \
	.segment_thread = 256, .slices = 264
#define SEGMENT_NEW                                                           \
	.segment_abandoned = 200, .segment_used = 216, .segment_cookie = 224, \
	.segment_slices = 248, .segment_info = 256, .segment_entries = 272,   \
	.segment_thread = 280, .slices = 288
#define PAGE_OLD                                                         \
	.page_size = 80, .local_free = 32, .used = 24, .block_size = 28, \
	.thread_free = 40, .heap = 48
#define PAGE_NEW                                                         \
	.page_size = 96, .local_free = 24, .used = 32, .block_size = 40, \
	.page_start = 48, .thread_free = 56, .heap = 64,                 \
	.starts = MU_MI_STARTS_STORED
#define TLD_2 .tld_backing = 16, .tld_heaps = 24, .queue_size = 24
#define HEAP_OLD                                                          \
	TLD_2, .queues = 1040, .delayed_free = 2840, .heap_thread = 2848, \
	       .heap_cookie = 2864, .heap_pages = 3024, .heap_next = 3048
#define HEAP_NEW                                                        \
	TLD_2, .delayed_free = 8, .heap_thread = 16, .heap_cookie = 32, \
	       .heap_pages = 192
#define PAGE_3                                                            \
	.local_free = 24, .used = 16, .block_size = 40, .page_start = 48, \
	.thread_free = 32
#define PAGE_30                                                 \
	PAGE_3, .page_size = 120, .page_memid = 96, .heap = 64, \
		.starts = MU_MI_STARTS_STORED
#define PAGE_32                                                 \
	PAGE_3, .page_size = 120, .page_memid = 96, .heap = 56, \
		.starts = MU_MI_STARTS_STORED
#define PAGE_34                                                 \
	PAGE_3, .page_size = 112, .page_memid = 88, .heap = 56, \
		.starts = MU_MI_STARTS_WORDS
#define HEAP_30                                                                \
	.queues = 1248, .queue_size = 32, .heap_pages = 160, .heap_next = 192, \
	.tld_subproc = 16, .tld_backing = 24, .tld_heaps = 32,                 \
	.subproc_arenas = 8, .arena_slices = 32
#define HEAP_31                                                                \
	.queues = 1264, .queue_size = 32, .heap_pages = 168, .heap_next = 208, \
	.tld_subproc = 24, .tld_backing = 32, .tld_heaps = 40,                 \
	.subproc_arenas = 8, .arena_slices = 32
#define HEAP_32                                                 \
	.queue_size = 32, .tld_heaps = 32, .subproc_count = 24, \
	.subproc_arenas = 32, .arena_slices = 40

static const struct mu_mi_layout layouts[] = {
	/* 2.0.9; 2.1.0 to 2.1.2 */
	{ SEGMENT_OLD, PAGE_OLD, HEAP_OLD, .starts = MU_MI_STARTS_384 },
	{ SEGMENT_OLD, PAGE_OLD, HEAP_OLD, .starts = MU_MI_STARTS_MULTIPLES },
	/* 2.1.4 to 2.1.7, to 2.1.9, 2.2, 2.4 */
	{ SEGMENT_OLD, PAGE_NEW, HEAP_NEW, .queues = 1264, .heap_next = 216 },
	{ SEGMENT_NEW, PAGE_NEW, HEAP_NEW, .queues = 1264, .heap_next = 216 },
	{ SEGMENT_NEW, PAGE_NEW, HEAP_NEW, .queues = 1280, .heap_next = 232 },
	{ SEGMENT_NEW, PAGE_NEW, HEAP_NEW, .queues = 1288, .heap_next = 240 },
	/* 3.0.7 to 3.0.12; 3.0.3 and 3.1 */
	{ PAGE_30, HEAP_30, .arena_pages = 96 },
	{ PAGE_30, HEAP_31, .arena_pages = 112 },
	/* 3.2; 3.3; 3.4 */
	{ PAGE_32, HEAP_32, .queues = 1288, .heap_pages = 168,
	    .heap_next = 208 },
	{ PAGE_32, HEAP_32, .queues = 1304, .heap_pages = 176, .heap_next = 224,
	    .arena_meta = 136 },
	{ PAGE_34, HEAP_32, .queues = 1312, .heap_pages = 184, .heap_next = 232,
	    .arena_meta = 136 },
};
#define NUM_LAYOUTS (sizeof(layouts) / sizeof(*layouts))

struct search {
	const struct mu_snapshot *snap;
	struct mu_range data; /* the variables of one file */
	struct mu_mimalloc *found;
};

bool
mu_mi_is_segment(const struct mu_snapshot *snap, const struct mu_mimalloc *mi,
    uintptr_t segment)
{
	return mu_word_at(snap, segment + mi->layout->segment_cookie) ==
	    (segment ^ mi->cookie);
}

/* The first of pages[] is not used; of small classes each word has one. */
static bool
has_queues(const struct mu_snapshot *snap, const struct mu_mi_layout *layout,
    uintptr_t heap)
{
	uintptr_t at = heap + layout->queues + mu_mi_queue_block(layout);
	size_t i;

	for (i = 0; i <= 8; i++, at += layout->queue_size)
		if (mu_word_at(snap, at) != (i == 0 ? 8 : i * 8))
			return false;
	return mu_word_at(snap, at) == 80;
}

/*
 * Where a page begins is known by how many blocks it has room for, unless two
 * rules have the same result.
 */
static bool
tells(const struct mu_snapshot *snap, const struct mu_mi_layout *layout,
    uintptr_t page, size_t size)
{
	size_t slices = (uint32_t)mu_word_at(snap, page) * MU_MI_SLICE;
	uint16_t room =
	    (uint16_t)(mu_word_at(snap, page + MU_MI_PAGE_WORD) >> 32);
	unsigned matches = 0, starts;

	if (!mu_mi_is_narrow(layout))
		return true;
	for (starts = 0; starts < MU_MI_STARTS_STORED; starts++)
		if (size != 0 &&
		    (slices - mu_mi_start(starts, size)) / size == room)
			matches |= 1u << starts;
	return matches == 1u << layout->starts;
}

/* True if the page at ADDRESS, of a queue of SIZE, is one of the heap. */
static bool
is_page(const struct mu_snapshot *snap, const struct mu_mimalloc *mi,
    uintptr_t address, size_t size)
{
	const struct mu_mi_layout *layout = mi->layout;
	uintptr_t segment = address & ~(uintptr_t)(MU_MI_SEGMENT - 1);
	uintptr_t block = mu_word_at(snap, address + layout->block_size);
	size_t at = address - segment;

	if (mu_mi_is_narrow(layout))
		block = (uint32_t)block;
	return at >= layout->slices &&
	    (at - layout->slices) % layout->page_size == 0 &&
	    mu_mi_is_segment(snap, mi, segment) &&
	    mu_word_at(snap, address + layout->heap) == mi->main &&
	    block == size && tells(snap, layout, address, size);
}

/* The same of mimalloc 3, in which a page has its thread. */
static bool
is_page_3(const struct search *search, struct mu_mimalloc *mi, uintptr_t header,
    size_t size)
{
	const struct mu_snapshot *snap = search->snap;
	uintptr_t heap = mu_mi_main(snap, mi);
	uintptr_t thread = mu_word_at(snap, header) & ~(uintptr_t)MU_MI3_FLAGS;

	return thread == mu_word_at(snap, mu_word_at(snap, heap)) &&
	    mu_word_at(snap, header + mi->layout->heap) == heap &&
	    mu_word_at(snap, header + mi->layout->block_size) == size &&
	    mu_mi_map_find(mi, snap, search->data, header);
}

static bool
has_page(const struct search *search, struct mu_mimalloc *mi)
{
	const struct mu_mi_layout *layout = mi->layout;
	const struct mu_snapshot *snap = search->snap;
	uintptr_t at = mu_mi_main(snap, mi) + layout->queues, page;
	size_t i, size;

	for (i = 1; i < MU_MI_QUEUES - 2; i++) {
		at += layout->queue_size;
		page = mu_word_at(snap, at);
		size = mu_word_at(snap, at + mu_mi_queue_block(layout));
		if (page != 0 &&
		    (mu_mi_has_arenas(layout)
			    ? is_page_3(search, mi, page, size)
			    : is_page(snap, mi, page, size)))
			return true;
	}
	return false;
}

/*
 * AT is _mi_heap_main, which begins with its mi_tld_t, or since 3.2 heap_main,
 * which begins with its mi_subproc_t: these, at WORD, refer to it.
 */
static bool
is_main(const struct mu_snapshot *snap, struct mu_mimalloc *mi, uintptr_t at,
    uintptr_t word)
{
	size_t back = mi->layout->tld_backing;

	if (mu_word_at(snap, word + (back == 0 ? MU_MI3_SUBPROC_MAIN : back)) !=
	    at)
		return false;
	mi->main = at;
	mi->subproc =
	    back == 0 ? word : mu_word_at(snap, word + mi->layout->tld_subproc);
	return back != 0 ||
	    mu_word_at(snap, mu_mi_main(snap, mi) + sizeof(at)) == at;
}

static bool
see_heap(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	const struct mu_snapshot *snap = search->snap;
	const struct mu_mi_layout *layout = layouts;
	struct mu_mimalloc mi;

	if (!mu_range_has(search->data, word) || word % sizeof(word) != 0)
		return true;
	for (; layout < layouts + NUM_LAYOUTS; layout++) {
		mi = (struct mu_mimalloc) { .layout = layout };
		if (!is_main(snap, &mi, at, word))
			continue;
		mi.cookie = mu_word_at(snap, mi.main + layout->heap_cookie);
		if (!has_queues(snap, layout, mu_mi_main(snap, &mi)) ||
		    !has_page(search, &mi))
			continue;
		*search->found = mi;
		return false;
	}
	return true;
}

void
mu_mi_find(struct mu_mimalloc *found, const struct mu_snapshot *snap)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	struct search search = { .snap = snap, .found = found };

	*found = (struct mu_mimalloc) { .found.file = NULL };
	for (; mapping < end; mapping++) {
		if (!mu_heap_may_be_in(snap, mapping) ||
		    !mu_glibc_message_is(snap, mapping, "mimalloc"))
			continue;
		if (!mu_heap_variables(snap, mapping, &search.data))
			search.data = mapping->range;
		mu_each_word(snap, search.data, see_heap, &search);
		if (found->layout == NULL)
			continue;
		found->found.file = mapping;
		return;
	}
}
