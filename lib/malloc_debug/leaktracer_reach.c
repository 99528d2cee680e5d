/*
 * Which blocks are unreachable: see leaktracer_reach.h.
 *
 * No address of a block is held here while a pass runs: it would count as a
 * reference.
 */
#include "lib/malloc_debug/leaktracer_reach.h"

#include <dlfcn.h>
#include <string.h>

#include "lib/malloc_debug/leak_finder.h"
#include "lib/malloc_debug/recorder.h"
#include "memunreachable/memunreachable.h"
#include "mu/sort.h"
#include "mu/sys.h"
#include "mu/text.h"

#define FIRST_ROOM 4096

typedef bool each_fn(
    void (*visit)(void *ctx, uintptr_t begin, size_t size), void *ctx);
typedef bool get_fn(struct UnreachableMemoryInfo *info, size_t limit);
typedef void free_fn(struct UnreachableMemoryInfo *info);

/* Linked to it, or preloaded with it. */
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
	size_t room = reach->room == 0 ? FIRST_ROOM : reach->room * 2;
	size_t each = sizeof(*reach->blocks);
	long address;

	if (reach->count == reach->room) {
		address = reach->blocks == NULL
		    ? mu_sys_mmap(NULL, room * each, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
		    : mu_sys4(SYS_mremap, (long)reach->blocks,
			  (long)(reach->room * each), (long)(room * each),
			  MREMAP_MAYMOVE);
		if (mu_sys_failed(address)) {
			mu_text_format(reach->remark, sizeof(reach->remark),
			    "no memory for all unreachable blocks");
			return;
		}
		reach->blocks = (struct mu_range *)address;
		reach->room = room;
	}
	reach->blocks[reach->count++] =
	    (struct mu_range) { begin, begin + size };
}

static int
by_address(const void *a, const void *b)
{
	const struct mu_range *left = a, *right = b;

	return (left->begin > right->begin) - (left->begin < right->begin);
}

/* Entries stand for others, which are not told: see GetUnreachableMemory(3). */
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
		reach->judged = finder.each(add, reach);
		if (!reach->judged)
			mu_text_format(reach->remark, sizeof(reach->remark),
			    "not filtered: the heap could not be judged");
		return;
	}
	reach->judged = finder.get(&info, SIZE_MAX);
	if (info.reason[0] != '\0')
		mu_text_format(reach->remark, sizeof(reach->remark), "%s%s",
		    reach->judged ? "" : "not filtered: ", info.reason);
	if (reach->judged)
		take_entries(reach, &info);
	finder.free(&info);
}

void
leaktracer_reach_find(struct leaktracer_reach *reach)
{
	*reach = (struct leaktracer_reach) { 0 };
	recorder_enter();
	find(reach);
	recorder_leave();
	mu_sort(
	    reach->blocks, reach->count, sizeof(*reach->blocks), by_address);
}

bool
leaktracer_reach_lost(const struct leaktracer_reach *reach, uintptr_t begin)
{
	size_t low = 0, high = reach->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (reach->blocks[middle].end <= begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low < reach->count && mu_range_has(reach->blocks[low], begin);
}

void
leaktracer_reach_free(struct leaktracer_reach *reach)
{
	if (reach->blocks != NULL)
		mu_sys_munmap(
		    reach->blocks, reach->room * sizeof(*reach->blocks));
	*reach = (struct leaktracer_reach) { 0 };
}
