#include "lib/symbolize/source_lines.h"

#include <stdint.h>
#include <stdlib.h>

#include "heapwalk/subject/ranges.h"
#include "mu/array.h"

#define RANGES_MAX ((size_t)1 << 23) /* a browser has one per function */
#define STEPS_MAX 16 /* back from an address; units do not overlap */

static bool
add_range(struct mu_source_lines *lines, Dwarf_Addr begin, Dwarf_Addr end,
    Dwarf_Die *unit)
{
	/* Code that the linker dropped (--gc-sections) has address 0. */
	if (begin == 0 || begin >= end)
		return true;
	if (!mu_array_room(
		lines->ranges, lines->count, lines->max, 256, RANGES_MAX))
		return false;
	lines->ranges[lines->count++] =
	    (struct mu_unit_range) { { begin, end }, unit };
	return true;
}

static int
compare(const void *a, const void *b)
{
	const struct mu_unit_range *x = a, *y = b;

	if (x->range.begin != y->range.begin)
		return x->range.begin < y->range.begin ? -1 : 1;
	return (x->range.end > y->range.end) - (x->range.end < y->range.end);
}

void
mu_source_lines_fill(struct mu_source_lines *lines, Dwfl_Module *module)
{
	Dwarf_Addr base, begin, end;
	Dwarf_Die *unit = NULL;
	ptrdiff_t at;

	*lines = (struct mu_source_lines) { 0 };
	if (dwfl_module_getdwarf(module, &lines->bias) == NULL)
		return;
	while (
	    (unit = dwfl_module_nextcu(module, unit, &lines->bias)) != NULL) {
		at = 0;
		while ((at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0) {
			if (!add_range(lines, begin, end, unit))
				break;
		}
	}
	if (lines->count > 0)
		qsort(lines->ranges, lines->count, sizeof(*lines->ranges),
		    compare);
}

static bool
find_line(
    Dwarf_Die *unit, Dwarf_Addr address, const char **file, unsigned *number)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int lineno;

	if (line == NULL || dwarf_lineno(line, &lineno) != 0 || lineno <= 0)
		return false;
	*file = dwarf_linesrc(line, NULL, NULL);
	if (*file == NULL)
		return false;
	*number = (unsigned)lineno;
	return true;
}

bool
mu_source_lines_find(const struct mu_source_lines *lines, Dwarf_Addr address,
    const char **file, unsigned *line, Dwarf_Die **unit)
{
	size_t at, steps;

	address -= lines->bias;
	at = mu_ranges_upper(
	    lines->ranges, lines->count, sizeof(*lines->ranges), address);
	for (steps = 0; at > 0 && steps < STEPS_MAX; steps++) {
		at--;
		*unit = lines->ranges[at].unit;
		if (address < lines->ranges[at].range.end &&
		    find_line(*unit, address, file, line))
			return true;
	}
	return false;
}

void
mu_source_lines_close(struct mu_source_lines *lines)
{
	free(lines->ranges);
	*lines = (struct mu_source_lines) { 0 };
}
