#include "lib/symbolize/unit_functions.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <search.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heapwalk/subject/ranges.h"
#include "mu/array.h"
#include "mu/range.h"

#define FUNCTIONS_MAX ((size_t)1 << 22) /* in one unit */
#define DEPTH_MAX 16                    /* of nested namespaces and classes */
#define STEPS_MAX 16 /* back from an address; functions do not overlap */

struct function {
	struct mu_range range; /* must come first: mu_ranges_upper() */
	Dwarf_Die die;
};

struct unit {
	Dwarf_Die *die;
	struct function *functions; /* by begin */
	size_t count, max;
	bool known;
};

/*
 * Split compilation units (DWARF 5, 3.1.2; gcc's -gsplit-dwarf): the program
 * has a skeleton with lines, and a .dwo file has the functions. libdw looks for
 * it by name in the folder of the program or of the compilation.
 */

static const char *
string_of(Dwarf_Die *unit, unsigned name, unsigned gnu_name)
{
	Dwarf_Attribute attribute;

	if (dwarf_attr(unit, name, &attribute) == NULL &&
	    dwarf_attr(unit, gnu_name, &attribute) == NULL)
		return NULL;
	return dwarf_formstring(&attribute);
}

/*
 * True if the name exists but is not a regular file. LENGTH is that of FOLDER.
 */
static bool
is_odd(const char *folder, size_t length, const char *inner, const char *name)
{
	char path[2 * PATH_MAX];
	struct stat about;
	int size = snprintf(
	    path, sizeof(path), "%.*s/%s/%s", (int)length, folder, inner, name);

	return size < 0 || (size_t)size >= sizeof(path) ||
	    (stat(path, &about) == 0 && !S_ISREG(about.st_mode));
}

static bool
is_odd_near(const char *file, const char *inner, const char *name)
{
	const char *slash = file == NULL ? NULL : strrchr(file, '/');

	return slash != NULL &&
	    (is_odd(file, (size_t)(slash - file), "", name) ||
		is_odd(file, (size_t)(slash - file), inner, name));
}

/* libdw opens whatever has one of these names; a FIFO would block it. */
static bool
may_be_opened(Dwfl_Module *module, Dwarf_Die *unit)
{
	const char *name = string_of(unit, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
	const char *folder = string_of(unit, DW_AT_comp_dir, DW_AT_comp_dir);
	const char *file = NULL, *debug = NULL;

	if (name == NULL)
		return false;
	if (folder == NULL)
		folder = "";
	if (name[0] == '/')
		return !is_odd("", 0, "", name);
	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, &debug);
	return !is_odd("", 0, folder, name) &&
	    !is_odd_near(file, folder, name) &&
	    !is_odd_near(debug, folder, name);
}

/*
 * The unit with the functions of UNIT, of MODULE: another one if UNIT is a
 * skeleton. Returns false if they are in a file that cannot be read, or is not
 * regular.
 */
static bool
split_unit(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Die *full)
{
	Dwarf_Half version;
	uint8_t type;

	*full = *unit;
	if (dwarf_cu_info(
		unit->cu, &version, &type, NULL, NULL, NULL, NULL, NULL) != 0 ||
	    type != DW_UT_skeleton)
		return true;
	if (may_be_opened(module, unit) &&
	    dwarf_cu_info(
		unit->cu, &version, &type, NULL, full, NULL, NULL, NULL) == 0 &&
	    full->addr != NULL)
		return true;
	/* clang's skeletons have the functions too: -fsplit-dwarf-inlining. */
	*full = *unit;
	return dwarf_haschildren(unit) == 1;
}

static void
add_range(struct unit *unit, const Dwarf_Die *die, struct mu_range range)
{
	if (range.begin < range.end &&
	    mu_array_room(
		unit->functions, unit->count, unit->max, 64, FUNCTIONS_MAX))
		unit->functions[unit->count++] =
		    (struct function) { range, *die };
}

static void
add_function(struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &begin, &end)) > 0)
		add_range(unit, die, (struct mu_range) { begin, end });
}

/*
 * True for entries that may contain functions; a function inside a function is
 * nested or belongs to a class.
 */
static bool
holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
	    tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	    tag == DW_TAG_union_type || tag == DW_TAG_subprogram ||
	    tag == DW_TAG_lexical_block;
}

/* Recurses: namespaces in namespaces. */
static void
add_children(struct unit *unit, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	int tag;

	if (depth == DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram)
			add_function(unit, &die);
		if (holds_functions(tag))
			add_children(unit, &die, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static int
compare_units(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return (x->die > y->die) - (x->die < y->die);
}

static void
free_unit(void *unit)
{
	free(((struct unit *)unit)->functions);
	free(unit);
}

static struct unit *
unit_of(struct mu_unit_functions *functions, Dwarf_Die *die)
{
	struct unit key = { .die = die }, *unit, **node;
	Dwarf_Die full;

	node = tfind(&key, &functions->units, compare_units);
	if (node != NULL)
		return *node;
	unit = calloc(1, sizeof(*unit));
	if (unit == NULL)
		return NULL;
	unit->die = die;
	if (tsearch(unit, &functions->units, compare_units) == NULL) {
		free(unit);
		return NULL;
	}
	unit->known = split_unit(functions->module, die, &full);
	if (unit->known)
		add_children(unit, &full, 0);
	if (unit->count > 0)
		qsort(unit->functions, unit->count, sizeof(*unit->functions),
		    mu_range_compare);
	return unit;
}

bool
mu_unit_functions_find(struct mu_unit_functions *functions, Dwarf_Die *die,
    Dwarf_Addr address, Dwarf_Die *function)
{
	struct unit *unit = unit_of(functions, die);
	size_t at, steps;

	if (unit == NULL)
		return false;
	at = mu_ranges_upper(
	    unit->functions, unit->count, sizeof(*unit->functions), address);
	for (steps = 0; at > 0 && steps < STEPS_MAX; steps++) {
		at--;
		if (address < unit->functions[at].range.end) {
			*function = unit->functions[at].die;
			return true;
		}
	}
	return false;
}

bool
mu_unit_functions_known(struct mu_unit_functions *functions, Dwarf_Die *die)
{
	const struct unit *unit = unit_of(functions, die);

	return unit != NULL && unit->known;
}

void
mu_unit_functions_close(struct mu_unit_functions *functions)
{
	tdestroy(functions->units, free_unit);
	*functions = (struct mu_unit_functions) { 0 };
}
