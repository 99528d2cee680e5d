/*
 * A piece of the main arena ends in two fenceposts if brk gave memory that does
 * not follow top (other code called sbrk()) or failed (the arena then uses
 * mmap).
 */
#include "heapwalk/heaps/glibc/stretch.h"

#include "heapwalk/subject/classify.h"

/*
 * The mapping of BASE and those of the same kind that follow without a gap.
 * Pages inside blocks may have any protection (mprotect()). An inaccessible
 * mapping counts as such pages if it ends within the arena's MOST bytes, has
 * the name of the first one ([heap] ends at brk), can be read in the image and
 * is not the last: after a block comes at least the arena's top or a fencepost,
 * which malloc writes.
 */
static struct mu_range
region_from(const struct mu_snapshot *snap, uintptr_t base, size_t most)
{
	const struct mu_mapping *first = mu_snapshot_mapping(snap, base);
	const struct mu_mapping *end = snap->mappings + snap->num_mappings;
	const struct mu_mapping *mapping = first;
	struct mu_range region = { base, base };
	uintptr_t next = base;
	bool heap = first != NULL && mu_mapping_is_named(first, "[heap]");

	for (; mapping != NULL && mapping < end; mapping++) {
		if (mapping->range.begin > next || mapping->shared ||
		    mapping->inode != first->inode)
			break;
		next = mapping->range.end;
		if (mapping->readable) {
			region.end = next;
			continue;
		}
		if (next - base > most ||
		    mu_mapping_is_named(mapping, "[heap]") != heap)
			break;
		mu_snapshot_unlock(snap, mapping->range);
		if (!mapping->readable)
			break;
	}
	return region;
}

static uintptr_t
top_end(const struct mu_glibc_walk *walk, const struct mu_glibc_main *main)
{
	uintptr_t word = 0;

	mu_snapshot_word(walk->snap, main->top + 8, &word);
	return main->top + (word & ~(uintptr_t)MU_SIZE_FLAGS);
}

/*
 * No piece is larger than all pieces together, so hostile sizes cannot cause
 * huge bitmaps.
 */
static void
bound(const struct mu_glibc_main *main, struct mu_glibc_chain *chain)
{
	size_t most = main->system_mem + 65536;

	if (mu_range_size(chain->limit) > most)
		chain->limit.end = chain->limit.begin + most;
}

static enum mu_status
take_piece(struct mu_glibc_walk *walk, struct mu_glibc_main *main,
    struct mu_glibc_chain *chain)
{
	enum mu_status status;

	bound(main, chain);
	chain->main = true;
	chain->top = mu_range_has(chain->limit, main->top) ? main->top : 0;
	chain->view = mu_snapshot_view(
	    walk->snap, chain->limit.begin, mu_range_size(chain->limit));
	if (chain->view == NULL ||
	    mu_range_size(chain->limit) < MU_GLIBC_MINSIZE)
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "arena %p: its memory at %p cannot be read",
		    (void *)main->arena, (void *)chain->limit.begin);
	status = mu_glibc_chains_walk(walk, chain, 1);
	if (status != MU_OK)
		return status;
	if (chain->top != 0 && chain->end > chain->top)
		main->saw_top = true;
	main->bytes += chain->end - chain->limit.begin;
	main->num_pieces++;
	if (!mu_ranges_add(&walk->stretches,
		(struct mu_range) { chain->limit.begin, chain->end }))
		return mu_glibc_no_memory(walk);
	return MU_OK;
}

static enum mu_status
add_gap(struct mu_glibc_walk *walk, struct mu_glibc_main *main, size_t gap)
{
	if (!mu_arena_room(
		walk->memory, main->gaps, main->num_gaps, main->max_gaps, 64))
		return mu_glibc_no_memory(walk);
	main->gaps[main->num_gaps++] = gap;
	return MU_OK;
}

/*
 * Walk from sbrk_base, over holes, to top or until no further piece is found.
 */
static enum mu_status
take_region(struct mu_glibc_walk *walk, struct mu_glibc_main *main)
{
	struct mu_glibc_chain chain = { .limit = main->region };
	uintptr_t begin = chain.limit.begin, end;
	enum mu_status status;

	chain.limit.begin = (begin + 15) & ~(uintptr_t)15;
	main->bytes = chain.limit.begin - begin;
	status = take_piece(walk, main, &chain);
	while (status == MU_OK && !main->saw_top && main->brk) {
		end = chain.end;
		status = mu_glibc_foreign_sbrk_cross(walk, main, end, &chain);
		if (status != MU_OK || mu_range_size(chain.limit) == 0)
			break;
		status = add_gap(walk, main, chain.limit.begin - end);
		if (status == MU_OK)
			status = take_piece(walk, main, &chain);
	}
	return status;
}

bool
mu_glibc_main_adds_up(const struct mu_glibc_main *main, size_t more)
{
	size_t sum = main->bytes + more;
	size_t slack = main->strict ? 1 : 16 * (main->num_pieces + 1);
	size_t i;

	for (i = 0;; i++) {
		/*
		 * The holes that came first arose while the arena was
		 * contiguous.
		 */
		if ((i == main->num_gaps || !main->contiguous) &&
		    sum < main->system_mem + slack &&
		    sum + main->maybe + slack > main->system_mem)
			return true;
		if (i == main->num_gaps)
			return false;
		sum += main->gaps[i];
	}
}

enum mu_status
mu_glibc_main_take(struct mu_glibc_walk *walk)
{
	const struct mu_glibc_layout *layout = walk->glibc.layout;
	uintptr_t arena = walk->glibc.main_arena;
	struct mu_glibc_main main = {
		.arena = arena,
		.top = mu_glibc_arena_word(walk, arena, layout->arena_top),
		.system_mem =
		    mu_glibc_arena_word(walk, arena, layout->arena_system_mem),
		.contiguous = (mu_glibc_int(walk, arena + layout->arena_flags) &
				  MU_GLIBC_NONCONTIGUOUS) == 0,
		.strict = mu_glibc_strict(walk),
	};
	uintptr_t base =
	    mu_glibc_arena_word(walk, walk->glibc.mp, layout->par_sbrk_base);
	enum mu_status status = MU_OK;

	/* initial_top(): while there is no top, bin 1 stands for it. */
	if (main.top == arena + layout->arena_bins - MU_GLIBC_HEADER &&
	    main.system_mem == 0)
		return MU_OK;
	main.region = region_from(walk->snap, base, main.system_mem);
	main.brk = mu_range_size(main.region) > 0 &&
	    mu_mapping_is_named(
		mu_snapshot_mapping(walk->snap, base), "[heap]");
	if (mu_range_has(main.region, main.top) &&
	    top_end(walk, &main) <= main.region.end)
		main.region.end = top_end(walk, &main);
	if (base == 0 || main.top % 16 != 0 ||
	    mu_range_size(main.region) < MU_GLIBC_MINSIZE)
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "arena %p: no heap at sbrk_base %p", (void *)arena,
		    (void *)base);
	status = take_region(walk, &main);
	/* With unproven parts a missing amount says nothing. */
	if (status == MU_OK && !main.contiguous &&
	    !(main.saw_top && main.maybe == 0 &&
		mu_glibc_main_adds_up(&main, 0)))
		status = mu_glibc_pieces_take(walk, &main);
	if (status != MU_OK)
		return status;
	if (!main.saw_top)
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "arena %p: its chunks do not lead to top %p", (void *)arena,
		    (void *)main.top);
	if (!mu_glibc_main_adds_up(&main, 0))
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "arena %p: its memory is %zu bytes, system_mem is %zu",
		    (void *)arena, main.bytes, main.system_mem);
	return MU_OK;
}
