#include "heapwalk/heaps/found.h"

#include <string.h>

#include "heapwalk/subject/classify.h"

enum mu_status
mu_heap_found_keep(struct mu_heap_member *member,
    const struct mu_heap_found *found, size_t size, struct mu_arena *arena,
    struct mu_why *why)
{
	if (found->file == NULL)
		return MU_OK;
	member->state = mu_arena_alloc(arena, 1, size);
	if (member->state == NULL)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for the list of heaps");
	memcpy(member->state, found, size);
	return MU_OK;
}

bool
mu_heap_found_has_file(
    const struct mu_heap_member *member, const struct mu_mapping *mapping)
{
	const struct mu_heap_found *found = member->state;

	return mu_mapping_same_file(found->file, mapping);
}

bool
mu_heap_may_be_in(
    const struct mu_snapshot *snap, const struct mu_mapping *mapping)
{
	const struct mu_mapping *malloc =
	    mu_snapshot_mapping(snap, snap->malloc_address);

	if (mapping->inode == 0 || !mapping->readable || !mapping->writable ||
	    mapping->shared)
		return false;
	return snap->unfrozen ||
	    (malloc != NULL && mu_mapping_same_file(mapping, malloc));
}

bool
mu_heap_variables(const struct mu_snapshot *snap,
    const struct mu_mapping *mapping, struct mu_range *variables)
{
	const struct mu_mapping *end = snap->mappings + snap->num_mappings;
	const struct mu_mapping *next = mapping + 1;

	if (mapping->inode == 0 || !mapping->readable || !mapping->writable ||
	    mapping->shared || next == end || next->inode != 0 ||
	    !next->readable || !next->writable ||
	    next->range.begin != mapping->range.end || next->name[0] != '\0')
		return false;
	*variables =
	    (struct mu_range) { mapping->range.begin, next->range.end };
	return true;
}
