#include "lib/symbolize/inlined.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/symbolize/demangled.h"

#define INLINED_MAX 32
#define DEPTH_MAX 256 /* of blocks and calls in each other */

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

/* The child of PARENT that ADDRESS is in and that may be, or have, a call. */
static bool
find_child(Dwarf_Die *parent, Dwarf_Addr address, Dwarf_Die *child)
{
	int tag;

	if (dwarf_child(parent, child) != 0)
		return false;
	do {
		tag = dwarf_tag(child);
		if ((tag == DW_TAG_inlined_subroutine ||
			tag == DW_TAG_lexical_block ||
			tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
		    dwarf_haspc(child, address) == 1)
			return true;
	} while (dwarf_siblingof(child, child) == 0);
	return false;
}

/* From FUNCTION inwards: those that were put in; how many. */
static size_t
find_calls(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *calls)
{
	Dwarf_Die around = *function, child;
	size_t count = 0, depth;

	for (depth = 0; depth < DEPTH_MAX && count < INLINED_MAX &&
	     find_child(&around, address, &child);
	     depth++) {
		around = child;
		if (dwarf_tag(&child) == DW_TAG_inlined_subroutine)
			calls[count++] = child;
	}
	return count;
}

struct mu_inlined *
mu_inlined_find(struct mu_unit_functions *functions, Dwarf_Die *unit,
    Dwarf_Addr address, size_t *count)
{
	Dwarf_Die function, full, calls[INLINED_MAX];
	struct mu_inlined *list;
	Dwarf_Files *files = NULL;
	size_t i, num_files;

	*count = 0;
	if (!mu_unit_functions_find(functions, unit, address, &function))
		return NULL;
	*count = find_calls(&function, address, calls);
	list = *count == 0 ? NULL : calloc(*count, sizeof(*list));
	if (list == NULL) {
		*count = 0;
		return NULL;
	}
	/* A split unit has a separate table of files. */
	if (dwarf_diecu(&function, &full, NULL, NULL) == NULL ||
	    dwarf_getsrcfiles(&full, &files, &num_files) != 0)
		files = NULL;
	for (i = 0; i < *count; i++)
		describe(&list[i], &calls[*count - 1 - i], files);
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
