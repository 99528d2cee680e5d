#include "lib/view/module_table.h"

#include <stdlib.h>
#include <string.h>

#include "heapwalk/subject/ranges.h"
#include "mu/array.h"
#include "mu/bisect.h"
#include "ptrace/live/mappings.h"

#define ARENA_LIMIT ((size_t)4 << 30) /* a mapping takes 32 bytes and more */

/*
 * Lines that begin with '#': what a recorder says about modules and itself. See
 * module_table.h.
 */

static bool
is_hex(struct mu_line word)
{
	uint64_t value;

	for (; word.at < word.end; word.at++) {
		if (!mu_line_number(
			(struct mu_line) { word.at, word.at + 1 }, 16, &value))
			return false;
	}
	return true;
}

/* The kernel's seq_path() writes a newline as \012. */
static void
unescape(char *text)
{
	char *to = text;

	while (*text != '\0') {
		if (strncmp(text, "\\012", 4) == 0) {
			*to++ = '\n';
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

static bool
add_id(struct mu_module_table *table, struct mu_line hex, char *path)
{
	if (mu_line_is(hex, "-"))
		return true;
	if (!is_hex(hex))
		return false;
	if (!mu_array_room(
		table->ids, table->num_ids, table->max_ids, 128, SIZE_MAX)) {
		table->no_memory = true;
		return false;
	}
	table->ids[table->num_ids++] =
	    (struct mu_build_id) { path, mu_line_string(hex), false };
	return true;
}

/* The rest of LINE after blanks; NULL if empty. */
static char *
take_path(struct mu_line line)
{
	while (line.at < line.end && *line.at == ' ')
		line.at++;
	if (line.at == line.end || mu_line_has_nul(line))
		return NULL;
	mu_line_string(line);
	unescape(line.at);
	return line.at;
}

static bool
take_build_id(struct mu_module_table *table, struct mu_line line)
{
	struct mu_line hex;
	char *path;

	return mu_line_field(&line, &hex) && (path = take_path(line)) != NULL &&
	    add_id(table, hex, path);
}

/* "7f1c2a5d5000-7f1c2a72a000" */
static bool
take_range(struct mu_line word, struct mu_range *range)
{
	char *dash = memchr(word.at, '-', (size_t)(word.end - word.at));
	uint64_t begin, end;

	if (dash == NULL ||
	    !mu_line_number((struct mu_line) { word.at, dash }, 16, &begin) ||
	    !mu_line_number((struct mu_line) { dash + 1, word.end }, 16, &end))
		return false;
	*range = (struct mu_range) { (uintptr_t)begin, (uintptr_t)end };
	return begin < end;
}

static bool
take_module(struct mu_module_table *table, struct mu_line line, bool mappings)
{
	struct mu_mapping mapping = { .readable = true, .executable = true };
	struct mu_line range, offset, bias, hex;
	struct mu_module *module;
	uint64_t value;
	char *path;

	if (!mu_line_field(&line, &range) || !mu_line_field(&line, &offset) ||
	    !mu_line_field(&line, &bias) || !mu_line_field(&line, &hex) ||
	    !take_range(range, &mapping.range) ||
	    !mu_line_number(offset, 16, &mapping.offset) ||
	    !mu_line_number(bias, 16, &value) ||
	    (path = take_path(line)) == NULL || !add_id(table, hex, path))
		return false;
	if (!mappings)
		return true;
	mapping.name = path;
	module = mu_module_table_add(table, &mapping);
	if (module == NULL)
		return false;
	module->bias = (uintptr_t)value;
	module->has_bias = true;
	return true;
}

static void
keep_remark(struct mu_module_table *table, struct mu_line line)
{
	if (mu_line_has_nul(line))
		return;
	if (table->num_remarks < MU_REMARKS_MAX)
		table->remarks[table->num_remarks++] = mu_line_string(line);
	table->incomplete |= mu_line_skip(&line, "incomplete");
}

bool
mu_module_table_remark(
    struct mu_module_table *table, struct mu_line line, bool mappings)
{
	struct mu_line word;

	if (!mu_line_skip(&line, "# ") || !mu_line_field(&line, &word))
		return true;
	if (mu_line_is(word, "module"))
		return take_module(table, line, mappings);
	/* An unloaded module is in no list of mappings. */
	if (mu_line_is(word, "unloaded"))
		return take_module(table, line, true);
	if (mu_line_is(word, "build-id"))
		return take_build_id(table, line);
	line.at = word.at;
	keep_remark(table, line);
	return true;
}

void
mu_module_table_note(
    const struct mu_module_table *table, struct mu_notes *notes)
{
	size_t i;

	for (i = 0; i < table->num_remarks; i++)
		mu_notes_add(notes, "the recorder says: %s", table->remarks[i]);
}

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
	 * The parser expects a newline; the byte after the line may be written.
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

/* A mapping with its module, so that they are sorted together. */
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

/* Lines are usually in order. Returns false without memory. */
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
