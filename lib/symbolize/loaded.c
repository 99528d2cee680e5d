#include "lib/symbolize/loaded.h"

#include <stdlib.h>
#include <string.h>

#include "heapwalk/subject/ranges.h"
#include "mu/bisect.h"

#define VDSO "[vdso]"

/* Mappings in a core may have no inode. */
static bool
has_file(const struct mu_mapping *mapping)
{
	return mapping->inode != 0 || mapping->name[0] == '/' ||
	    strcmp(mapping->name, VDSO) == 0;
}

static bool
is_same_file(const struct mu_mapping *a, const struct mu_mapping *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	    a->dev_minor == b->dev_minor && strcmp(a->name, b->name) == 0;
}

/*
 * True if NEXT is a further segment of the file of LAST. Offsets do not
 * decrease, and are equal if segments share a page. Mappings of the first page
 * must differ in their rights; otherwise the file was mapped once more.
 */
static bool
goes_on(const struct mu_mapping *last, const struct mu_mapping *next)
{
	if (!is_same_file(last, next) || next->offset < last->offset)
		return false;
	return next->offset != 0 || last->readable != next->readable ||
	    last->writable != next->writable ||
	    last->executable != next->executable;
}

/*
 * True if it may be .bss, which the kernel and the dynamic loader map without a
 * name and without a gap.
 */
static bool
may_be_bss(const struct mu_loaded *loaded, const struct mu_mapping *mapping)
{
	return mapping->range.begin == loaded->end && mapping->name[0] == '\0';
}

struct mu_loaded *
mu_loaded_list(
    const struct mu_mapping *mappings, size_t num_mappings, size_t *count)
{
	const struct mu_mapping *mapping = mappings;
	struct mu_loaded *list, *last = NULL;

	*count = 0;
	list = num_mappings == 0 ? NULL : calloc(num_mappings, sizeof(*list));
	if (list == NULL)
		return NULL;
	for (; mapping < mappings + num_mappings; mapping++) {
		if (has_file(mapping)) {
			if (last == NULL || !goes_on(last->last, mapping)) {
				last = &list[(*count)++];
				last->first = mapping;
			}
			last->last = mapping;
			last->end = mapping->range.end;
		} else if (last != NULL && may_be_bss(last, mapping))
			last->end = mapping->range.end;
	}
	return list;
}

/* The last one that begins at or below ADDRESS. */
static struct mu_loaded *
find_begun(struct mu_loaded *list, size_t count, uintptr_t address)
{
	size_t low = 0;

	mu_bisect(low, count, i, list[i].first->range.begin <= address);
	return low == 0 ? NULL : &list[low - 1];
}

struct mu_loaded *
mu_loaded_find(struct mu_loaded *list, size_t count, uintptr_t address,
    const struct mu_mapping **mapping)
{
	struct mu_loaded *loaded = find_begun(list, count, address);
	const struct mu_mapping *part;
	size_t parts;

	*mapping = NULL;
	if (loaded == NULL || address >= loaded->end)
		return NULL;
	parts = (size_t)(loaded->last - loaded->first) + 1;
	part = loaded->first +
	    mu_ranges_upper(loaded->first, parts, sizeof(*part), address) - 1;
	if (mu_range_has(part->range, address)) {
		*mapping = has_file(part) ? part : NULL;
		return has_file(part) || part->name[0] == '\0' ? loaded : NULL;
	}
	return address >= loaded->last->range.end ? loaded : NULL;
}
