#include "lib/report/frame_names.h"

#include <string.h>

#include "heapwalk/recorded/scripts.h"
#include "heapwalk/subject/classify.h"
#include "lib/report/exported.h"
#include "lib/report/recorder_here.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"

#define ARENA_LIMIT ((size_t)64 << 20) /* 65530 mappings take 8 MiB */
#define RECENT 256u                    /* a power of 2 */
#define MODULE_REACH 16 /* mappings from a module's first to its last */

static void
open_names(struct mu_frame_names *names)
{
	names->opened = true;
	mu_arena_open(&names->arena, ARENA_LIMIT);
	names->recent =
	    mu_arena_alloc(&names->arena, RECENT, sizeof(*names->recent));
	names->chunk = mu_arena_alloc(&names->arena, MU_EXPORTED_CHUNK, 1);
	/* Without /proc no modules are found. */
	if (mu_mappings_read(mu_sys_gettid(), &names->mappings,
		&names->num_mappings, &names->arena, NULL) != MU_OK)
		names->num_mappings = 0;
}

/* The first mapping of the file of MAPPING. */
static const struct mu_mapping *
first_of(const struct mu_frame_names *names, const struct mu_mapping *mapping)
{
	const struct mu_mapping *first = mapping;
	size_t reach;

	for (reach = 0; reach < MODULE_REACH; reach++) {
		if (first->offset == 0 && mu_mapping_same_file(first, mapping))
			return first;
		if (first-- == names->mappings)
			break;
	}
	return mapping;
}

/* Entries of the recorder are never removed, nor are their strings. */
static void
find_unloaded(struct mu_frame_place *place)
{
	const struct mu_recorded *about = &memunreachable_recorded;
	size_t number = (uint64_t)place->pc >> MU_FRAME_SHIFT;
	const struct mu_recorded_module *module;

	if (about == NULL || number == 0 ||
	    number > __atomic_load_n(&about->num_modules, __ATOMIC_ACQUIRE))
		return;
	module = &((const struct mu_recorded_module *)(uintptr_t)
		       about->modules)[number - 1];
	place->path = (const char *)(uintptr_t)module->path;
	place->offset = mu_frame_address(place->pc) - module->bias;
}

/* As mu_depot_entry, in the recorder's own memory. */
static const char *
entry_here(const void *ctx, uint32_t unit, size_t *room)
{
	const struct mu_recorded *about = ctx;
	size_t block = unit >> MU_DEPOT_BLOCK_SHIFT;
	size_t at =
	    (size_t)MU_DEPOT_UNIT * (unit & ((1u << MU_DEPOT_BLOCK_SHIFT) - 1));
	uint64_t begin;

	*room = ((size_t)MU_DEPOT_UNIT << MU_DEPOT_BLOCK_SHIFT) - at;
	if (block >= MU_DEPOT_BLOCKS || about->depot == 0)
		return NULL;
	begin = ((const uint64_t *)(uintptr_t)about->depot)[block];
	return begin == 0 ? NULL : (const char *)(uintptr_t)begin + at;
}

static bool
find_script(uintptr_t pc, struct mu_symbol *symbol)
{
	const struct mu_recorded *about = &memunreachable_recorded;
	struct mu_script script;

	if (about == NULL || !mu_script_find(entry_here, about, pc, &script))
		return false;
	*symbol = mu_symbol_of_script(&script);
	return true;
}

static void
find_name(const struct mu_frame_names *names, struct mu_frame_place *place)
{
	const struct mu_mapping *mapping =
	    mu_mapping_from(names->mappings, names->num_mappings, place->pc);
	const struct mu_mapping *first;
	struct mu_exported exported;

	if (mapping == NULL || !mu_range_has(mapping->range, place->pc) ||
	    mapping->name[0] == '\0') {
		find_unloaded(place);
		return;
	}
	first = first_of(names, mapping);
	place->path = first->name;
	place->offset = place->pc - mapping->range.begin + mapping->offset;
	if (!mu_exported_open(&exported, first->range.begin))
		return;
	place->offset = place->pc - exported.bias;
	if (names->chunk != NULL)
		mu_exported_find(&exported, place->pc, names->chunk,
		    place->name, sizeof(place->name), &place->into);
}

static const struct mu_frame_place *
find_place(struct mu_frame_names *names, uintptr_t pc)
{
	struct mu_frame_place *place = &names->last;

	if (!names->opened)
		open_names(names);
	if (names->recent != NULL)
		place = &names->recent[pc * 0x9e3779b97f4a7c15ull >> 32 &
		    (RECENT - 1)];
	if (place->pc != pc) {
		*place = (struct mu_frame_place) { .pc = pc };
		find_name(names, place);
	}
	return place;
}

static bool
find(void *ctx, uintptr_t address, struct mu_symbol *symbol)
{
	const struct mu_frame_place *place;

	if (mu_frame_is_script(address))
		return find_script(address, symbol);
	place = find_place(ctx, address);
	*symbol = (struct mu_symbol) {
		.module = place->path,
		.offset = place->offset,
		.function = place->name[0] != '\0' ? place->name : NULL,
		.exported = true,
		.into = place->into,
	};
	return place->path != NULL;
}

struct mu_names
mu_frame_names(struct mu_frame_names *names)
{
	return (struct mu_names) { .find = find, .ctx = names };
}

void
mu_frame_names_close(struct mu_frame_names *names)
{
	mu_arena_close(&names->arena);
	*names = (struct mu_frame_names) { .opened = false };
}
