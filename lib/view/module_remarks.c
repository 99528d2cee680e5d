/*
 * Lines that begin with '#': what a recorder says of modules, and of itself.
 * See module_table.h.
 *
 * Pure.
 */
#include <string.h>

#include "lib/view/module_table.h"
#include "mu/array.h"

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

/* seq_path() of the kernel's writes a newline as \012. */
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

/* The rest of LINE, behind blanks; NULL: there is none. */
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
	/* That is in no list of mappings. */
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
