/*
 * Names by a module table: see place_names.h.
 *
 * Runs in: the command.
 */
#include "lib/view/place_names.h"

#include <string.h>
#include <strings.h>

/* Any address of the main program: the lowest file, as loaders place it. */
static uintptr_t
program_address(const struct mu_module_table *modules)
{
	size_t i;

	for (i = 0; i < modules->count; i++) {
		if (modules->mappings[i].name[0] == '/')
			return modules->mappings[i].range.begin;
	}
	return 0;
}

bool
mu_place_names_open(struct mu_place_names *names,
    const struct mu_place_source *source, struct mu_notes *notes)
{
	struct mu_symbols_source symbols = {
		.mappings = source->modules->mappings,
		.num_mappings = source->modules->count,
		.exe = source->exe,
		.program = program_address(source->modules),
	};

	*names = (struct mu_place_names) { .source = *source, .notes = notes };
	names->here = mu_symbols_open(&symbols);
	if (names->here == NULL)
		return false;
	if (source->folder == NULL)
		return true;
	symbols.sysroot = source->folder;
	names->below = mu_symbols_open(&symbols);
	if (names->below == NULL)
		mu_place_names_close(names);
	return names->here != NULL;
}

void
mu_place_names_close(struct mu_place_names *names)
{
	mu_symbols_close(names->below);
	mu_symbols_close(names->here);
	names->below = names->here = NULL;
}

static bool
is_named(const struct mu_symbol *symbol)
{
	return symbol->function != NULL || symbol->file != NULL;
}

static void
tell_mismatch(struct mu_place_names *names, struct mu_build_id *id,
    const struct mu_symbol *symbol)
{
	if (id->told)
		return;
	id->told = true;
	mu_notes_add(names->notes,
	    "%s is of another build now (%.16s, the report has %.16s): its"
	    " names are not used",
	    id->path, symbol->build_id == NULL ? "none" : symbol->build_id,
	    id->hex);
}

/*
 * What SYMBOLS say of PC, if it is of the build that the report names. True:
 * nobody else need be asked.
 */
static bool
ask(struct mu_place_names *names, struct mu_symbols *symbols, uintptr_t pc,
    struct mu_build_id *id, struct mu_symbol *symbol)
{
	struct mu_symbol found;

	if (symbols == NULL || !mu_symbols_find(symbols, pc, &found) ||
	    (found.build_id == NULL && !is_named(&found)))
		return false;
	if (id != NULL &&
	    (found.build_id == NULL ||
		strcasecmp(found.build_id, id->hex) != 0)) {
		tell_mismatch(names, id, &found);
		return false;
	}
	*symbol = found;
	/* Another file of the same build may have more. */
	return is_named(symbol) || id == NULL;
}

static void
find_in_module(struct mu_place_names *names, size_t at, uintptr_t pc,
    struct mu_place *place)
{
	const struct mu_mapping *mapping = &names->source.modules->mappings[at];
	const struct mu_module *module = &names->source.modules->modules[at];
	struct mu_symbol symbol = { 0 };

	if (mapping->name[0] == '\0')
		return;
	place->module = mapping->name;
	place->offset = pc - mapping->range.begin + mapping->offset;
	if (!ask(names, names->below, pc, module->id, &symbol) &&
	    ask(names, names->here, pc, module->id, &symbol) &&
	    module->id == NULL && is_named(&symbol))
		names->num_unproved++;
	if (symbol.module != NULL)
		place->offset = symbol.offset;
	if (module->has_bias)
		place->offset = pc - module->bias;
	place->function = symbol.function;
	place->file = symbol.file;
	place->line = symbol.line;
}

static const char *
or_null(const char *text)
{
	return text[0] == '\0' ? NULL : text;
}

void
mu_place_names_find(
    struct mu_place_names *names, uintptr_t pc, struct mu_place *place)
{
	const struct mu_place_source *source = &names->source;
	const struct mu_frame_info *info =
	    mu_frame_infos_find(source->infos, source->num_infos, pc);
	size_t at = mu_module_table_find(source->modules, pc);

	*place = (struct mu_place) { .offset = pc };
	if (at < source->modules->count)
		find_in_module(names, at, pc, place);
	if (info == NULL)
		return;
	if (place->module == NULL && info->module[0] != '\0') {
		place->module = info->module;
		place->offset = (uintptr_t)info->offset;
	}
	if (place->function == NULL)
		place->function = or_null(info->function);
}
