/*
 * No address of a block is stored here while a pass runs: it would count as a
 * reference.
 */
#include "lib/malloc_debug/leaktracer/reach.h"

#include <dlfcn.h>
#include <string.h>

#include "lib/malloc_debug/checks/leak_finder.h"
#include "lib/malloc_debug/state/state.h"
#include "memunreachable/memunreachable.h"
#include "mu/text.h"

typedef bool each_fn(
    void (*visit)(void *ctx, uintptr_t begin, size_t size), void *ctx);
typedef bool get_fn(struct UnreachableMemoryInfo *info, size_t limit);
typedef void free_fn(struct UnreachableMemoryInfo *info);

/* Set if the program is linked to the library, or it is preloaded. */
extern get_fn GetUnreachableMemory __attribute__((weak));
extern free_fn FreeUnreachableMemoryInfo __attribute__((weak));

static struct {
	each_fn *each;
	get_fn *get;
	free_fn *free;
} finder;

static bool
take_from(void *library)
{
	void *get = dlsym(library, "GetUnreachableMemory");
	void *release = dlsym(library, "FreeUnreachableMemoryInfo");
	void *each = dlsym(library, "memunreachable_each_unreachable");

	if (get == NULL || release == NULL)
		return false;
	memcpy(&finder.get, &get, sizeof(get));
	memcpy(&finder.free, &release, sizeof(release));
	memcpy(&finder.each, &each, sizeof(each));
	return true;
}

void
leaktracer_reach_load(void)
{
	void *library;

	if (finder.get != NULL)
		return;
	recorder_enter();
	finder.get = GetUnreachableMemory;
	finder.free = FreeUnreachableMemoryInfo;
	if (!take_from(RTLD_DEFAULT) && finder.get == NULL &&
	    (library = leak_finder_load()) != NULL)
		take_from(library);
	recorder_leave();
}

static void
add(void *ctx, uintptr_t begin, size_t size)
{
	struct leaktracer_reach *reach = ctx;

	if (!mu_ranges_add(
		&reach->blocks, (struct mu_range) { begin, begin + size }))
		mu_text_format(reach->remark, sizeof(reach->remark),
		    "no memory for all unreachable blocks");
}

/*
 * An entry represents other blocks that it does not list: see
 * GetUnreachableMemory(3).
 */
static void
take_entries(
    struct leaktracer_reach *reach, const struct UnreachableMemoryInfo *info)
{
	size_t i, hidden = info->num_leaks - info->num_reported;

	for (i = 0; i < info->num_reported; i++)
		add(reach, info->leaks[i].begin, info->leaks[i].size);
	if (hidden > 0 && reach->remark[0] == '\0')
		mu_text_format(reach->remark, sizeof(reach->remark),
		    "%zu unreachable blocks that are no entries of their own"
		    " are not listed",
		    hidden);
}

static void
find(struct leaktracer_reach *reach)
{
	struct UnreachableMemoryInfo info = { 0 };

	if (finder.get == NULL) {
		mu_text_format(reach->remark, sizeof(reach->remark),
		    "not filtered: " LEAK_FINDER " is not loaded");
		return;
	}
	if (finder.each != NULL) {
		reach->checked = finder.each(add, reach);
		if (!reach->checked)
			mu_text_format(reach->remark, sizeof(reach->remark),
			    "not filtered: the heap could not be checked");
		return;
	}
	reach->checked = finder.get(&info, SIZE_MAX);
	if (info.reason[0] != '\0')
		mu_text_format(reach->remark, sizeof(reach->remark), "%s%s",
		    reach->checked ? "" : "not filtered: ", info.reason);
	if (reach->checked)
		take_entries(reach, &info);
	finder.free(&info);
}

void
leaktracer_reach_find(struct leaktracer_reach *reach)
{
	*reach = (struct leaktracer_reach) { .checked = false };
	mu_arena_open(&reach->arena, SIZE_MAX);
	mu_ranges_open(&reach->blocks, &reach->arena);
	recorder_enter();
	find(reach);
	recorder_leave();
	mu_ranges_seal(&reach->blocks);
}

bool
leaktracer_reach_lost(const struct leaktracer_reach *reach, uintptr_t begin)
{
	return mu_ranges_has(&reach->blocks, begin);
}

void
leaktracer_reach_free(struct leaktracer_reach *reach)
{
	mu_arena_close(&reach->arena);
	*reach = (struct leaktracer_reach) { .checked = false };
}
