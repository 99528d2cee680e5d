/* Find the mapping of an address in the subject. */
#include "heapwalk/subject/snapshot.h"

#include <stddef.h>

#include "heapwalk/subject/classify.h"
#include "mu/bisect.h"

const struct mu_mapping *
mu_mapping_from(
    const struct mu_mapping *mappings, size_t count, uintptr_t address)
{
	size_t low = 0;

	mu_bisect(low, count, i, mappings[i].range.end <= address);
	return low == count ? NULL : &mappings[low];
}

const struct mu_mapping *
mu_snapshot_mapping(const struct mu_snapshot *snap, uintptr_t address)
{
	const struct mu_mapping *mapping =
	    mu_mapping_from(snap->mappings, snap->num_mappings, address);

	return mapping != NULL && mapping->range.begin <= address ? mapping
								  : NULL;
}

void
mu_snapshot_unlock(const struct mu_snapshot *snap, struct mu_range range)
{
	struct mu_memory *memory = (struct mu_memory *)&snap->memory;
	struct mu_mapping *end = snap->mappings + snap->num_mappings, *mapping;

	mapping = (struct mu_mapping *)mu_mapping_from(
	    snap->mappings, snap->num_mappings, range.begin);
	if (mapping == NULL || memory->ops->unlock == NULL)
		return;
	for (; mapping < end && mapping->range.begin < range.end; mapping++)
		if (!mapping->readable && mu_mapping_is_anonymous(mapping))
			mapping->readable =
			    memory->ops->unlock(memory, mapping);
}

bool
mu_snapshot_is_own(const struct mu_snapshot *snap, struct mu_range range)
{
	size_t i;

	for (i = 0; i < snap->num_own; i++) {
		if (snap->own[i].begin < range.end &&
		    snap->own[i].end > range.begin)
			return true;
	}
	return false;
}
