#include "lib/command/known_functions.h"

#include <string.h>

#include "heapwalk/subject/classify.h"
#include "lib/symbolize/build_id.h"
#include "mu/sys.h"

#define HEAD 4096 /* the first page has the build-id, if a linker wrote it */

/* Where the file of MAPPING begins in memory; 0: it does not. */
static uintptr_t
find_head(const struct mu_snapshot *snap, const struct mu_mapping *mapping)
{
	const struct mu_mapping *first = mapping;

	while (first > snap->mappings && first->offset != 0 &&
	    mu_mapping_same_file(first - 1, mapping))
		first--;
	return first->offset == 0 && first->readable && !first->writable
	    ? first->range.begin
	    : 0;
}

static struct mu_known_place
place_of(const struct mu_snapshot *snap, uintptr_t address)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, address);
	struct mu_known_place place = { .inode = 0 };
	char head[HEAD];
	uintptr_t begin;

	if (mapping == NULL || mapping->inode == 0)
		return place;
	place.dev_major = mapping->dev_major;
	place.dev_minor = mapping->dev_minor;
	place.inode = mapping->inode;
	place.offset = address - mapping->range.begin + mapping->offset;
	begin = find_head(snap, mapping);
	if (begin == 0 ||
	    mu_sys_read_memory(snap->threads[0].tid, begin, head,
		sizeof(head)) != sizeof(head) ||
	    !mu_core_file_id(head, sizeof(head), &place.id))
		place.id.size = 0;
	return place;
}

static bool
is_same(const struct mu_known_place *a, const struct mu_known_place *b)
{
	return a->dev_major == b->dev_major && a->dev_minor == b->dev_minor &&
	    a->inode == b->inode && a->offset == b->offset &&
	    a->id.size == b->id.size &&
	    memcmp(a->id.bytes, b->id.bytes, a->id.size) == 0;
}

/* A range is kept relative to the address. */
static struct mu_range
moved(struct mu_range range, uintptr_t by)
{
	return (struct mu_range) { range.begin + by, range.end + by };
}

bool
mu_known_functions_find(const struct mu_known_functions *known,
    const struct mu_snapshot *snap, uintptr_t address,
    struct mu_known_place *place, struct mu_known_function *function)
{
	size_t i;

	*place = place_of(snap, address);
	for (i = 0; place->id.size > 0 && i < MU_KNOWN_FUNCTIONS; i++) {
		if (!is_same(&known->all[i].place, place))
			continue;
		*function = known->all[i].function;
		function->range = moved(function->range, address);
		return true;
	}
	return false;
}

void
mu_known_functions_keep(struct mu_known_functions *known,
    const struct mu_known_place *place, uintptr_t address, const char *build_id,
    const struct mu_known_function *function)
{
	size_t at = known->next;

	if (place->id.size == 0 || build_id == NULL ||
	    strcmp(
		mu_build_id_hex(place->id.bytes, (ssize_t)place->id.size).hex,
		build_id) != 0)
		return;
	known->all[at].place = *place;
	known->all[at].function = *function;
	known->all[at].function.range =
	    moved(function->range, (uintptr_t)0 - address);
	known->next = (at + 1) % MU_KNOWN_FUNCTIONS;
}
