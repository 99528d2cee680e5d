#include "lib/symbolize/module_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "lib/symbolize/inlined.h"

/* libdwfl ends what it is given. */
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

/* Takes the file to be where we found it, or gives up. */
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
		mu_source_lines_fill(&symbols->lines, symbols->module);
	symbols->has_lines = true;
	return symbols->lines.count > 0;
}

static void
drop_inlined(struct mu_module_symbols *symbols)
{
	struct mu_module_inlined *given;

	while ((given = SLIST_FIRST(&symbols->inlined)) != NULL) {
		SLIST_REMOVE_HEAD(&symbols->inlined, link);
		mu_inlined_free(given->list, given->count);
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
	symbol->function = mu_symbol_table_find(&symbols->table, address);
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
	list = mu_inlined_find(
	    &symbols->functions, unit, address - symbols->lines.bias, &count);
	given = list == NULL ? NULL : malloc(sizeof(*given));
	if (given == NULL) {
		mu_inlined_free(list, count);
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
