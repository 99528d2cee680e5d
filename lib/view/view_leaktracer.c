/*
 * A report of LeakTracer's is shown.
 */
#include "lib/term/safe_text.h"
#include "lib/view/leaktracer_file.h"
#include "lib/view/leaktracer_text.h"
#include "lib/view/program_file.h"
#include "lib/view/view_parts.h"

struct work {
	const struct mu_cli_options *options;
	struct mu_file_text text;
	struct mu_leaktracer file;
	struct mu_locations names;
	struct mu_frames frames;
	struct mu_notes notes;
	struct mu_leak_groups groups;
};

/* Without a table addresses are believed to be those in the program's file. */
static enum mu_status
complete_table(struct work *work, struct mu_why *why)
{
	struct mu_module_table *table = &work->file.modules;
	const char *exe = work->options->exe;
	enum mu_status status = MU_OK;
	bool relocated;

	if (table->count == 0 && exe == NULL) {
		if (work->file.records.count > 0)
			mu_notes_add(&work->notes,
			    "the file has no module table, so that addresses"
			    " have no names; give the program by --exe");
	} else if (table->count == 0) {
		status = mu_program_file_add(table, exe, &relocated, why);
		if (status == MU_OK && relocated)
			mu_notes_add(&work->notes,
			    "the file has no module table, and %s may have"
			    " been loaded anywhere (PIE): its addresses are"
			    " not known",
			    exe);
	}
	mu_module_table_seal(table);
	if (table->no_memory)
		return mu_why(why, MU_ERR_NO_MEMORY, "no memory for modules");
	return status;
}

static enum mu_status
read_file(struct work *work, struct mu_why *why)
{
	const char *path = work->options->leaktracer;
	struct mu_why inner = { .words = "" }, ignored;
	enum mu_status status = mu_file_text_read(&work->text, path, why);

	if (status != MU_OK)
		return status;
	status = mu_leaktracer_parse(
	    &work->file, work->text.text, work->text.length, &inner);
	if (status != MU_OK)
		mu_why(why, status, "%s: %s", mu_safe_argument(path).text,
		    inner.words);
	if (status == MU_PARTIAL)
		mu_notes_add(&work->notes, "%s", why->words);
	mu_module_table_note(&work->file.modules, &work->notes);
	if (work->file.records.num_cut > 0)
		mu_notes_add(&work->notes,
		    "%zu stacks are deeper than %d frames; the outermost are"
		    " left out",
		    work->file.records.num_cut, MU_RECORD_FRAMES);
	if (status != MU_OK && status != MU_PARTIAL)
		return status;
	if (complete_table(work, &ignored) == MU_OK)
		return status;
	*why = ignored;
	return MU_ERR_ARGUMENT;
}

static bool
name_stacks(struct work *work)
{
	struct mu_location_source source = {
		.modules = &work->file.modules,
		.report = work->options->leaktracer,
		.folder = work->options->symbols,
		.exe = work->options->exe,
	};

	mu_locations_open(&work->names, &source, &work->notes);
	if (!mu_frames_add(
		&work->frames, &work->file.records, 0, &work->names) ||
	    !mu_frames_number(&work->frames) ||
	    !mu_frames_replace(&work->frames, &work->file.records, 0))
		return false;
	return mu_leak_groups_make(&work->groups, &work->file.records);
}

static const char *
program_name(const struct work *work)
{
	const struct mu_module_table *table = &work->file.modules;
	size_t i;

	if (work->options->exe != NULL)
		return work->options->exe;
	for (i = 0; i < table->count; i++) {
		if (table->mappings[i].name[0] == '/')
			return table->mappings[i].name;
	}
	return NULL;
}

static enum mu_exit
show(struct work *work, enum mu_status status, FILE *out, struct mu_why *why)
{
	struct mu_leaktracer_view view = {
		.path = work->options->leaktracer,
		.program = program_name(work),
		.groups = &work->groups,
		.frames = &work->frames,
		.notes = &work->notes,
		.limit = work->options->limit,
	};

	if (!name_stacks(work)) {
		mu_why(why, MU_ERR_NO_MEMORY, "no memory for names");
		return MU_EXIT_UNCHECKED;
	}
	mu_leaktracer_text(out, &view);
	if (status == MU_PARTIAL)
		return MU_EXIT_PARTIAL;
	return work->groups.blocks > 0 ? MU_EXIT_LEAKS : MU_EXIT_CLEAN;
}

enum mu_exit
mu_view_leaktracer(
    const struct mu_cli_options *options, FILE *out, struct mu_why *why)
{
	struct work work = { .options = options };
	enum mu_exit result = MU_EXIT_UNCHECKED;
	enum mu_status status = read_file(&work, why);

	if (status == MU_OK || status == MU_PARTIAL)
		result = show(&work, status, out, why);
	mu_leak_groups_release(&work.groups);
	mu_frames_release(&work.frames);
	mu_locations_close(&work.names);
	mu_leaktracer_release(&work.file);
	mu_file_text_release(&work.text);
	mu_notes_release(&work.notes);
	return result;
}
