#include "heapwalk/heaps/glibc/data.h"

#include "heapwalk/heaps/glibc/libc.h"
#include "heapwalk/heaps/view.h"
#include "heapwalk/subject/classify.h"

#define SMALL_BINS 64        /* number of the tcache's small bins */
#define MMAPS_IN_FLIGHT 4096 /* n_mmaps is raised before max_n_mmaps */
#define TCACHE_MAX ((size_t)4 << 20)
#define COUNT_MAX UINT16_MAX
/*
 * Offsets in mp_, the same in every release; thp_pagesize is right before
 * hp_pagesize.
 */
#define PAR_ARENA_TEST 24
#define PAR_ARENA_MAX 32

/* Greatest distance of mp_ from main_arena, bytes. */
#define PAR_REACH 4096

struct search {
	const struct mu_snapshot *snap;
	const struct mu_glibc_layout *layout;
	struct mu_glibc_finds *finds;
};

static int
int_at(const char *view, size_t offset)
{
	return (int)mu_view_u32(view + offset);
}

static bool
is_chunk_address(uintptr_t word)
{
	return word != 0 && word % 8 == 0;
}

/* Some bins are always empty: there are bins for chunks of 512 KiB and more. */
static bool
has_empty_bin(const struct search *search, const char *view, uintptr_t at)
{
	uintptr_t self = at + search->layout->arena_bins - MU_GLIBC_HEADER;
	size_t i, offset = search->layout->arena_bins;

	for (i = 0; i < MU_GLIBC_BINS; i++, offset += 16, self += 16) {
		if (mu_view_word(view + offset) == self ||
		    mu_view_word(view + offset + 8) == self)
			return true;
	}
	return false;
}

/*
 * Each of the 127 bins is empty, pointing at itself, or holds two chunk
 * addresses, or is changing from one to the other. While other threads are in
 * malloc the links need not agree.
 */
static bool
is_arena_in_use(const struct search *search, const char *view, uintptr_t at)
{
	const struct mu_glibc_layout *layout = search->layout;
	size_t i, offset = layout->arena_bins;

	/* Most addresses fail here. */
	if ((int_at(view, layout->arena_flags) & ~7) != 0 ||
	    !is_chunk_address(mu_view_word(view + layout->arena_top)))
		return false;
	for (i = 0; i < MU_GLIBC_BINS; i++, offset += 16) {
		if (!is_chunk_address(mu_view_word(view + offset)) ||
		    !is_chunk_address(mu_view_word(view + offset + 8)))
			return false;
	}
	return has_empty_bin(search, view, at);
}

/*
 * The arena has its initial value: zeros, except for .next and
 * .attached_threads.
 */
static bool
is_arena_unused(const struct search *search, const char *view, uintptr_t at)
{
	const struct mu_glibc_layout *layout = search->layout;
	uintptr_t expected;
	size_t offset;

	if (mu_view_word(view + layout->arena_next) != at)
		return false;
	for (offset = 0; offset < layout->arena_size; offset += 8) {
		expected = offset == layout->arena_next ? at
		    : offset == layout->arena_attached  ? 1
							: 0;
		if (mu_view_word(view + offset) != expected)
			return false;
	}
	return true;
}

/*
 * True if .next leads into a ring: to itself, or to an arena that follows its
 * heap's header. Sixteen bytes before or after main_arena the words can look
 * the same otherwise.
 */
static bool
is_in_ring(const struct search *search, const char *view, uintptr_t at)
{
	uintptr_t next = mu_view_word(view + search->layout->arena_next), owner;

	return next == at ||
	    (next % 8 == 0 && next > search->layout->heap_header &&
		mu_snapshot_word(
		    search->snap, next - search->layout->heap_header, &owner) &&
		owner == next);
}

static void
find_arena(const struct search *search, const char *view, uintptr_t at)
{
	struct mu_glibc_finds *finds = search->finds;

	if (is_arena_unused(search, view, at)) {
		finds->unused = at;
		finds->num_unused++;
	} else if (!is_arena_in_use(search, view, at)) {
		return;
	} else if (is_in_ring(search, view, at)) {
		finds->arena = at;
		finds->num_arenas++;
	} else {
		finds->likeness = at;
		finds->num_likenesses++;
	}
}

/*
 * tcache_bins follows from tcache_max_bytes (do_set_tcache_max()); 2.42 keeps
 * the padded size there when the tunable was set, 2.43 that plus one.
 */
static bool
is_tcache_limit(const struct search *search, size_t bins, size_t max)
{
	size_t padded;

	/* Most addresses fail here. */
	if (bins < 1 || bins > SMALL_BINS || max > TCACHE_MAX)
		return false;
	padded = max + 8 + 15 < 32 ? 32 : (max + 8 + 15) & ~(size_t)15;
	if (search->layout->tcache_bins > SMALL_BINS && max >= 32 &&
	    ((bins == SMALL_BINS && max > 1040) || bins == (max - 32) / 16 + 1))
		return true;
	return bins == (padded - 32) / 16 + 1;
}

/*
 * arena_test is at least 1 and can never be set to 0 (mallopt()), and page
 * sizes are powers of two. Without this check the words around __environ would
 * be accepted.
 */
static bool
are_limits(const struct search *search, const char *view)
{
	size_t hp_pagesize = search->layout->par_hp_pagesize;
	uintptr_t test = mu_view_word(view + PAR_ARENA_TEST), thp, hp;

	if (test == 0 || test > UINT32_MAX ||
	    mu_view_word(view + PAR_ARENA_MAX) > UINT32_MAX)
		return false;
	if (hp_pagesize == 0)
		return true;
	thp = mu_view_word(view + hp_pagesize - 8);
	hp = mu_view_word(view + hp_pagesize);
	return (thp & (thp - 1)) == 0 && (hp & (hp - 1)) == 0;
}

/*
 * True for an address at which brk() or, if that failed, mmap() gave malloc its
 * first memory.
 */
static bool
is_heap_base(const struct search *search, uintptr_t base)
{
	const struct mu_mapping *mapping =
	    mu_snapshot_mapping(search->snap, base);

	return base == 0 ||
	    (mapping != NULL && mu_mapping_is_anonymous(mapping) &&
		!mu_mapping_is_named(mapping, "[stack"));
}

static bool
is_par(const struct search *search, const char *view)
{
	const struct mu_glibc_layout *layout = search->layout;
	size_t unit = layout->mmapped_tail != 0
	    ? layout->mmapped_tail
	    : search->snap->memory.page_size;
	int mmaps = int_at(view, layout->par_n_mmaps);
	uintptr_t base = mu_view_word(view + layout->par_sbrk_base);

	if (!is_tcache_limit(search,
		mu_view_word(view + layout->par_tcache_bins),
		mu_view_word(view + layout->par_tcache_max)) ||
	    mu_view_word(view + layout->par_tcache_count) > COUNT_MAX)
		return false;
	/* n_mmaps, n_mmaps_max, max_n_mmaps, no_dyn_threshold */
	if (mmaps < 0 || int_at(view, layout->par_n_mmaps + 4) < 0 ||
	    int_at(view, layout->par_n_mmaps + 8) < 0 ||
	    mmaps - MMAPS_IN_FLIGHT > int_at(view, layout->par_n_mmaps + 8) ||
	    (int_at(view, layout->par_n_mmaps + 12) & ~1) != 0)
		return false;
	if (!are_limits(search, view))
		return false;
	/* mmapped_mem, max_mmapped_mem */
	return mu_view_word(view + layout->par_mmapped_mem) % unit == 0 &&
	    mu_view_word(view + layout->par_mmapped_mem + 8) % unit == 0 &&
	    is_heap_base(search, base);
}

static void
search_area(const struct search *search, struct mu_range area)
{
	struct mu_glibc_finds *finds = search->finds;
	size_t size = mu_range_size(area), offset;
	const char *view = mu_snapshot_view(search->snap, area.begin, size);

	if (view == NULL)
		return;
	for (offset = 0; offset + search->layout->arena_size <= size;
	     offset += 8) {
		find_arena(search, view + offset, area.begin + offset);
	}
	for (offset = 0; offset + search->layout->par_size <= size;
	     offset += 8) {
		if (!is_par(search, view + offset))
			continue;
		finds->par = area.begin + offset;
		if (finds->num_pars < MU_GLIBC_MAX_PARS)
			finds->pars[finds->num_pars] = finds->par;
		finds->num_pars++;
	}
}

/*
 * main_arena and mp_ are in the .data of one object file, malloc.o, which holds
 * little else: 0x900, 0x920 and 0x940 bytes apart in Debian 11, 12 and 13.
 */
static void
choose_par(const struct mu_glibc_layout *layout, struct mu_glibc_finds *finds)
{
	uintptr_t arena = finds->num_arenas > 0 ? finds->arena : finds->unused;
	size_t i, count = finds->num_pars, near = 0;
	uintptr_t chosen = 0;

	if (count < 2 || count > MU_GLIBC_MAX_PARS)
		return;
	for (i = 0; i < count; i++) {
		if (finds->pars[i] + PAR_REACH < arena ||
		    finds->pars[i] > arena + PAR_REACH)
			continue;
		/* The end of an unused arena looks like one, too. */
		if (finds->pars[i] + layout->par_size > arena &&
		    finds->pars[i] < arena + layout->arena_size)
			continue;
		chosen = finds->pars[i];
		near++;
	}
	if (near != 1)
		return;
	finds->par = chosen;
	finds->num_pars = 1;
}

/*
 * Both objects have initial values, so they are in .data, in the writable part
 * of the file's mappings, and never in .bss.
 */
static void
search_load(const struct search *search, const struct mu_libc *libc)
{
	const struct mu_snapshot *snap = search->snap;
	struct mu_glibc_finds *finds = search->finds;
	size_t i;

	*finds = (struct mu_glibc_finds) { 0 };
	for (i = 0; i < snap->num_mappings; i++) {
		if (mu_libc_has_data(libc, &snap->mappings[i]))
			search_area(search, snap->mappings[i].range);
	}
	if (finds->num_arenas == 0) {
		finds->arena = finds->likeness;
		finds->num_arenas = finds->num_likenesses;
	}
	choose_par(search->layout, finds);
}

/* True if the malloc of another load is, or can be, in use. */
static bool
is_other_heap(const struct mu_glibc_finds *finds)
{
	return finds->num_arenas > 0 || finds->num_unused == 0;
}

void
mu_glibc_data_search(struct mu_glibc_finds *finds,
    const struct mu_snapshot *snap, const struct mu_glibc_layout *layout)
{
	struct mu_libc libcs[MU_LIBCS_MAX];
	struct mu_glibc_finds other;
	struct search search = { snap, layout, finds };
	size_t i, count = mu_libcs_find(snap, libcs);

	for (i = 0; i < count; i++) {
		search_load(&search, &libcs[i]);
		if (finds->num_arenas > 0 || finds->num_unused > 0)
			break;
	}
	search.finds = &other;
	while (++i < count && finds->other == 0) {
		search_load(&search, &libcs[i]);
		if (is_other_heap(&other))
			finds->other = libcs[i].file->range.begin;
	}
}

bool
mu_glibc_data_is_unused(
    const struct mu_snapshot *snap, const struct mu_mapping *mapping)
{
	struct mu_libc file = { mapping, { 0, UINTPTR_MAX } };
	struct mu_glibc_finds finds;
	struct search search = { snap, NULL, &finds };
	uintptr_t memory;

	search.layout =
	    mu_glibc_layout_find(snap->glibc_major, snap->glibc_minor);
	if (search.layout == NULL)
		return false;
	search_load(&search, &file);
	if (finds.num_arenas == 0)
		return finds.num_unused == 1;
	return finds.num_arenas == 1 &&
	    mu_snapshot_word(
		snap, finds.arena + search.layout->arena_system_mem, &memory) &&
	    memory == 0;
}
