/*
 * Local storage lies at the top of a thread's stack, and .bss may be one
 * mapping with the memory after it. So kinds are assigned to bytes, not to
 * mappings.
 */
#include "heapwalk/roots/root_kinds.h"

#include "heapwalk/subject/classify.h"
#include "heapwalk/subject/modules.h"
#include "heapwalk/subject/tls.h"

static bool
add_tls(struct mu_root_kinds *kinds, const struct mu_snapshot *snap)
{
	struct mu_range stack;
	struct mu_tls tls;
	size_t i;

	for (i = 0; i < snap->num_threads; i++) {
		mu_stacks_block(snap, &snap->threads[i], &stack);
		mu_tls_find(&tls, snap, &snap->threads[i], stack);
		if (!mu_ranges_add(&kinds->tls, tls.storage) ||
		    !mu_ranges_add(&kinds->tls, tls.vector))
			return false;
	}
	return true;
}

/* A module's segment may take only a part of the mapping it extends into. */
static bool
add_bss(struct mu_root_kinds *kinds, const struct mu_snapshot *snap)
{
	const struct mu_mapping *mapping;
	struct mu_module module;
	struct mu_range range;
	size_t i;

	for (i = 1; i < snap->num_mappings; i++) {
		mapping = &snap->mappings[i];
		range = mapping->range;
		if (!mu_mapping_is_anonymous(mapping) ||
		    mapping[-1].range.end != range.begin ||
		    mapping[-1].inode == 0 ||
		    !mu_module_find(snap, range.begin, &module))
			continue;
		if (range.end > module.segment.end)
			range.end = module.segment.end;
		if (!mu_ranges_add(&kinds->bss, range))
			return false;
	}
	return true;
}

enum mu_status
mu_root_kinds_find(struct mu_root_kinds *kinds, const struct mu_snapshot *snap,
    const struct mu_ranges *skip, struct mu_arena *arena)
{
	enum mu_status status;

	mu_ranges_open(&kinds->tls, arena);
	mu_ranges_open(&kinds->bss, arena);
	status = mu_stacks_find(&kinds->stacks, snap, skip, arena);
	if (status != MU_OK)
		return status;
	if (!add_tls(kinds, snap) || !add_bss(kinds, snap))
		return MU_ERR_NO_MEMORY;
	mu_ranges_seal(&kinds->tls);
	mu_ranges_seal(&kinds->bss);
	return MU_OK;
}

bool
mu_root_kinds_cut(const struct mu_root_kinds *kinds,
    const struct mu_mapping *mapping, struct mu_range *rest,
    struct mu_range *piece, enum mu_root_kind *kind)
{
	const struct mu_stacks *stacks = &kinds->stacks;
	struct mu_range left = *rest;
	bool inside;

	if (!mu_ranges_cut(&kinds->tls, &left, piece, &inside))
		return false;
	*kind = MU_ROOT_TLS;
	if (!inside) {
		left = *piece;
		mu_ranges_cut(&stacks->live, &left, piece, &inside);
		*kind = mu_range_has(stacks->calling, piece->begin)
		    ? MU_ROOT_CALLER
		    : MU_ROOT_STACK;
	}
	if (!inside) {
		left = *piece;
		mu_ranges_cut(&kinds->bss, &left, piece, &inside);
		*kind = inside || (mapping->inode != 0 && !mapping->shared)
		    ? MU_ROOT_GLOBALS
		    : MU_ROOT_ANONYMOUS;
	}
	rest->begin = piece->end;
	return true;
}
