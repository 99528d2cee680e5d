#include "lib/command/reaped.h"

#include <string.h>

#include "heapwalk/memory/pages.h"
#include "mu/sys.h"

#define ENTRIES 512
#define FILE_OR_SHARED 61 /* bit of a pagemap entry */

/* The contents of the page can be lost only by being freed. */
static bool
is_own_page(uint64_t entry)
{
	return mu_page_entry_there(entry) && (entry >> FILE_OR_SHARED & 1) == 0;
}

/* The first such page among the first of MAPPING, or 0. */
static uintptr_t
own_page(const struct mu_mapping *mapping, size_t page_size, int pagemap)
{
	uint64_t entries[ENTRIES];
	uintptr_t at = mapping->range.begin;
	long i, got;

	got = mu_sys_pread(pagemap, entries, sizeof(entries),
		  at / page_size * sizeof(entries[0])) /
	    (long)sizeof(entries[0]);
	for (i = 0; i < got && at < mapping->range.end; i++) {
		if (is_own_page(entries[i]))
			return at;
		at += page_size;
	}
	return 0;
}

/*
 * The reaper frees one private mapping after the other, from the lowest or,
 * since Linux 6.18, from the highest, which is the main stack. Of a mapping
 * without a name the pages may go at other times, too (MADV_FREE), so only the
 * lowest of these counts.
 */
void
mu_reaped_open(struct mu_reaped *reaped, const struct mu_mapping *mappings,
    size_t count, size_t page_size, int pagemap)
{
	const size_t lowest = MU_REAPED_PAGES - 1;
	const struct mu_mapping *mapping;
	uintptr_t page;
	size_t i;

	*reaped = (struct mu_reaped) {
		.page_size = page_size,
		.pagemap = pagemap,
	};
	for (i = 0; i < count; i++) {
		mapping = &mappings[i];
		if (strcmp(mapping->name, "[stack]") != 0 &&
		    (reaped->count == lowest || mapping->shared ||
			(mapping->name[0] == '\0' && reaped->count > 0)))
			continue;
		page = own_page(mapping, page_size, pagemap);
		if (page != 0 && reaped->count < MU_REAPED_PAGES)
			reaped->pages[reaped->count++] = page;
	}
}

bool
mu_is_reaped(const struct mu_reaped *reaped)
{
	uint64_t entry;
	size_t i;

	for (i = 0; i < reaped->count; i++)
		if (mu_sys_pread(reaped->pagemap, &entry, sizeof(entry),
			reaped->pages[i] / reaped->page_size * sizeof(entry)) !=
			(long)sizeof(entry) ||
		    !is_own_page(entry))
			return true;
	return reaped->count == 0;
}
