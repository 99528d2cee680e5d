/*
 * Find the map of pages of mimalloc 3, a variable with the address of a table
 * that has, for the first 512 MiB of memory, a part right behind it: without
 * pages. So its size is known, which is a power of two.
 */
#include "heapwalk/heaps/mimalloc/heap.h"

struct search {
	const struct mu_snapshot *snap;
	uintptr_t start, header; /* of a page: its blocks; mi_page_t */
	struct mu_range map;
};

static bool
see_word(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	const struct mu_snapshot *snap = search->snap;
	uintptr_t end, part;
	size_t place = (search->start >> MU_MI3_MAP_SHIFT) * sizeof(uintptr_t);

	(void)at;
	if (word % 4096 != 0)
		return true;
	end = mu_word_at(snap, word);
	if (end <= word || end - word > MU_MI3_MAP_MAX ||
	    ((end - word) & (end - word - 1)) != 0 || place >= end - word)
		return true;
	part = mu_word_at(snap, word + place);
	if (part == 0 ||
	    mu_word_at(snap,
		part +
		    search->start % ((uintptr_t)1 << MU_MI3_MAP_SHIFT) /
			MU_MI_SLICE * sizeof(uintptr_t)) != search->header)
		return true;
	search->map = (struct mu_range) { word, end };
	return false;
}

/* The page's memory is of an arena that has it, or of the operating system. */
static bool
has_memory(const struct mu_mimalloc *mi, const struct mu_snapshot *snap,
    uintptr_t header)
{
	uintptr_t memid = header + mi->layout->page_memid;
	uint32_t kind = (uint32_t)mu_word_at(snap, memid + MU_MI3_MEMID_KIND);
	struct mu_mi_arena arena = { .range.begin = mu_word_at(snap, memid) };

	if (kind != MU_MI3_MEM_ARENA)
		return kind >= MU_MI3_MEM_OS && kind <= MU_MI3_MEM_OS_REMAP;
	if (mu_word_at(snap, arena.range.begin + MU_MI3_ARENA_SUBPROC) !=
	    mi->subproc)
		return false;
	arena.index =
	    (uint32_t)mu_word_at(snap, arena.range.begin + MU_MI3_ARENA_INDEX);
	return mu_mi_arena_has(snap, mi, &arena,
	    mi->layout->tld_backing != 0
		? 0
		: mu_word_at(snap, header + MU_MI3_PAGE_HEAP),
	    (uint32_t)mu_word_at(snap, memid + MU_MI3_MEMID_INDEX));
}

bool
mu_mi_map_find(struct mu_mimalloc *mi, const struct mu_snapshot *snap,
    struct mu_range data, uintptr_t header)
{
	struct search search = { .snap = snap, .header = header };

	search.start = mu_word_at(snap, header + mi->layout->page_start);
	if (mi->layout->starts == MU_MI_STARTS_WORDS)
		search.start =
		    header + (uint32_t)search.start * sizeof(uintptr_t);
	if (!has_memory(mi, snap, header))
		return false;
	mu_each_word(snap, data, see_word, &search);
	mi->map = search.map;
	return search.map.begin != 0;
}
