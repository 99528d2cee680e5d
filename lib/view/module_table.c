#include "lib/view/module_table.h"

#include <stdlib.h>
#include <string.h>

#include "heapwalk/subject/ranges.h"
#include "mu/array.h"
#include "mu/bisect.h"
#include "ptrace/live/mappings.h"

#define ARENA_LIMIT ((size_t)4 << 30) /* a mapping takes 32 bytes and more */

void
mu_module_table_open(struct mu_module_table *table)
{
	*table = (struct mu_module_table) { 0 };
	mu_arena_open(&table->arena, ARENA_LIMIT);
}

struct mu_module *
mu_module_table_add(
    struct mu_module_table *table, const struct mu_mapping *mapping)
{
	struct mu_module *module;

	if (!mu_array_room(
		table->mappings, table->count, table->max, 128, SIZE_MAX) ||
	    !mu_array_room(table->modules, table->count, table->max_modules,
		128, SIZE_MAX)) {
		table->no_memory = true;
		return NULL;
	}
	table->mappings[table->count] = *mapping;
	module = &table->modules[table->count++];
	*module = (struct mu_module) { 0 };
	return module;
}

bool
mu_module_table_maps_line(struct mu_module_table *table, struct mu_line line)
{
	struct mu_mapping *mapping;
	enum mu_status status;
	size_t count;

	/*
	 * The parser expects a newline; the byte behind the line may be
	 * written.
	 */
	*line.end = '\n';
	status = mu_mappings_parse(line.at, (size_t)(line.end + 1 - line.at),
	    &mapping, &count, &table->arena, NULL);
	table->no_memory |= status == MU_ERR_NO_MEMORY;
	return status == MU_OK && count == 1 &&
	    mu_module_table_add(table, mapping) != NULL;
}

static int
compare_ids(const void *a, const void *b)
{
	const struct mu_build_id *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order != 0 ? order : strcmp(x->hex, y->hex);
}

/* A module behind its mapping, so that they are sorted together. */
struct pair {
	struct mu_mapping mapping;
	struct mu_module module;
};

static int
compare_pairs(const void *a, const void *b)
{
	const struct mu_range *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* Lines mostly are in order. False: no memory. */
static bool
sort_mappings(struct mu_module_table *table)
{
	struct pair *pairs;
	size_t i;

	for (i = 1; i < table->count; i++) {
		if (table->mappings[i].range.begin <
		    table->mappings[i - 1].range.end)
			break;
	}
	if (i >= table->count)
		return true;
	pairs = calloc(table->count, sizeof(*pairs));
	if (pairs == NULL)
		return false;
	for (i = 0; i < table->count; i++)
		pairs[i] =
		    (struct pair) { table->mappings[i], table->modules[i] };
	qsort(pairs, table->count, sizeof(*pairs), compare_pairs);
	for (i = 0; i < table->count; i++) {
		table->mappings[i] = pairs[i].mapping;
		table->modules[i] = pairs[i].module;
	}
	free(pairs);
	return true;
}

static void
drop_overlaps(struct mu_module_table *table)
{
	size_t i, kept = 0;

	for (i = 0; i < table->count; i++) {
		if (kept > 0 &&
		    table->mappings[i].range.begin <
			table->mappings[kept - 1].range.end)
			continue;
		table->mappings[kept] = table->mappings[i];
		table->modules[kept++] = table->modules[i];
	}
	table->num_overlaps = table->count - kept;
	table->count = kept;
}

static struct mu_build_id *
find_id(const struct mu_module_table *table, const char *path)
{
	size_t low = 0;

	mu_bisect(low, table->num_ids, i, strcmp(table->ids[i].path, path) < 0);
	return low < table->num_ids && strcmp(table->ids[low].path, path) == 0
	    ? &table->ids[low]
	    : NULL;
}

void
mu_module_table_seal(struct mu_module_table *table)
{
	size_t i;

	if (table->num_ids > 0)
		qsort(table->ids, table->num_ids, sizeof(*table->ids),
		    compare_ids);
	table->no_memory |= !sort_mappings(table);
	if (table->no_memory)
		table->count = 0;
	drop_overlaps(table);
	for (i = 0; i < table->count; i++)
		table->modules[i].id = find_id(table, table->mappings[i].name);
}

size_t
mu_module_table_find(const struct mu_module_table *table, uintptr_t address)
{
	size_t at = mu_ranges_upper(
	    table->mappings, table->count, sizeof(*table->mappings), address);

	return at > 0 && address < table->mappings[at - 1].range.end
	    ? at - 1
	    : table->count;
}

void
mu_module_table_close(struct mu_module_table *table)
{
	free(table->mappings);
	free(table->modules);
	free(table->ids);
	mu_arena_close(&table->arena);
	*table = (struct mu_module_table) { 0 };
}
