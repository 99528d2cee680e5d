#include "lib/symbolize/module_symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "lib/symbolize/demangled.h"
#include "lib/symbolize/symbols.h"
#include "lib/symbolize/unit_functions.h"

#define INLINED_MAX 32
#define DEPTH_MAX 256 /* of nested blocks and calls */

/*
 * Functions without a frame, because the compiler has inlined them.
 */

/* The linkage name if there is one. Free it. */
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
 * Find the child of PARENT that contains ADDRESS and may be, or contain, a
 * call.
 */
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

/* List the inlined functions from FUNCTION inwards; returns their number. */
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

/*
 * The inlined functions at ADDRESS (as in the debug information) in the
 * compilation UNIT: an array of *COUNT elements, innermost first, freed by
 * inlined_free(). NULL: none, or no memory.
 */
static struct mu_inlined *
inlined_find(struct mu_unit_functions *functions, Dwarf_Die *unit,
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

static void
inlined_free(struct mu_inlined *list, size_t count)
{
	size_t i;

	for (i = 0; list != NULL && i < count; i++)
		free((char *)list[i].function);
	free(list);
}

/* libdwfl takes over the ELF handle. */
static int
find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
    char **path, Elf **elf)
{
	struct mu_debug_search *search = *user;
	struct mu_module_symbols *symbols =
	    (struct mu_module_symbols *)(void *)((char *)search -
		offsetof(struct mu_module_symbols, search));

	(void)module;
	(void)name;
	(void)base;
	*path = strdup(search->path == NULL ? search->name : search->path);
	*elf = symbols->file.elf;
	symbols->file.elf = NULL;
	return -1;
}

/* Use the file at the address that we found, or give up. */
static bool
report(struct mu_module_symbols *symbols, const struct mu_elf_file *file)
{
	GElf_Addr bias;
	void **user;

	symbols->dwfl = dwfl_begin(&symbols->callbacks);
	if (symbols->dwfl == NULL || file->base >= file->end)
		return false;
	dwfl_report_begin(symbols->dwfl);
	symbols->module = dwfl_report_module(
	    symbols->dwfl, symbols->search.name, file->base, file->end);
	if (dwfl_report_end(symbols->dwfl, NULL, NULL) != 0 ||
	    symbols->module == NULL ||
	    dwfl_module_info(symbols->module, &user, NULL, NULL, NULL, NULL,
		NULL, NULL) == NULL)
		return false;
	*user = &symbols->search;
	return dwfl_module_getelf(symbols->module, &bias) != NULL &&
	    bias == file->bias;
}

void
mu_module_symbols_open(struct mu_module_symbols *symbols,
    const struct mu_symbols_source *source,
    const struct mu_subject_files *subject, const struct mu_loaded *loaded,
    struct mu_debug_files *files)
{
	struct mu_elf_file *file = &symbols->file;

	symbols->opened = true;
	symbols->has_lines = source->bare;
	symbols->stage = MU_MODULE_FILE;
	mu_elf_file_open(file, source,
	    symbols->limit < MU_SYMBOLS_NO_FILES ? subject : NULL, loaded);
	symbols->stage = MU_MODULE_NAMES;
	symbols->search = (struct mu_debug_search) {
		.files = files,
		.name = loaded->first->name,
		.path = file->path,
		.none = symbols->limit >= MU_SYMBOLS_NO_DEBUG,
	};
	symbols->callbacks = (Dwfl_Callbacks) {
		.find_elf = find_elf,
		.find_debuginfo = mu_debug_file_find,
	};
	if (file->elf == NULL || symbols->limit >= MU_SYMBOLS_NO_NAMES)
		return;
	if (report(symbols, file))
		mu_symbol_table_fill(
		    &symbols->table, symbols->module, file->end);
	else
		symbols->module = NULL;
}

bool
mu_module_symbols_has_lines(struct mu_module_symbols *symbols)
{
	symbols->stage = MU_MODULE_LINES;
	if (!symbols->has_lines && symbols->module != NULL &&
	    symbols->limit < MU_SYMBOLS_NO_DEBUG)
		mu_source_lines_open(&symbols->lines, symbols->module);
	symbols->has_lines = true;
	return symbols->lines.any;
}

static void
drop_inlined(struct mu_module_symbols *symbols)
{
	struct mu_module_inlined *given;

	while ((given = SLIST_FIRST(&symbols->inlined)) != NULL) {
		SLIST_REMOVE_HEAD(&symbols->inlined, link);
		inlined_free(given->list, given->count);
		free(given);
	}
}

bool
mu_module_symbols_find(struct mu_module_symbols *symbols,
    const struct mu_loaded *loaded, const struct mu_mapping *mapping,
    uintptr_t address, struct mu_symbol *symbol)
{
	const struct mu_elf_file *file = &symbols->file;
	Dwarf_Die *unit = NULL;
	bool has = mu_elf_file_has(file, mapping, address);

	if (mapping == NULL && !has)
		return false;
	*symbol = (struct mu_symbol) {
		.module = loaded->first->name,
		.build_id =
		    file->build_id.hex[0] == '\0' ? NULL : file->build_id.hex,
	};
	if (!has) {
		symbol->offset =
		    address - mapping->range.begin + mapping->offset;
		return true;
	}
	symbol->offset = address - file->bias;
	symbols->stage = MU_MODULE_NAMES;
	symbol->function =
	    mu_symbol_table_find(&symbols->table, address, &symbol->range);
	if (mapping != NULL && mapping->executable &&
	    mu_module_symbols_has_lines(symbols))
		mu_source_lines_find(&symbols->lines, address, &symbol->file,
		    &symbol->line, &unit);
	return true;
}

void
mu_module_symbols_inlined(struct mu_module_symbols *symbols, uintptr_t address,
    struct mu_symbol *symbol)
{
	struct mu_module_inlined *given;
	struct mu_inlined *list;
	Dwarf_Die *unit = NULL;
	const char *file;
	unsigned line;
	size_t count;

	if (!mu_module_symbols_has_lines(symbols) ||
	    !mu_source_lines_find(
		&symbols->lines, address, &file, &line, &unit))
		return;
	symbols->functions.module = symbols->module;
	if (!mu_unit_functions_known(&symbols->functions, unit)) {
		symbol->file = NULL;
		symbol->line = 0;
		return;
	}
	list = inlined_find(
	    &symbols->functions, unit, address - symbols->lines.bias, &count);
	given = list == NULL ? NULL : malloc(sizeof(*given));
	if (given == NULL) {
		inlined_free(list, count);
		return;
	}
	*given = (struct mu_module_inlined) { .list = list, .count = count };
	SLIST_INSERT_HEAD(&symbols->inlined, given, link);
	symbol->inlined = list;
	symbol->num_inlined = count;
}

void
mu_module_symbols_give_up(struct mu_module_symbols *symbols)
{
	symbols->lines = (struct mu_source_lines) { 0 };
	symbols->functions = (struct mu_unit_functions) { 0 };
	symbols->has_lines = true;
	if (symbols->stage == MU_MODULE_LINES)
		return;
	symbols->table = (struct mu_symbol_table) { 0 };
	symbols->module = NULL;
	symbols->dwfl = NULL;
	symbols->file.elf = NULL;
	symbols->file.path = NULL;
	symbols->file.image = NULL;
	if (symbols->stage == MU_MODULE_FILE)
		symbols->file = (struct mu_elf_file) { .fd = -1 };
}

void
mu_module_symbols_close(struct mu_module_symbols *symbols)
{
	if (!symbols->opened)
		return;
	mu_source_lines_close(&symbols->lines);
	mu_unit_functions_close(&symbols->functions);
	mu_symbol_table_close(&symbols->table);
	drop_inlined(symbols);
	if (symbols->dwfl != NULL)
		dwfl_end(symbols->dwfl);
	mu_elf_file_close(&symbols->file);
	symbols->opened = false;
}
