#include "lib/command/reaped.h"

#include <errno.h>
#include <string.h>

#include "mu/sys.h"

#define ENTRIES 512
#define PRESENT_OR_SWAPPED 62 /* the upper two bits of a pagemap entry */

/*
 * The first page of STACK that has no data; its end if all have some. The page
 * of a guard region counts as data, unlike in mu_page_entry_there(): a read of
 * it always fails.
 */
static uintptr_t
first_absent(const struct mu_mapping *stack, size_t page_size, int pagemap)
{
	uint64_t entries[ENTRIES];
	uintptr_t at = stack->range.begin;
	long i, got;

	while (at < stack->range.end) {
		got = mu_sys_pread(pagemap, entries, sizeof(entries),
			  at / page_size * sizeof(entries[0])) /
		    (long)sizeof(entries[0]);
		if (got <= 0)
			break;
		for (i = 0; i < got && at < stack->range.end; i++) {
			if (entries[i] >> PRESENT_OR_SWAPPED == 0)
				return at;
			at += page_size;
		}
	}
	return stack->range.end;
}

/*
 * Before it frees anything the kernel marks the memory (MMF_UNSTABLE), and from
 * then on gives the process no new pages: a read of an untouched one fails.
 */
bool
mu_is_reaped(const struct mu_mapping *mappings, size_t count, size_t page_size,
    int memory, int pagemap)
{
	uintptr_t at;
	size_t i;
	char byte;

	for (i = 0; i < count && strcmp(mappings[i].name, "[stack]") != 0; i++)
		;
	if (i == count || !mappings[i].readable)
		return false;
	at = first_absent(&mappings[i], page_size, pagemap);
	return at < mappings[i].range.end &&
	    mu_sys_pread(memory, &byte, 1, at) == -EIO;
}
