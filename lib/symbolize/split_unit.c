#include "lib/symbolize/split_unit.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *
string_of(Dwarf_Die *unit, unsigned name, unsigned gnu_name)
{
	Dwarf_Attribute attribute;

	if (dwarf_attr(unit, name, &attribute) == NULL &&
	    dwarf_attr(unit, gnu_name, &attribute) == NULL)
		return NULL;
	return dwarf_formstring(&attribute);
}

/* Is there something else than a file? LENGTH: of FOLDER. */
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

/* libdw opens what has one of these names: a FIFO would stop it. */
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

bool
mu_split_unit(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Die *full)
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
	/* clang's has the functions too: -fsplit-dwarf-inlining. */
	*full = *unit;
	return dwarf_haschildren(unit) == 1;
}
