/*
 * Files are read, not mapped: a mapped file that the subject truncates would
 * end this process by SIGBUS.
 *
 * libdwfl's own search does not do: dwfl_linux_proc_find_elf() takes the path
 * in the subject's maps for one of ours, which is another file in another mount
 * namespace; it opens that after a stat(), and waits if it has become a FIFO
 * between these; it compares nothing with what is mapped; and it reads memory
 * for a vDSO only. dwfl_report_elf() takes a descriptor, but no image of a file
 * that is gone. So libdwfl gets modules by dwfl_report_module(), and the ELF of
 * each from here.
 */
#include "lib/symbolize/elf_file.h"

#include <bsd/string.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heapwalk/recorded/recorded.h"
#include "lib/symbolize/elf_image.h"
#include "mu/regular_file.h"

#define DELETED " (deleted)" /* d_path() appends it to the name */

/* The candidates, and what identifies the right one. */
struct search {
	const struct mu_symbols_source *source;
	const struct mu_subject_files *subject; /* NULL: open none */
	const struct mu_loaded *loaded;
	struct mu_elf_image headers; /* its first bytes in memory */
	struct mu_build_id_hex build_id;
	bool unloaded;       /* it is no longer mapped */
	char name[PATH_MAX]; /* the path in the subject's maps */
};

#define PAGE ((uintptr_t)4096) /* the smallest page size of segments */

/* Find a file's segments in the subject: see elf_file.h. */

/* True if segment PH has bytes of MAPPING. */
static bool
is_of(const GElf_Phdr *ph, const struct mu_mapping *mapping)
{
	uint64_t size = mu_range_size(mapping->range);

	return ph->p_type == PT_LOAD && ph->p_filesz != 0 &&
	    ph->p_offset < mapping->offset + size &&
	    mapping->offset < ph->p_offset + ph->p_filesz;
}

/*
 * Find the segment of MAPPING. Two may share a page, with different
 * protections.
 */
static bool
find_segment(
    Elf *elf, size_t count, const struct mu_mapping *mapping, GElf_Phdr *found)
{
	bool any = false;
	GElf_Phdr ph;
	size_t i;

	for (i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &ph) == NULL ||
		    !is_of(&ph, mapping))
			continue;
		if (((ph.p_flags & PF_X) != 0) == mapping->executable) {
			*found = ph;
			return true;
		}
		if (!any)
			*found = ph;
		any = true;
	}
	return any;
}

/* Sums of numbers from the file may wrap: ignore such a segment. */
static void
add_segment(struct mu_elf_file *file, const GElf_Phdr *ph)
{
	uintptr_t begin = file->bias + ph->p_vaddr, end = begin + ph->p_memsz;

	if (file->num_segments == 0) /* as libdwfl's open_elf() does */
		file->base = file->bias + (ph->p_vaddr & -ph->p_align);
	file->segments[file->num_segments++] = (struct mu_segment) {
		.range = { begin & -PAGE, (end + PAGE - 1) & -PAGE },
		.ahead = begin - ph->p_offset,
	};
	if (end > file->end)
		file->end = end;
}

/* Find bias and segments from the ELF tables; may find none. */
static void
lay_out(struct mu_elf_file *file, Elf *elf, const struct mu_loaded *loaded)
{
	const struct mu_mapping *first = loaded->first;
	size_t count, i;
	GElf_Phdr ph;

	if (elf == NULL || elf_getphdrnum(elf, &count) != 0 ||
	    !find_segment(elf, count, first, &ph))
		return;
	file->bias =
	    first->range.begin - first->offset + ph.p_offset - ph.p_vaddr;
	for (i = 0; i < count && file->num_segments < MU_SEGMENTS_MAX; i++) {
		if (gelf_getphdr(elf, (int)i, &ph) != NULL &&
		    ph.p_type == PT_LOAD)
			add_segment(file, &ph);
	}
}

bool
mu_elf_file_has(const struct mu_elf_file *file,
    const struct mu_mapping *mapping, uintptr_t address)
{
	const struct mu_segment *segment = file->segments;
	size_t i;

	for (i = 0; i < file->num_segments; i++, segment++) {
		if (mu_range_has(segment->range, address) &&
		    (mapping == NULL ||
			mapping->range.begin - mapping->offset ==
			    segment->ahead))
			return true;
	}
	return false;
}

/*
 * Used without a build-id: the output of another link differs in at least one
 * size.
 */
static bool
has_headers(int fd, const struct mu_elf_image *headers)
{
	unsigned char bytes[4096];
	ssize_t size = pread(fd, bytes, sizeof(bytes), 0);

	return size > 0 && mu_elf_image_matches(headers, bytes, (size_t)size);
}

static bool
is_same(const struct search *search, const struct mu_elf_file *file,
    const struct stat *stat_)
{
	if (search->build_id.hex[0] != '\0' && file->build_id.hex[0] != '\0')
		return strcmp(search->build_id.hex, file->build_id.hex) == 0;
	if (search->headers.elf != NULL)
		return has_headers(file->fd, &search->headers);
	if (search->unloaded)
		return false;
	return search->source->pid == 0 ||
	    stat_->st_ino == search->loaded->first->inode;
}

static bool
try_path(
    struct mu_elf_file *file, const struct search *search, const char *path)
{
	struct stat stat_;

	file->fd = mu_regular_file_open(AT_FDCWD, path, &stat_);
	if (file->fd < 0)
		return false;
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (file->elf != NULL && elf_kind(file->elf) == ELF_K_ELF) {
		file->build_id = mu_build_id_of(file->elf);
		if (is_same(search, file, &stat_))
			file->path = strdup(path);
		if (file->path != NULL)
			return true;
	}
	mu_elf_file_close(file);
	return false;
}

static bool try_format(struct mu_elf_file *file, const struct search *search,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool
try_format(struct mu_elf_file *file, const struct search *search,
    const char *format, ...)
{
	char path[2 * PATH_MAX];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return length > 0 && (size_t)length < sizeof(path) &&
	    try_path(file, search, path);
}

static bool
is_program(const struct search *search)
{
	const struct mu_symbols_source *source = search->source;
	const struct mu_mapping *first = source->mappings;

	if (source->program != 0)
		return source->program >= search->loaded->first->range.begin &&
		    source->program < search->loaded->end;
	while (first < search->loaded->first && first->name[0] != '/')
		first++;
	return first == search->loaded->first;
}

static bool
try_process(struct mu_elf_file *file, const struct search *search)
{
	const struct mu_subject_files *subject = search->subject;
	int mapped = mu_subject_files_mapped(subject, search->loaded);

	return (mapped >= 0 &&
		   try_format(file, search, MU_SUBJECT_FILE, mapped)) ||
	    (subject->root[0] != '\0' &&
		try_format(
		    file, search, "%s%s", subject->root, search->name)) ||
	    (subject->program >= 0 &&
		try_format(file, search, MU_SUBJECT_FILE, subject->program));
}

static bool
try_all(struct mu_elf_file *file, const struct search *search)
{
	const char *exe = search->source->exe;
	const char *sysroot = search->source->sysroot;

	if (search->name[0] != '/' || search->subject == NULL)
		return false;
	if (exe != NULL && is_program(search) && try_path(file, search, exe))
		return true;
	if (search->source->pid > 0 && try_process(file, search))
		return true;
	if (sysroot != NULL)
		return try_format(file, search, "%s%s", sysroot, search->name);
	return try_path(file, search, search->name);
}

/* The data noted before the unloading replaces what is in memory. */
static void
note_unloaded(struct search *search)
{
	const struct mu_symbols_source *source = search->source;
	uintptr_t begin = search->loaded->first->range.begin;
	size_t i;

	for (i = 0; i < source->num_unloaded; i++) {
		if (source->unloaded[i].range.begin != begin)
			continue;
		search->unloaded = true;
		if (strcmp(source->unloaded[i].build_id, "-") != 0)
			strlcpy(search->build_id.hex,
			    source->unloaded[i].build_id,
			    sizeof(search->build_id.hex));
	}
}

static void
begin_search(struct search *search, const struct mu_symbols_source *source,
    const struct mu_loaded *loaded)
{
	const char *name = loaded->first->name;
	size_t length = strlen(name), tail = sizeof(DELETED) - 1;

	if (length > tail && strcmp(name + length - tail, DELETED) == 0)
		length -= tail;
	if (length < sizeof(search->name))
		memcpy(search->name, name, length);
	note_unloaded(search);
	if (search->unloaded)
		return;
	mu_elf_image_headers_read(&search->headers, source, loaded);
	if (search->headers.elf != NULL)
		search->build_id = mu_build_id_of(search->headers.elf);
}

void
mu_elf_file_open(struct mu_elf_file *file,
    const struct mu_symbols_source *source,
    const struct mu_subject_files *subject, const struct mu_loaded *loaded)
{
	struct search search = { source, subject, loaded, .name = "" };
	struct mu_elf_image image;

	*file = (struct mu_elf_file) { .fd = -1 };
	begin_search(&search, source, loaded);
	if (!try_all(file, &search) && search.headers.elf != NULL) {
		mu_elf_image_read(&image, &search.headers, source, loaded);
		file->elf = image.elf;
		file->image = image.bytes;
	}
	lay_out(file, file->elf, loaded);
	if (file->num_segments == 0) {
		mu_elf_file_close(file);
		lay_out(file, search.headers.elf, loaded);
	}
	if (file->build_id.hex[0] == '\0')
		file->build_id = search.build_id;
	mu_elf_image_close(&search.headers);
}

void
mu_elf_file_close(struct mu_elf_file *file)
{
	if (file->elf != NULL)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file->image);
	memset(file, 0, sizeof(*file));
	file->fd = -1;
}
