#include "lib/check/program_kind.h"

#include <elf.h>
#include <string.h>

#include "heapwalk/subject/classify.h"

#define NOTES_MAX 16 /* per segment; a linker writes three or four */

/*
 * The name of a C library other than glibc. musl's dynamic linker is its
 * libc.so, under the name that Debian or Alpine give it; glibc's is libc.so.6.
 */
static const char *
library_of(const struct mu_snapshot *snap)
{
	const char *path;
	size_t i;

	for (i = 0; i < snap->num_mappings; i++) {
		path = snap->mappings[i].name;
		if (path[0] != '/')
			continue;
		if (strstr(path, "musl") != NULL &&
		    (strstr(path, "libc.") != NULL ||
			mu_starts_with(mu_path_base(path), "ld-musl")))
			return "musl";
		if (strcmp(mu_path_base(path), "libc.so") == 0)
			return "another C library";
	}
	return NULL;
}

/* Go's linker writes the note "Go", type 4, with the build-id. */
static bool
has_go_note(const struct mu_snapshot *snap, uintptr_t at, size_t size)
{
	const Elf64_Nhdr *note;
	size_t i, length;

	for (i = 0; i < NOTES_MAX && size >= sizeof(*note) + 4; i++) {
		note = mu_snapshot_view(snap, at, sizeof(*note) + 4);
		if (note == NULL)
			return false;
		if (note->n_namesz == 4 && note->n_type == 4 &&
		    memcmp(note + 1, "Go\0", 4) == 0)
			return true;
		length = sizeof(*note) + ((size_t)note->n_namesz + 3) / 4 * 4 +
		    ((size_t)note->n_descsz + 3) / 4 * 4;
		if (length > size)
			return false;
		at += length;
		size -= length;
	}
	return false;
}

/* True if MAPPING begins with the ELF header of a Go program. */
static bool
is_go(const struct mu_snapshot *snap, const struct mu_mapping *mapping)
{
	uintptr_t base = mapping->range.begin, first;
	const Elf64_Ehdr *header;
	const Elf64_Phdr *segment;
	size_t i;

	header = mu_snapshot_view(snap, base, sizeof(*header));
	if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_phentsize != sizeof(*segment))
		return false;
	segment = mu_snapshot_view(snap, base + header->e_phoff,
	    (size_t)header->e_phnum * sizeof(*segment));
	if (segment == NULL)
		return false;
	/* The lowest address is that of the header, in whole pages. */
	for (i = 0, first = UINTPTR_MAX; i < header->e_phnum; i++) {
		if (segment[i].p_type == PT_LOAD &&
		    segment[i].p_vaddr - segment[i].p_offset < first)
			first = segment[i].p_vaddr - segment[i].p_offset;
	}
	for (i = 0; i < header->e_phnum; i++) {
		if (segment[i].p_type == PT_NOTE &&
		    has_go_note(snap, base + segment[i].p_vaddr - first,
			segment[i].p_filesz))
			return true;
	}
	return false;
}

enum mu_status
mu_program_kind_refuse(const struct mu_snapshot *snap, struct mu_why *why)
{
	const char *library = library_of(snap);
	const struct mu_mapping *mapping;
	size_t i;

	if (library != NULL)
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "the program uses %s, and no heap of glibc or of musl's"
		    " mallocng was found: it has allocated nothing yet, or has"
		    " another malloc, such as that of musl before 1.2.1",
		    library);
	for (i = 0; i < snap->num_mappings; i++) {
		mapping = &snap->mappings[i];
		if (mapping->inode != 0 && mapping->offset == 0 &&
		    is_go(snap, mapping))
			return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
			    "a program of Go without glibc: its memory is"
			    " Go's, which collects what nothing refers to" MU_CURE
			    "go"
			    " tool pprof tells what is in use");
	}
	return MU_OK;
}
