#include "lib/state/registry.h"

#include <string.h>

#include "mu/sys.h"
#include "mu/text.h"

#define LOCK_NS MU_NS_PER_SEC
#define ARENA_LIMIT ((size_t)1 << 30)
#define FIRST_WORDS 64
#define MOST_WORDS ((size_t)1 << 24) /* from one provider */

static bool
enter(struct mu_registry *registry, mu_sigmask *mask)
{
	mu_sys_block_signals(mask);
	if (mu_lock_take(&registry->lock, mu_sys_now_ns() + LOCK_NS) == MU_OK)
		return true;
	mu_sys_restore_signals(mask);
	return false;
}

static void
leave(struct mu_registry *registry, const mu_sigmask *mask)
{
	mu_lock_release(&registry->lock);
	mu_sys_restore_signals(mask);
}

/* Append ELEMENT of SIZE bytes to the array *BASE. */
static bool
append(struct mu_registry *registry, void **base, size_t *count, size_t *max,
    const void *element, size_t size)
{
	mu_sigmask mask;
	bool ok;

	if (!enter(registry, &mask))
		return false;
	if (registry->arena.limit == 0)
		mu_arena_open(&registry->arena, ARENA_LIMIT);
	ok = *count < *max ||
	    mu_arena_more(&registry->arena, base, max, size, 16);
	if (ok)
		memcpy((char *)*base + (*count)++ * size, element, size);
	leave(registry, &mask);
	return ok;
}

/* Remove the newest element equal to ELEMENT. */
static bool
drop(struct mu_registry *registry, void *base, size_t *count,
    const void *element, size_t size)
{
	mu_sigmask mask;
	char *at;
	size_t i;

	if (!enter(registry, &mask))
		return false;
	for (i = *count; i > 0; i--)
		if (memcmp((char *)base + (i - 1) * size, element, size) == 0)
			break;
	if (i > 0) {
		at = (char *)base + (i - 1) * size;
		memmove(at, at + size, (*count - i) * size);
		(*count)--;
	}
	leave(registry, &mask);
	return i > 0;
}

bool
mu_registry_ignore(struct mu_registry *r, uintptr_t address)
{
	return address != 0 &&
	    append(r, (void **)&r->ignored, &r->num_ignored, &r->max_ignored,
		&address, sizeof(address));
}

bool
mu_registry_unignore(struct mu_registry *r, uintptr_t address)
{
	return drop(r, r->ignored, &r->num_ignored, &address, sizeof(address));
}

bool
mu_registry_add_region(struct mu_registry *r, struct mu_range region)
{
	return region.begin < region.end &&
	    append(r, (void **)&r->regions, &r->num_regions, &r->max_regions,
		&region, sizeof(region));
}

bool
mu_registry_drop_region(struct mu_registry *r, struct mu_range region)
{
	return drop(r, r->regions, &r->num_regions, &region, sizeof(region));
}

bool
mu_registry_add_provider(struct mu_registry *r, struct mu_provider provider)
{
	return provider.call != NULL &&
	    append(r, (void **)&r->providers, &r->num_providers,
		&r->max_providers, &provider, sizeof(provider));
}

bool
mu_registry_drop_provider(struct mu_registry *r, struct mu_provider provider)
{
	return drop(
	    r, r->providers, &r->num_providers, &provider, sizeof(provider));
}

/* Returns false if the heap cannot be listed. */
static bool
read_heap(struct mu_program_heap *to, const struct MemunreachableHeap *from)
{
	memset(to, 0, sizeof(*to)); /* with its padding, since it is compared */
	if (from == NULL || from->malloc_iterate == NULL)
		return false;
	mu_text_format(to->name, sizeof(to->name), "%s",
	    from->name != NULL ? from->name : "of the program");
	to->iterate = from->malloc_iterate;
	to->disable = from->malloc_disable;
	to->enable = from->malloc_enable;
	to->backtrace = from->malloc_backtrace;
	to->memory = from->memory;
	return true;
}

/* If a heap were registered twice its lock would be taken twice. */
static bool
has_heap(struct mu_registry *r, const struct mu_program_heap *heap)
{
	mu_sigmask mask;
	bool has = false;
	size_t i;

	if (!enter(r, &mask))
		return true;
	for (i = 0; i < r->num_heaps; i++)
		has |= r->heaps[i].iterate == heap->iterate;
	leave(r, &mask);
	return has;
}

bool
mu_registry_add_heap(
    struct mu_registry *r, const struct MemunreachableHeap *heap)
{
	struct mu_program_heap element;

	if (!read_heap(&element, heap) || has_heap(r, &element) ||
	    r->num_heaps == MU_REGISTERED_MAX ||
	    !append(r, (void **)&r->heaps, &r->num_heaps, &r->max_heaps,
		&element, sizeof(element)))
		return false;
	mu_registered_set(&r->registered, r->num_heaps);
	return true;
}

bool
mu_registry_drop_heap(
    struct mu_registry *r, const struct MemunreachableHeap *heap)
{
	struct mu_program_heap element;

	if (!read_heap(&element, heap) ||
	    !drop(r, r->heaps, &r->num_heaps, &element, sizeof(element)))
		return false;
	mu_registered_set(&r->registered, r->num_heaps);
	return true;
}

/* A copy of COUNT elements in ARENA; NULL for none. */
static bool
copy(struct mu_arena *arena, void **to, const void *from, size_t count,
    size_t size)
{
	*to = NULL;
	if (count == 0)
		return true;
	*to = mu_arena_alloc(arena, count, size);
	if (*to == NULL)
		return false;
	memcpy(*to, from, count * size);
	return true;
}

/* Called with growing buffers until all words fit. */
static bool
ask_provider(struct mu_snapshot *snap, const struct mu_provider *provider,
    struct mu_arena *arena, const struct mu_log *log)
{
	size_t room = FIRST_WORDS;
	uintptr_t *all;
	ptrdiff_t got;

	for (;;) {
		if (!mu_arena_extend(arena, snap->root_values,
			snap->num_root_values, snap->num_root_values + room))
			return false;
		all = snap->root_values;
		got = provider->call(
		    provider->ctx, all + snap->num_root_values, room);
		if (got < 0 || (size_t)got > MOST_WORDS) {
			mu_log(log, MU_LOG_WARNING,
			    "root provider %p failed (%ld), continuing without "
			    "it",
			    (void *)(uintptr_t)provider->call, (long)got);
			return true;
		}
		if ((size_t)got <= room)
			break;
		room = (size_t)got;
	}
	snap->num_root_values += (size_t)got;
	return true;
}

enum mu_status
mu_registry_collect(struct mu_registry *r, struct mu_snapshot *snap,
    struct mu_arena *arena, const struct mu_log *log, struct mu_why *why)
{
	struct mu_provider *providers = NULL;
	size_t i, num_providers = 0;
	mu_sigmask mask;
	bool ok;

	if (!enter(r, &mask))
		return mu_why(why, MU_ERR_BUSY,
		    "the list of root regions is "
		    "being changed");
	ok = copy(arena, (void **)&snap->root_regions, r->regions,
		 r->num_regions, sizeof(*r->regions)) &&
	    copy(arena, (void **)&snap->root_values, r->ignored, r->num_ignored,
		sizeof(*r->ignored)) &&
	    copy(arena, (void **)&snap->program_heaps, r->heaps, r->num_heaps,
		sizeof(*r->heaps)) &&
	    copy(arena, (void **)&providers, r->providers, r->num_providers,
		sizeof(*providers));
	snap->num_root_regions = r->num_regions;
	snap->num_root_values = r->num_ignored;
	snap->num_program_heaps = r->num_heaps;
	num_providers = r->num_providers;
	leave(r, &mask);
	for (i = 0; ok && i < num_providers; i++)
		ok = ask_provider(snap, &providers[i], arena, log);
	if (!ok)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for the registered roots");
	return MU_OK;
}
