/* A file is treated as if it were loaded, at an address far from any offset. */
#include "lib/symbolize/frame_files.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mu/regular_file.h"

#define BASE ((uintptr_t)1 << 45)
#define SEGMENTS_MAX 32
#define PAGE ((uintptr_t)4096)

/* Map the loadable segments of ELF as the dynamic linker would. */
static size_t
map_segments(Elf *elf, const char *path, struct mu_mapping *mappings)
{
	size_t i, count, used = 0;
	GElf_Phdr segment;
	uintptr_t begin, end;

	if (elf_getphdrnum(elf, &count) != 0)
		return 0;
	for (i = 0; i < count && i < SEGMENTS_MAX; i++) {
		if (gelf_getphdr(elf, (int)i, &segment) == NULL ||
		    segment.p_type != PT_LOAD || segment.p_filesz == 0 ||
		    segment.p_vaddr >= BASE || segment.p_filesz >= BASE)
			continue;
		begin = segment.p_vaddr & ~(PAGE - 1);
		end = (segment.p_vaddr + segment.p_filesz + PAGE - 1) &
		    ~(PAGE - 1);
		/*
		 * Segments made by older linkers may share pages; our mappings
		 * must not.
		 */
		if (used > 0 && mappings[used - 1].range.end > BASE + begin)
			mappings[used - 1].range.end = BASE + begin;
		mappings[used++] = (struct mu_mapping) {
			.range = { BASE + begin, BASE + end },
			.readable = true,
			.writable = (segment.p_flags & PF_W) != 0,
			.executable = (segment.p_flags & PF_X) != 0,
			.offset = segment.p_offset & ~(uint64_t)(PAGE - 1),
			.inode = 1,
			.name = path,
		};
	}
	return used;
}

static Elf *
open_elf(const char *path, int *fd)
{
	*fd = mu_regular_file_open(AT_FDCWD, path, NULL);
	return *fd < 0 ? NULL : elf_begin(*fd, ELF_C_READ, NULL);
}

/* If the file is not below FOLDER, use its original path. */
static Elf *
open_below(const char **folder, const char *path, int *fd)
{
	char below[2 * PATH_MAX];
	Elf *elf = NULL;
	int length;

	*fd = -1;
	if (*folder != NULL) {
		length = snprintf(below, sizeof(below), "%s%s", *folder, path);
		if (length > 0 && (size_t)length < sizeof(below))
			elf = open_elf(below, fd);
		if (elf != NULL)
			return elf;
		if (*fd >= 0)
			close(*fd);
		*folder = NULL;
	}
	return open_elf(path, fd);
}

static void
open_file(
    struct mu_frame_file *file, const char *folder, enum mu_symbols_limit limit)
{
	struct mu_symbols_source source = { .local = false };
	Elf *elf;
	int fd;

	elf_version(EV_CURRENT);
	elf = open_below(&folder, file->path, &fd);
	source.sysroot = folder;
	file->mappings = calloc(SEGMENTS_MAX, sizeof(*file->mappings));
	if (elf != NULL && file->mappings != NULL)
		source.num_mappings =
		    map_segments(elf, file->path, file->mappings);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	if (source.num_mappings == 0)
		return;
	source.mappings = file->mappings;
	file->symbols = mu_symbols_open(&source);
	if (file->symbols != NULL)
		mu_symbols_limit(
		    file->symbols, source.mappings[0].range.begin, limit);
}

static void
close_file(struct mu_frame_file *file)
{
	mu_symbols_close(file->symbols);
	free(file->mappings);
	free(file->path);
	*file = (struct mu_frame_file) { .path = NULL };
}

static struct mu_frame_file *
file_of(
    struct mu_frame_files *files, const char *path, enum mu_symbols_limit limit)
{
	struct mu_frame_file *file;
	size_t i;

	for (i = 0; i < files->count; i++)
		if (strcmp(files->files[i].path, path) == 0)
			return &files->files[i];
	if (files->count == MU_FRAME_FILES)
		mu_frame_files_close(files);
	file = &files->files[files->count];
	file->path = strdup(path);
	if (file->path == NULL)
		return NULL;
	files->count++;
	open_file(file, files->folder, limit);
	return file;
}

bool
mu_frame_files_find(struct mu_frame_files *files, const char *path,
    uintptr_t offset, enum mu_symbols_limit limit, struct mu_symbol *symbol)
{
	struct mu_frame_file *file = file_of(files, path, limit);

	return file != NULL && file->symbols != NULL && offset < BASE &&
	    mu_symbols_find_call(file->symbols, BASE + offset, symbol) &&
	    symbol->offset == offset;
}

void
mu_frame_files_close(struct mu_frame_files *files)
{
	while (files->count > 0)
		close_file(&files->files[--files->count]);
}
