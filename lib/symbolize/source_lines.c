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

static void
list(struct mu_source_lines *lines)
{
	Dwarf_Addr base, begin, end;
	Dwarf_Die *unit = NULL;
	ptrdiff_t at;

	lines->listed = true;
	while ((unit = dwfl_module_nextcu(lines->module, unit, &lines->bias)) !=
	    NULL) {
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

void
mu_source_lines_open(struct mu_source_lines *lines, Dwfl_Module *module)
{
	Dwarf_Aranges *aranges;
	size_t count = 0;
	Dwarf *dwarf;

	*lines = (struct mu_source_lines) { .module = module };
	dwarf = dwfl_module_getdwarf(module, &lines->bias);
	if (dwarf == NULL)
		return;
	lines->any =
	    dwarf_getaranges(dwarf, &aranges, &count) == 0 && count > 0;
	if (!lines->any) {
		list(lines);
		lines->any = lines->count > 0;
	}
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

static bool
find_listed(const struct mu_source_lines *lines, Dwarf_Addr address,
    const char **file, unsigned *line, Dwarf_Die **unit)
{
	size_t steps,
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

bool
mu_source_lines_find(struct mu_source_lines *lines, Dwarf_Addr address,
    const char **file, unsigned *line, Dwarf_Die **unit)
{
	Dwarf_Addr bias;

	if (!lines->any)
		return false;
	if (!lines->listed) {
		*unit = dwfl_module_addrdie(lines->module, address, &bias);
		if (*unit != NULL &&
		    find_line(*unit, address - lines->bias, file, line))
			return true;
		list(lines);
	}
	return find_listed(lines, address - lines->bias, file, line, unit);
}

void
mu_source_lines_close(struct mu_source_lines *lines)
{
	free(lines->ranges);
	*lines = (struct mu_source_lines) { 0 };
}
