#include "heapwalk/refer/locate.h"

#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/modules.h"
#include "heapwalk/subject/ranges.h"
#include "heapwalk/subject/saved.h"
#include "heapwalk/subject/stacks.h"
#include "heapwalk/subject/tls.h"
#include "heapwalk/subject/tls_records.h"
#include "mu/range.h"
#include "mu/sort.h"

#define MAX_TLS_BLOCKS ((size_t)1 << 16)

struct finder {
	struct mu_owners *owners;
	const struct mu_blocks *blocks;
	struct mu_arena *arena;
};

static bool
add_block(struct finder *finder, uintptr_t variables, size_t thread)
{
	struct mu_owners *owners = finder->owners;
	struct mu_block block;

	if (!mu_blocks_find(finder->blocks, variables, &block) ||
	    owners->num_blocks == MAX_TLS_BLOCKS)
		return true;
	if (!mu_arena_room(finder->arena, owners->blocks, owners->num_blocks,
		owners->max_blocks, 64))
		return false;
	owners->blocks[owners->num_blocks++] =
	    (struct mu_tls_block) { block.range, thread };
	return true;
}

/*
 * Modules that were loaded later have their thread-local variables in blocks.
 */
static bool
add_blocks(struct finder *finder, size_t thread, const struct mu_tls *tls)
{
	struct mu_tls_module module;
	size_t i;

	for (i = 0; mu_tls_module(tls, finder->owners->snap, i, &module); i++)
		if (module.allocated &&
		    !add_block(finder, module.address, thread))
			return false;
	return true;
}

static bool
add_variables(void *ctx, const struct mu_tls_record *record)
{
	struct finder *finder = ctx;
	struct mu_owners *owners = finder->owners;
	struct mu_tls_variables variables = { .module = record->module };
	struct mu_tls tls;
	size_t i;

	for (i = 0; i < owners->snap->num_threads; i++) {
		mu_tls_find(&tls, owners->snap, &owners->snap->threads[i],
		    owners->threads[i].stack);
		variables.thread = i;
		if (!mu_tls_record_address(record, &tls, owners->snap,
			&owners->snap->threads[i], &variables.address))
			continue;
		if (owners->num_variables == MAX_TLS_BLOCKS ||
		    !mu_arena_room(finder->arena, owners->variables,
			owners->num_variables, owners->max_variables, 64))
			return false;
		owners->variables[owners->num_variables++] = variables;
	}
	return true;
}

bool
mu_owners_find(struct mu_owners *owners, const struct mu_snapshot *snap,
    const struct mu_blocks *blocks, struct mu_arena *arena)
{
	struct finder finder = { owners, blocks, arena };
	struct mu_tls_module program;
	struct mu_owner *owner;
	struct mu_tls tls;
	size_t i;

	if (snap->saved != NULL) {
		*owners = *snap->saved->owners;
		owners->snap = snap;
		return true;
	}
	*owners = (struct mu_owners) { .snap = snap };
	owners->threads =
	    mu_arena_alloc(arena, snap->num_threads, sizeof(*owners->threads));
	if (owners->threads == NULL)
		return false;
	for (i = 0; i < snap->num_threads; i++) {
		owner = &owners->threads[i];
		mu_stacks_block(snap, &snap->threads[i], &owner->stack);
		mu_tls_find(&tls, snap, &snap->threads[i], owner->stack);
		owner->tls = tls.storage;
		/* It is the first module (ELF Handling For TLS, 3.3). */
		if (mu_tls_module(&tls, snap, 0, &program))
			owner->variables = program.address;
		if (!add_blocks(&finder, i, &tls))
			return false;
	}
	mu_tls_records_each(snap, add_variables, &finder);
	mu_sort(owners->blocks, owners->num_blocks, sizeof(*owners->blocks),
	    mu_range_compare);
	return true;
}

static bool
find_tls(const struct mu_owners *owners, uintptr_t address, size_t *thread)
{
	for (*thread = 0; *thread < owners->snap->num_threads; ++*thread)
		if (mu_range_has(owners->threads[*thread].tls, address))
			return true;
	return false;
}

static bool
find_stack(const struct mu_owners *owners, uintptr_t address, size_t *thread)
{
	for (*thread = 0; *thread < owners->snap->num_threads; ++*thread)
		if (mu_range_has(owners->threads[*thread].stack, address))
			return true;
	return false;
}

bool
mu_owners_tls_block(
    const struct mu_owners *owners, uintptr_t begin, size_t *thread)
{
	size_t i = mu_ranges_upper(
	    owners->blocks, owners->num_blocks, sizeof(*owners->blocks), begin);

	if (i == 0 || owners->blocks[i - 1].range.begin != begin)
		return false;
	*thread = owners->blocks[i - 1].thread;
	return true;
}

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
	if (find_tls(owners, item->address, &i)) {
		place_of_thread(item, MU_REFERRER_TLS, i, threads[i].tp);
	} else if (find_stack(owners, item->address, &i)) {
		kind =
		    threads[i].calling ? MU_REFERRER_CALLER : MU_REFERRER_STACK;
		place_of_thread(item, kind, i, threads[i].sp);
	} else if (mu_module_find(snap, item->address, &module)) {
		item->kind = MU_REFERRER_GLOBAL;
		item->mapping = (uint32_t)module.mapping;
		item->base = module.bias;
	}
}
