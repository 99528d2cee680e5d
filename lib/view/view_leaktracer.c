/* Show a report of LeakTracer. */
#include "lib/term/safe_text.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/view/leaktracer_file.h"
#include "lib/view/leaktracer_text.h"
#include "lib/view/module_table.h"
#include "lib/view/view_parts.h"
#include "mu/regular_file.h"
#include "mu/status.h"

struct work {
	const struct mu_cli_options *options;
	struct mu_leaktracer file;
	struct mu_locations names;
	struct mu_frames frames;
	struct mu_notes notes;
	struct mu_leak_groups groups;
};

#define PAGE ((uint64_t)4096) /* the smallest page size of segments */

/*
 * The segments of a program that is loaded at the addresses in its file, for
 * reports without a module table.
 */

static enum mu_status
refuse(const char *path, const char *words, struct mu_why *why)
{
	return mu_why(why, MU_ERR_ARGUMENT, "cannot use %s: %s",
	    mu_safe_argument(path).text, words);
}

/* Map it as a loader does. */
static bool
add_segment(
    struct mu_module_table *table, const char *path, const GElf_Phdr *ph)
{
	struct mu_mapping mapping = {
		.range = { ph->p_vaddr & -PAGE,
		    (ph->p_vaddr + ph->p_filesz + PAGE - 1) & -PAGE },
		.readable = true,
		.executable = (ph->p_flags & PF_X) != 0,
		.offset = ph->p_offset & -PAGE,
		.name = path,
	};

	if (ph->p_type != PT_LOAD || mapping.range.begin >= mapping.range.end)
		return true;
	return mu_module_table_add(table, &mapping) != NULL;
}

static enum mu_status
add_segments(struct mu_module_table *table, const char *path, Elf *elf,
    bool *relocated, struct mu_why *why)
{
	GElf_Ehdr ehdr;
	GElf_Phdr ph;
	size_t count, i;

	if (elf == NULL || elf_kind(elf) != ELF_K_ELF ||
	    gelf_getehdr(elf, &ehdr) == NULL ||
	    elf_getphdrnum(elf, &count) != 0)
		return refuse(path, "it is not an ELF file", why);
	*relocated = ehdr.e_type != ET_EXEC;
	for (i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &ph) == NULL)
			continue;
		if (!add_segment(table, path, &ph))
			return refuse(path, "no memory for it", why);
	}
	return MU_OK;
}

/*
 * Add the segments of the ELF file PATH to TABLE, which is not sealed yet.
 * RELOCATED: it may be loaded anywhere, so its addresses are not known.
 * MU_ERR_ARGUMENT: it cannot be read, or is not a program.
 */
static enum mu_status
program_file_add(struct mu_module_table *table, const char *path,
    bool *relocated, struct mu_why *why)
{
	int fd = mu_regular_file_open(AT_FDCWD, path, NULL);
	char *name = mu_arena_alloc(&table->arena, PATH_MAX, 1);
	enum mu_status status;
	Elf *elf;

	*relocated = false;
	if (fd < 0 || name == NULL || realpath(path, name) == NULL) {
		if (fd >= 0)
			close(fd);
		return refuse(path,
		    fd == -EINVAL ? "it is not a regular file"
			: fd < 0  ? strerror(-fd)
				  : strerror(errno),
		    why);
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	status = add_segments(table, name, elf, relocated, why);
	elf_end(elf);
	close(fd);
	return status;
}

/* Without a table, assume that addresses are those in the program's file. */
static enum mu_status
complete_table(struct work *work, struct mu_why *why)
{
	struct mu_module_table *table = &work->file.modules;
	const char *exe = work->options->exe;
	enum mu_status status = MU_OK;
	bool relocated;

	if (table->count == 0 && exe == NULL) {
		if (work->file.num_leaks > 0)
			mu_notes_add(&work->notes,
			    "the file has no module table, so that addresses"
			    " have no names; give the program by --exe");
	} else if (table->count == 0) {
		status = program_file_add(table, exe, &relocated, why);
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

static size_t
take_piece(void *ctx, char *text, size_t length, bool ended)
{
	return mu_leaktracer_take(ctx, text, length, ended);
}

static enum mu_status
read_file(struct work *work, struct mu_why *why)
{
	const char *path = work->options->leaktracer;
	struct mu_why inner = { .text = "" }, ignored;
	enum mu_status status;

	mu_leaktracer_begin(&work->file);
	status = mu_file_pieces_read(path, take_piece, &work->file, why);
	if (status != MU_OK)
		return status;
	status = mu_leaktracer_end(&work->file, &inner);
	if (status != MU_OK)
		mu_why(why, status, "%s: %s", mu_safe_argument(path).text,
		    inner.text);
	if (status == MU_PARTIAL)
		mu_notes_add(&work->notes, "%s", why->text);
	mu_module_table_note(&work->file.modules, &work->notes);
	if (work->file.num_cut > 0)
		mu_notes_add(&work->notes,
		    "%zu stacks are deeper than %d frames; the outermost are"
		    " left out",
		    work->file.num_cut, MU_RECORD_FRAMES);
	if (!mu_status_usable(status))
		return status;
	if (complete_table(work, &ignored) == MU_OK)
		return status;
	*why = ignored;
	return MU_ERR_ARGUMENT;
}

static bool
name_frames(struct work *work)
{
	struct mu_location_source source = {
		.modules = &work->file.modules,
		.report = work->options->leaktracer,
		.folder = work->options->symbols,
		.exe = work->options->exe,
	};

	mu_locations_open(&work->names, &source, &work->notes);
	return mu_frames_add(
		   &work->frames, &work->file.addresses, 0, &work->names) &&
	    mu_frames_number(&work->frames);
}

static enum mu_status
make_groups(struct work *work, struct mu_why *why)
{
	struct mu_leaktracer *file = &work->file;
	struct mu_record record;
	enum mu_status status;

	if (!name_frames(work))
		return mu_why(why, MU_ERR_NO_MEMORY, "no memory for names");
	mu_sorter_begin(&file->leaks);
	while (mu_leaktracer_next(file, &record)) {
		mu_frames_replace(&work->frames, 0, &record);
		if (!mu_leak_groups_add(&work->groups, &record))
			return mu_why(
			    why, MU_ERR_NO_MEMORY, "no memory for stacks");
	}
	status = mu_sorter_end(&file->leaks, why);
	mu_sorter_release(&file->leaks);
	return status == MU_OK ? mu_leak_groups_make(&work->groups, why)
			       : status;
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
	struct mu_why later = { .text = "" };

	if (make_groups(work, &later) == MU_OK)
		mu_leaktracer_text(out, &view);
	if (later.text[0] != '\0' ||
	    mu_sorter_end(&work->groups.sorted, &later) != MU_OK) {
		*why = later;
		return MU_EXIT_UNCHECKED;
	}
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

	if (mu_status_usable(status))
		result = show(&work, status, out, why);
	mu_leak_groups_release(&work.groups);
	mu_frames_release(&work.frames);
	mu_locations_close(&work.names);
	mu_leaktracer_release(&work.file);
	mu_notes_release(&work.notes);
	return result;
}
