#include "heapwalk/refer/locate.h"

#include "heapwalk/subject/modules.h"

static void
place_in_mapping(const struct mu_snapshot *snap, struct mu_referrer *item)
{
	const struct mu_mapping *mapping =
	    mu_snapshot_mapping(snap, item->address);

	item->kind = MU_REFERRER_MAPPING;
	if (mapping == NULL)
		return;
	item->mapping = (uint32_t)(mapping - snap->mappings);
	item->base = item->begin = mapping->range.begin;
	item->size = mu_range_size(mapping->range);
}

static bool
place_in_region(const struct mu_snapshot *snap, struct mu_referrer *item)
{
	size_t i;

	for (i = 0; i < snap->num_root_regions; i++) {
		if (!mu_range_has(snap->root_regions[i], item->address))
			continue;
		item->kind = MU_REFERRER_REGION;
		item->base = item->begin = snap->root_regions[i].begin;
		item->size = mu_range_size(snap->root_regions[i]);
		return true;
	}
	return false;
}

static void
place_of_thread(
    struct mu_referrer *item, uint32_t kind, size_t thread, uintptr_t base)
{
	item->kind = kind;
	item->thread = (uint32_t)thread;
	item->base = base;
}

void
mu_referrer_locate(struct mu_referrer *item, const struct mu_root *root,
    const struct mu_owners *owners)
{
	const struct mu_snapshot *snap = owners->snap;
	const struct mu_thread *threads = snap->threads;
	struct mu_module module;
	uint32_t kind;
	size_t i;

	place_in_mapping(snap, item);
	if (root->kind == MU_ROOT_REGION && place_in_region(snap, item))
		return;
	if (mu_owners_tls(owners, item->address, &i)) {
		place_of_thread(item, MU_REFERRER_TLS, i, threads[i].tp);
	} else if (mu_owners_stack(owners, item->address, &i)) {
		kind =
		    threads[i].calling ? MU_REFERRER_CALLER : MU_REFERRER_STACK;
		place_of_thread(item, kind, i, threads[i].sp);
	} else if (mu_module_find(snap, item->address, &module)) {
		item->kind = MU_REFERRER_GLOBAL;
		item->mapping = (uint32_t)module.mapping;
		item->base = module.bias;
	}
}
