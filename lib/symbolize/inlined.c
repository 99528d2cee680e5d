/*
 * Inlined functions: see inlined.h.
 */
#include "lib/symbolize/inlined.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/symbolize/demangled.h"

#define INLINED_MAX 32

/* To be freed; the name that the linker would have, if there is one. */
static char *
name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *linkage = NULL, *name = dwarf_diename(die);
	char *written = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != NULL)
		linkage = dwarf_formstring(&attribute);
	if (linkage != NULL)
		written = mu_demangled(linkage);
	if (written == NULL && name != NULL)
		written = strdup(name);
	return written;
}

static unsigned
number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0 ||
	    value > INT32_MAX)
		return 0;
	return (unsigned)value;
}

static void
describe(struct mu_inlined *inlined, Dwarf_Die *die, Dwarf_Files *files)
{
	unsigned file = number_of(die, DW_AT_call_file);

	inlined->function = name_of(die);
	inlined->line = number_of(die, DW_AT_call_line);
	if (files != NULL)
		inlined->file = dwarf_filesrc(files, file, NULL, NULL);
}

/*
 * The scopes that contain an address are, from an inlined function outwards,
 * those that it was written in; those of its innermost entry lead to where it
 * has been put.
 */
static int
find_scopes(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
	Dwarf_Die *around = NULL, innermost;

	*scopes = NULL;
	if (dwarf_getscopes(unit, address, &around) <= 0)
		return 0;
	innermost = around[0];
	free(around);
	return dwarf_getscopes_die(&innermost, scopes);
}

struct mu_inlined *
mu_inlined_find(Dwarf_Die *unit, Dwarf_Addr address, size_t *count)
{
	struct mu_inlined *list = NULL;
	Dwarf_Files *files = NULL;
	Dwarf_Die *scopes;
	size_t num_files;
	int i, num = find_scopes(unit, address, &scopes);

	*count = 0;
	for (i = 0; i < num && *count < INLINED_MAX; i++) {
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			break;
		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		if (list == NULL) {
			list = calloc(INLINED_MAX, sizeof(*list));
			if (dwarf_getsrcfiles(unit, &files, &num_files) != 0)
				files = NULL;
		}
		if (list == NULL)
			break;
		describe(&list[(*count)++], &scopes[i], files);
	}
	free(scopes);
	return list;
}

void
mu_inlined_free(struct mu_inlined *list, size_t count)
{
	size_t i;

	for (i = 0; list != NULL && i < count; i++)
		free((char *)list[i].function);
	free(list);
}
