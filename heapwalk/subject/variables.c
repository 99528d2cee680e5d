#include "heapwalk/subject/variables.h"

#include <string.h>

#include "heapwalk/subject/classify.h"

/*
 * Variables of a browser take 10 MiB; searching this much takes 20 ms at most.
 */
#define SEARCH_MAX ((size_t)64 << 20)

/*
 * PART begins at a multiple of a word, as the variable does. AddressSanitizer
 * would report reads between variables.
 */
static __attribute__((noinline, no_sanitize_address)) uintptr_t
search_part(const struct mu_snapshot *snap, const struct mu_variable *variable,
    struct mu_range part)
{
	size_t size = mu_range_size(part), at;
	const char *view;
	uint64_t magic, word;

	memcpy(&magic, variable->magic, sizeof(magic));
	view = size >= variable->size ? mu_snapshot_view(snap, part.begin, size)
				      : NULL;
	if (view == NULL)
		return 0;
	for (at = 0; at <= size - variable->size; at += sizeof(word)) {
		memcpy(&word, view + at, sizeof(word));
		if (word == magic && variable->is(view + at))
			return part.begin + at;
	}
	return 0;
}

/*
 * An unmodified page cannot hold what the library wrote; a small library may
 * have no other.
 */
static uintptr_t
search_mapping(const struct mu_snapshot *snap,
    const struct mu_variable *variable, const struct mu_mapping *mapping,
    bool whole, size_t *left)
{
	struct mu_memory *memory = (struct mu_memory *)&snap->memory;
	struct mu_range rest = mapping->range, part;
	uintptr_t found;

	if (whole && mu_range_size(rest) <= *left) {
		*left -= mu_range_size(rest);
		return search_part(snap, variable, rest);
	}
	for (; mu_range_size(rest) > 0 &&
	     memory->ops->populated(memory, rest, &part);
	     rest.begin = part.end) {
		if (mu_range_size(part) > *left)
			return 0;
		*left -= mu_range_size(part);
		found = search_part(snap, variable, part);
		if (found != 0)
			return found;
	}
	return 0;
}

/* The file whose variables MAPPING holds; NULL if none. */
static const struct mu_mapping *
file_of(const struct mu_snapshot *snap, const struct mu_mapping *mapping)
{
	if (!mapping->readable || !mapping->writable || mapping->shared)
		return NULL;
	if (mapping->name[0] == '/')
		return mapping;
	/* .bss follows it and has no name. */
	if (mapping->name[0] != '\0' || mapping == snap->mappings ||
	    mapping[-1].range.end != mapping->range.begin ||
	    mapping[-1].name[0] != '/')
		return NULL;
	return &mapping[-1];
}

uintptr_t
mu_variable_find(
    const struct mu_snapshot *snap, const struct mu_variable *variable)
{
	const struct mu_mapping *end = snap->mappings + snap->num_mappings;
	const struct mu_mapping *mapping, *file;
	size_t left = SEARCH_MAX;
	uintptr_t found;
	bool own, others = false;

	do {
		for (mapping = snap->mappings; mapping < end; mapping++) {
			file = file_of(snap, mapping);
			if (file == NULL)
				continue;
			own = mu_starts_with(
			    mu_path_base(file->name), variable->library);
			if (own == others)
				continue;
			found =
			    search_mapping(snap, variable, mapping, own, &left);
			if (found != 0)
				return found;
		}
		others = !others;
	} while (others);
	return 0;
}
