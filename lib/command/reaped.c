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

/* The first such page of MAPPING, unless ALL among its first ones; or 0. */
static uintptr_t
own_page(
    const struct mu_mapping *mapping, size_t page_size, int pagemap, bool all)
{
	uint64_t entries[ENTRIES];
	uintptr_t at = mapping->range.begin;
	long i, got;

	do {
		got = mu_sys_pread(pagemap, entries, sizeof(entries),
			  at / page_size * sizeof(entries[0])) /
		    (long)sizeof(entries[0]);
		for (i = 0; i < got && at < mapping->range.end; i++) {
			if (is_own_page(entries[i]))
				return at;
			at += page_size;
		}
	} while (all && got > 0 && at < mapping->range.end);
	return 0;
}

/* A page of it is freed only with the process, unless it is the lowest. */
static bool
counts(const struct mu_reaped *reaped, const struct mu_mapping *mapping)
{
	return reaped->count < MU_REAPED_PAGES - 1 && !mapping->shared &&
	    (reaped->count == 0 ||
		(mapping->name[0] != '\0' &&
		    strncmp(mapping->name, "[anon", 5) != 0));
}

/*
 * The reaper frees one private mapping after the other, from the lowest or,
 * since Linux 6.18, from the highest, which is the main stack. The dynamic
 * linker or the startup code of libc has written to the program's data, and
 * each program to its stack: without such pages the reaper has begun.
 *
 * Of a mapping without a name pages may go at other times, too (MADV_FREE).
 * The lowest counts in any case, as it is freed first.
 */
void
mu_reaped_open(struct mu_reaped *reaped, const struct mu_mapping *mappings,
    size_t count, size_t page_size, int pagemap, const char *program)
{
	bool is_stack, is_program, is_noted, seen = false, written = false;
	const struct mu_mapping *mapping;
	uintptr_t page;
	size_t i;

	*reaped = (struct mu_reaped) {
		.page_size = page_size,
		.pagemap = pagemap,
	};
	for (i = 0; i < count; i++) {
		mapping = &mappings[i];
		is_stack = strcmp(mapping->name, "[stack]") == 0;
		is_program =
		    mapping->inode != 0 && strcmp(mapping->name, program) == 0;
		is_noted = is_stack || counts(reaped, mapping);
		if (!is_noted && !is_program)
			continue;
		page = own_page(
		    mapping, page_size, pagemap, is_stack || is_program);
		seen |= is_program;
		written |= is_program && page != 0;
		reaped->has_begun |= is_stack && page == 0;
		if (page != 0 && is_noted)
			reaped->pages[reaped->count++] = page;
	}
	reaped->has_begun |= seen && !written;
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
	return reaped->has_begun || reaped->count == 0;
}
