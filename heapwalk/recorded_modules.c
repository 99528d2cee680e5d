/*
 * Modules that a recorder saw go: see heapwalk/recorded.h.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include <string.h>

#include "heapwalk/recorded.h"

#define MODULES_MAX 1024 /* as many as a recorder keeps */
#define PATH_SIZE_MAX 4096
#define ID_SIZE_MAX 129 /* 64 bytes in hex */

/* Its own array, whose entries a later one may hide. */
struct modules {
	struct mu_recorded_module all[MODULES_MAX];
	size_t count;
};

static bool
read_modules(struct modules *modules, const struct mu_recorded *about,
    const struct mu_snapshot *snap)
{
	size_t size = sizeof(*modules->all);
	const char *view;

	modules->count =
	    about->num_modules < MODULES_MAX ? about->num_modules : MODULES_MAX;
	if (about->modules % sizeof(uint64_t) != 0 || modules->count == 0)
		return false;
	view = mu_snapshot_view(snap, about->modules, modules->count * size);
	if (view != NULL)
		memcpy(modules->all, view, modules->count * size);
	return view != NULL;
}

/* Entry INDEX, which nothing that came later to its place hides? */
static bool
is_gone(const struct modules *modules, size_t index)
{
	const struct mu_recorded_module *module = &modules->all[index], *later;
	size_t i;

	if (module->present != 0 || module->start >= module->end)
		return false;
	for (i = index + 1; i < modules->count; i++) {
		later = &modules->all[i];
		if (later->start < module->end && module->start < later->end)
			return false;
	}
	return true;
}

/* A copy of a string of SIZE bytes; NULL: it is none, or there is no memory. */
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

/* By address; those before it are in order. */
static void
put_in_order(struct mu_recorder *recorder, const struct mu_unloaded *module)
{
	struct mu_unloaded *all = recorder->unloaded;
	size_t at = recorder->num_unloaded++;

	for (; at > 0 && all[at - 1].range.begin > module->range.begin; at--)
		all[at] = all[at - 1];
	all[at] = *module;
}

void
mu_recorder_modules(struct mu_recorder *recorder,
    const struct mu_snapshot *snap, struct mu_arena *arena)
{
	struct modules *modules = NULL;
	const struct mu_recorded_module *module;
	struct mu_unloaded unloaded;
	size_t i;

	if (recorder->about.num_modules > 0)
		modules = mu_arena_alloc(arena, 1, sizeof(*modules));
	if (modules == NULL || !read_modules(modules, &recorder->about, snap))
		return;
	recorder->unloaded =
	    mu_arena_alloc(arena, modules->count, sizeof(*recorder->unloaded));
	for (i = 0; recorder->unloaded != NULL && i < modules->count; i++) {
		module = &modules->all[i];
		if (!is_gone(modules, i))
			continue;
		unloaded.range =
		    (struct mu_range) { module->start, module->end };
		unloaded.offset = module->offset;
		unloaded.path = copy_text(snap, module->path, module->path_size,
		    PATH_SIZE_MAX, arena);
		unloaded.build_id = copy_text(
		    snap, module->id, module->id_size, ID_SIZE_MAX, arena);
		if (unloaded.path != NULL && unloaded.build_id != NULL &&
		    unloaded.path[0] == '/')
			put_in_order(recorder, &unloaded);
	}
}
