#include "lib/view/locations.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mu/bisect.h"
#include "mu/sys.h"

#define PATIENCE_NS (60 * MU_NS_PER_SEC) /* to find the names of one report */

/* Any address of the main program, which loaders place lowest. */
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

static void
begin(struct mu_location_asked *asked, const struct mu_location_source *source,
    const char *folder)
{
	*asked = (struct mu_location_asked) {
		.source = {
			.mappings = source->modules->mappings,
			.num_mappings = source->modules->count,
			.exe = source->exe,
			.sysroot = folder,
			.program = program_address(source->modules),
		},
	};
	if (source->report != NULL)
		asked->helper.rights = mu_rights_of_file(source->report);
}

void
mu_locations_open(struct mu_locations *names,
    const struct mu_location_source *source, struct mu_notes *notes)
{
	*names = (struct mu_locations) { .source = *source, .notes = notes };
	begin(&names->here, source, NULL);
	if (source->folder != NULL)
		begin(&names->below, source, source->folder);
}

static void
end(struct mu_location_asked *asked)
{
	mu_symbol_helper_close(&asked->helper);
	free(asked->questions);
	free(asked->answers);
	*asked = (struct mu_location_asked) { .count = 0 };
}

void
mu_locations_close(struct mu_locations *names)
{
	end(&names->below);
	end(&names->here);
}

static bool
is_named(const struct mu_symbol *symbol)
{
	return symbol->function != NULL || symbol->file != NULL;
}

/* NULL if PC was not asked for. */
static const struct mu_symbol *
answer_of(const struct mu_location_asked *asked, uintptr_t pc)
{
	size_t low = 0;

	mu_bisect(low, asked->count, i, asked->questions[i].address < pc);
	if (low == asked->count || asked->questions[low].address != pc ||
	    asked->answers[low].symbol.module == NULL)
		return NULL;
	return &asked->answers[low].symbol;
}

static void
report_mismatch(struct mu_locations *names, struct mu_build_id *id,
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
 * Use the answer for PC, if it comes from the build that the report names.
 * Returns true if no other source need be asked.
 */
static bool
take(struct mu_locations *names, const struct mu_location_asked *asked,
    uintptr_t pc, struct mu_build_id *id, struct mu_symbol *symbol)
{
	const struct mu_symbol *found = answer_of(asked, pc);

	if (found == NULL || (found->build_id == NULL && !is_named(found)))
		return false;
	if (id != NULL &&
	    (found->build_id == NULL ||
		strcasecmp(found->build_id, id->hex) != 0)) {
		report_mismatch(names, id, found);
		return false;
	}
	*symbol = *found;
	/* Another file of the same build may have more. */
	return is_named(symbol) || id == NULL;
}

static struct mu_build_id *
id_of(const struct mu_locations *names, uintptr_t pc)
{
	const struct mu_module_table *modules = names->source.modules;
	size_t at = mu_module_table_find(modules, pc);

	return at < modules->count ? modules->modules[at].id : NULL;
}

/* Ask for those of PCS that BEFORE, if not NULL, has not answered. */
static bool
ask(struct mu_locations *names, struct mu_location_asked *asked,
    const struct mu_location_asked *before, const uintptr_t *pcs, size_t count)
{
	struct mu_symbol ignored;
	size_t i;

	asked->helper.source = &asked->source;
	asked->questions = calloc(count + 1, sizeof(*asked->questions));
	asked->answers = calloc(count + 1, sizeof(*asked->answers));
	if (asked->questions == NULL || asked->answers == NULL)
		return false;
	for (i = 0; i < count; i++) {
		if (before == NULL ||
		    !take(
			names, before, pcs[i], id_of(names, pcs[i]), &ignored))
			asked->questions[asked->count++] =
			    (struct mu_symbol_question) { .address = pcs[i],
				    .call = true };
	}
	if (!mu_symbol_helper_ask(&asked->helper, asked->questions,
		asked->answers, asked->count, mu_sys_now_ns() + PATIENCE_NS))
		mu_notes_add(names->notes, "names are incomplete: %s",
		    asked->helper.why);
	return true;
}

bool
mu_locations_ask(struct mu_locations *names, const uintptr_t *pcs, size_t count)
{
	bool below = names->source.folder != NULL;

	if (below && !ask(names, &names->below, NULL, pcs, count))
		return false;
	return ask(
	    names, &names->here, below ? &names->below : NULL, pcs, count);
}

/* From the call that SYMBOL's file and line belong to, outwards. */
static size_t
put_locations(const struct mu_symbol *symbol, struct mu_location *locations)
{
	size_t i;

	locations->function = mu_symbol_function(symbol, 0);
	locations->file = symbol->file;
	locations->line = symbol->line;
	for (i = 1; i <= symbol->num_inlined && i < MU_LOCATIONS_MAX; i++) {
		locations[i] = locations[0];
		locations[i].function = mu_symbol_function(symbol, i);
		locations[i].file = symbol->inlined[i - 1].file;
		locations[i].line = symbol->inlined[i - 1].line;
	}
	return i;
}

static size_t
find_in_module(struct mu_locations *names, size_t at, uintptr_t pc,
    struct mu_location *location)
{
	const struct mu_mapping *mapping = &names->source.modules->mappings[at];
	const struct mu_module *module = &names->source.modules->modules[at];
	struct mu_symbol symbol = { 0 };

	if (mapping->name[0] == '\0')
		return 1;
	location->module = mapping->name;
	location->offset = pc - mapping->range.begin + mapping->offset;
	if (!take(names, &names->below, pc, module->id, &symbol) &&
	    take(names, &names->here, pc, module->id, &symbol) &&
	    module->id == NULL && is_named(&symbol))
		names->num_unproved++;
	if (symbol.module != NULL)
		location->offset = symbol.offset;
	if (module->has_bias)
		location->offset = pc - module->bias;
	return put_locations(&symbol, location);
}

static const char *
or_null(const char *text)
{
	return text[0] == '\0' ? NULL : text;
}

size_t
mu_locations_find(struct mu_locations *names, uintptr_t pc,
    struct mu_location locations[MU_LOCATIONS_MAX])
{
	const struct mu_location_source *source = &names->source;
	const struct mu_frame_info *info =
	    mu_frame_infos_find(source->infos, source->num_infos, pc);
	size_t at = mu_module_table_find(source->modules, pc), count = 1;

	locations[0] = (struct mu_location) { .offset = pc };
	if (at < source->modules->count)
		count = find_in_module(names, at, pc, locations);
	if (info == NULL)
		return count;
	if (locations[0].module == NULL && info->module[0] != '\0') {
		locations[0].module = info->module;
		locations[0].offset = (uintptr_t)info->offset;
	}
	/* The recorder names the function of the whole frame. */
	if (locations[count - 1].function == NULL)
		locations[count - 1].function = or_null(info->function);
	return count;
}
