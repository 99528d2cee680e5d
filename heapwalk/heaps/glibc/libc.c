#include "heapwalk/heaps/glibc/libc.h"

#include "heapwalk/subject/classify.h"

bool
mu_libc_is_named(const struct mu_mapping *mapping)
{
	const char *name = mu_path_base(mapping->name);

	return mu_starts_with(name, "libc.so.6") ||
	    mu_starts_with(name, "libc-2.");
}

bool
mu_libc_is_mapped(const struct mu_snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->num_mappings; i++)
		if (mu_libc_is_named(&snap->mappings[i]))
			return true;
	return false;
}

/*
 * The loader maps the start of the file first, so a load extends from one such
 * mapping to the next.
 */
static struct mu_libc
load_of(const struct mu_snapshot *snap, const struct mu_mapping *mapping)
{
	struct mu_libc load = { mapping, { 0, UINTPTR_MAX } };
	const struct mu_mapping *end = snap->mappings + snap->num_mappings;
	const struct mu_mapping *other;

	for (other = snap->mappings; other < end; other++) {
		if (other->offset != 0 || !mu_mapping_same_file(other, mapping))
			continue;
		if (other->range.begin > mapping->range.begin) {
			load.range.end = other->range.begin;
			break;
		}
		load.range.begin = other->range.begin;
	}
	return load;
}

static size_t
add_load(const struct mu_snapshot *snap, const struct mu_mapping *mapping,
    struct mu_libc *libcs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (mu_mapping_same_file(libcs[i].file, mapping) &&
		    mu_range_has(libcs[i].range, mapping->range.begin))
			return count;
	}
	if (count < MU_LIBCS_MAX)
		libcs[count++] = load_of(snap, mapping);
	return count;
}

size_t
mu_libcs_find(const struct mu_snapshot *snap, struct mu_libc *libcs)
{
	const struct mu_mapping *given = NULL;
	size_t i, count = 0;

	if (snap->libc_address != 0)
		given = mu_snapshot_mapping(snap, snap->libc_address);
	if (given != NULL && given->inode != 0)
		count = add_load(snap, given, libcs, count);
	/* A debugger or another reader of the file maps no code. */
	for (i = 0; i < snap->num_mappings; i++) {
		if (snap->mappings[i].executable &&
		    mu_libc_is_named(&snap->mappings[i]))
			count =
			    add_load(snap, &snap->mappings[i], libcs, count);
	}
	if (count == 0)
		libcs[count++] = (struct mu_libc) { NULL, { 0, UINTPTR_MAX } };
	return count;
}

bool
mu_libc_has_data(const struct mu_libc *libc, const struct mu_mapping *mapping)
{
	return mapping->readable && mapping->writable && !mapping->shared &&
	    mapping->inode != 0 &&
	    (libc->file == NULL ||
		(mu_range_has(libc->range, mapping->range.begin) &&
		    mu_mapping_same_file(libc->file, mapping)));
}
