/* Open a heap dump: see view_parts.h. */
#include "lib/view/view_parts.h"

#include "lib/term/safe_text.h"

static enum mu_status
name_file(const char *path, enum mu_status status, struct mu_why *why)
{
	struct mu_why inner = *why;

	return mu_why(
	    why, status, "%s: %s", mu_safe_argument(path).text, inner.text);
}

/* Note how reliable the numbers in the file are. */
static void
note_dump(const struct mu_opened_dump *opened, struct mu_notes *notes)
{
	const struct mu_heap_dump *dump = &opened->dump;

	mu_module_table_note(&dump->modules, notes);
	if (dump->version == 0)
		mu_notes_add(notes,
		    "%s: v1.0 does not say how many blocks a record stands"
		    " for; each counts as one",
		    opened->path);
	if (dump->version > 2)
		mu_notes_add(notes,
		    "%s: v1.%u is newer than this program, and read as v1.2",
		    opened->path, dump->version);
	if (!dump->has_maps && dump->ended)
		mu_notes_add(notes,
		    "%s: it does not say what was mapped; addresses have no"
		    " names but its own",
		    opened->path);
	if (dump->num_cut > 0)
		mu_notes_add(notes,
		    "%s: %zu of its stacks are deeper than %d frames; the"
		    " outermost are left out",
		    opened->path, dump->num_cut, MU_RECORD_FRAMES);
	if (dump->modules.num_overlaps > 0)
		mu_notes_add(notes,
		    "%s: %zu mappings lie in others, and are left out",
		    opened->path, dump->modules.num_overlaps);
	if (dump->lines_after > 0)
		mu_notes_add(notes, "%s: %zu lines after END are not read",
		    opened->path, dump->lines_after);
}

static size_t
take_piece(void *ctx, char *text, size_t length, bool ended)
{
	return mu_heap_dump_take(ctx, text, length, ended);
}

enum mu_status
mu_opened_dump_open(struct mu_opened_dump *opened, const char *path,
    const char *folder, struct mu_notes *notes, struct mu_why *why)
{
	struct mu_location_source source = { .report = path, .folder = folder };
	enum mu_status status;

	*opened = (struct mu_opened_dump) { .path = path };
	mu_heap_dump_begin(&opened->dump);
	status = mu_file_pieces_read(path, take_piece, &opened->dump, why);
	if (status != MU_OK)
		return status;
	status = mu_heap_dump_end(&opened->dump, why);
	if (status != MU_OK)
		name_file(path, status, why);
	if (!mu_status_usable(status))
		return status;
	if (status == MU_PARTIAL)
		mu_notes_add(notes, "%s", why->text);
	note_dump(opened, notes);
	source.modules = &opened->dump.modules;
	source.infos = opened->dump.infos;
	source.num_infos = opened->dump.num_infos;
	mu_locations_open(&opened->names, &source, notes);
	return status;
}

void
mu_opened_dump_note(const struct mu_opened_dump *opened, struct mu_notes *notes)
{
	if (opened->names.num_unproved > 0)
		mu_notes_add(notes,
		    "%s: it does not say which builds its files were of;"
		    " names are those of the files that are here now",
		    opened->path);
}

void
mu_opened_dump_close(struct mu_opened_dump *opened)
{
	mu_locations_close(&opened->names);
	mu_heap_dump_release(&opened->dump);
}
