/*
 * Modules that were unloaded while a recorder ran: see
 * heapwalk/recorded/recorded.h.
 */
#include <string.h>

#include "heapwalk/recorded/recorded.h"

#define PATH_SIZE_MAX 4096
#define ID_SIZE_MAX 129 /* 64 bytes in hex */

static void
read_modules(struct mu_recorder *recorder, const struct mu_snapshot *snap,
    struct mu_arena *arena)
{
	const struct mu_recorded *header = &recorder->header;
	struct mu_recorded_module *copy = NULL;
	size_t count = header->num_modules;
	const char *view = NULL;

	if (count > MU_RECORDED_MODULES)
		count = MU_RECORDED_MODULES;
	if (count > 0 && header->modules % sizeof(uint64_t) == 0)
		view = mu_snapshot_view(
		    snap, header->modules, count * sizeof(*copy));
	if (view != NULL)
		copy = mu_arena_alloc(arena, count, sizeof(*copy));
	recorder->modules = copy;
	recorder->num_modules = copy == NULL ? 0 : count;
	if (copy != NULL)
		memcpy(copy, view, count * sizeof(*copy));
}

static bool
is_gone(const struct mu_recorded_module *module)
{
	return module->gone != 0 && module->start < module->end &&
	    module->end >> MU_FRAME_SHIFT == 0;
}

/*
 * Copy a string of SIZE bytes. Returns NULL if it is not valid or memory is
 * exhausted.
 */
static const char *
copy_text(const struct mu_snapshot *snap, uint64_t address, uint32_t size,
    uint32_t most, struct mu_arena *arena)
{
	const char *view = NULL;
	char *copy;

	if (size > 1 && size <= most)
		view = mu_snapshot_view(snap, address, size);
	if (view == NULL || memchr(view, '\0', size) != view + size - 1)
		return NULL;
	copy = mu_arena_alloc(arena, size, 1);
	return copy == NULL ? NULL : memcpy(copy, view, size);
}

void
mu_recorder_modules(struct mu_recorder *recorder,
    const struct mu_snapshot *snap, struct mu_arena *arena)
{
	const struct mu_recorded_module *module;
	struct mu_unloaded *unloaded;
	size_t i;

	recorder->num_unloaded = 0;
	read_modules(recorder, snap, arena);
	if (recorder->num_modules == 0)
		return;
	recorder->unloaded = mu_arena_alloc(
	    arena, recorder->num_modules, sizeof(*recorder->unloaded));
	for (i = 0; recorder->unloaded != NULL && i < recorder->num_modules;
	     i++) {
		module = &recorder->modules[i];
		if (!is_gone(module))
			continue;
		unloaded = &recorder->unloaded[recorder->num_unloaded];
		unloaded->range = (struct mu_range) {
			(uintptr_t)mu_frame_of_module(module->start, i),
			(uintptr_t)mu_frame_of_module(module->end, i),
		};
		unloaded->offset = module->offset;
		unloaded->path = copy_text(snap, module->path,
		    module->path_size, PATH_SIZE_MAX, arena);
		unloaded->build_id = copy_text(
		    snap, module->id, module->id_size, ID_SIZE_MAX, arena);
		if (unloaded->path != NULL && unloaded->build_id != NULL &&
		    unloaded->path[0] == '/')
			recorder->num_unloaded++;
	}
}
