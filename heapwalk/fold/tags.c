#include "heapwalk/fold/tags.h"

#include <string.h>

#include "heapwalk/subject/classify.h"
#include "mu/bisect.h"

/* Libraries that allocate for their callers. */
static bool
is_runtime(const char *path)
{
	static const char *const names[] = { "libc.so", "libc-2.", "libstdc++.",
		"libc++", "libgcc_s.", "ld-linux", "libmemunreachable",
		"libpthread", NULL };
	const char *base = mu_path_base(path);
	size_t i;

	for (i = 0; names[i] != NULL; i++)
		if (mu_starts_with(base, names[i]))
			return true;
	return false;
}

static uint64_t
hash_name(const char *name)
{
	uint64_t hash = 1;

	for (; *name != '\0'; name++)
		hash = mu_tags_mix(hash, (unsigned char)*name);
	return hash;
}

/*
 * Add the file that is mapped from MAPPING on, if it is a module. Returns the
 * first mapping behind its run.
 */
static const struct mu_mapping *
add_module(struct mu_tags *tags, const struct mu_mapping *mapping,
    const struct mu_mapping *end)
{
	const struct mu_mapping *next = mapping;
	struct mu_range range = mapping->range;
	bool executable = false;

	for (; next < end && strcmp(next->name, mapping->name) == 0; next++) {
		executable |= next->executable;
		range.end = next->range.end;
	}
	if (executable && mapping->name[0] == '/')
		tags->modules[tags->num_modules++] =
		    (struct mu_tag_module) { range, hash_name(mapping->name),
			    is_runtime(mapping->name) };
	return next;
}

bool
mu_tags_open(struct mu_tags *tags, const struct mu_snapshot *snap,
    struct mu_arena *arena)
{
	const struct mu_mapping *mapping, *end;

	*tags = (struct mu_tags) { .snap = snap };
	if (snap == NULL)
		return true;
	tags->memory = (struct mu_memory *)&snap->memory;
	tags->modules = mu_arena_alloc(
	    arena, snap->num_mappings + 1, sizeof(*tags->modules));
	if (tags->modules == NULL)
		return false;
	end = snap->mappings + snap->num_mappings;
	for (mapping = snap->mappings; mapping < end;)
		mapping = add_module(tags, mapping, end);
	if (tags->num_modules > 0)
		tags->envelope =
		    (struct mu_range) { tags->modules[0].range.begin,
			    tags->modules[tags->num_modules - 1].range.end };
	return true;
}

const struct mu_tag_module *
mu_tags_module(const struct mu_tags *tags, uintptr_t address)
{
	size_t low = 0;

	if (!mu_range_has(tags->envelope, address))
		return NULL;
	mu_bisect(
	    low, tags->num_modules, i, tags->modules[i].range.end <= address);
	return low < tags->num_modules &&
		mu_range_has(tags->modules[low].range, address)
	    ? &tags->modules[low]
	    : NULL;
}

/* True if the word at ADDRESS is an address in executable memory. */
static bool
points_to_code(const struct mu_tags *tags, uintptr_t address)
{
	const struct mu_mapping *mapping =
	    mu_snapshot_mapping(tags->snap, address);
	struct mu_memory *memory = tags->memory;
	uintptr_t word;
	const void *view;

	if (mapping == NULL || !mapping->readable)
		return false;
	view = memory->ops->peek != NULL
	    ? memory->ops->peek(memory, address, sizeof(word), &word)
	    : memory->ops->view(memory, address, sizeof(word));
	if (view == NULL)
		return false;
	memcpy(&word, view, sizeof(word));
	mapping = mu_tags_module(tags, word) == NULL
	    ? NULL
	    : mu_snapshot_mapping(tags->snap, word);
	return mapping != NULL && mapping->executable;
}

bool
mu_tags_has(struct mu_tags *tags, uintptr_t word)
{
	size_t slot = (word * 0x9e3779b97f4a7c15ull >> 32) & (MU_TAGS_KEPT - 1);

	if (word % sizeof(word) != 0 || mu_tags_module(tags, word) == NULL)
		return false;
	if (tags->kept[slot].word != word) {
		tags->kept[slot].word = word;
		tags->kept[slot].is_tag = points_to_code(tags, word);
	}
	return tags->kept[slot].is_tag;
}

uint64_t
mu_tags_key(const struct mu_tags *tags, uintptr_t address)
{
	const struct mu_tag_module *module = mu_tags_module(tags, address);

	return module == NULL
	    ? mu_tags_mix(0, address)
	    : mu_tags_mix(module->name, address - module->range.begin);
}
