/*
 * The loader maps a file's first page, which has the headers and usually the
 * build-id note. The kernel dumps that page of every mapped ELF file
 * (coredump_filter, bit 4).
 *
 * Runs in: the command.
 */
#include "ptrace/core/file_id.h"

#include <elf.h>
#include <gelf.h>
#include <string.h>

#define PAGE_LEAST 4096

static Elf *
open_bytes(const char *bytes, size_t size)
{
	if (size < sizeof(Elf64_Ehdr) || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return NULL;
	elf_version(EV_CURRENT);
	return elf_memory((char *)bytes, size);
}

/* Search the notes of one PT_NOTE, as far as they lie within SIZE bytes. */
static void
search_notes(
    Elf *elf, size_t size, const GElf_Phdr *header, struct mu_core_id *id)
{
	size_t at = 0, next, name, text;
	GElf_Nhdr note;
	Elf_Data *data;

	if (header->p_offset >= size ||
	    header->p_filesz > size - header->p_offset)
		return;
	data = elf_getdata_rawchunk(elf, (int64_t)header->p_offset,
	    header->p_filesz, header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	while (data != NULL && id->size == 0 &&
	    (next = gelf_getnote(data, at, &note, &name, &text)) > at) {
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp((char *)data->d_buf + name, "GNU", 4) == 0 &&
		    note.n_descsz <= MU_CORE_ID_MOST) {
			id->size = note.n_descsz;
			memcpy(id->bytes, (char *)data->d_buf + text, id->size);
		}
		at = next;
	}
}

bool
mu_core_file_id(const char *bytes, size_t size, struct mu_core_id *id)
{
	Elf *elf = open_bytes(bytes, size);
	size_t count = 0, i;
	GElf_Phdr header;

	*id = (struct mu_core_id) { .size = 0 };
	if (elf == NULL)
		return false;
	if (elf_getphdrnum(elf, &count) != 0)
		count = 0;
	for (i = 0; i < count && id->size == 0; i++)
		if (gelf_getphdr(elf, (int)i, &header) != NULL &&
		    header.p_type == PT_NOTE)
			search_notes(elf, size, &header, id);
	elf_end(elf);
	return true;
}

unsigned
mu_core_file_flags(const char *bytes, size_t size, uint64_t away)
{
	Elf *elf = open_bytes(bytes, size);
	uint64_t first = 0, last = 0, begin, end;
	bool has_first = false;
	size_t count = 0, i;
	unsigned flags = 0;
	GElf_Phdr header;

	if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
		count = 0;
	for (i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &header) == NULL ||
		    header.p_type != PT_LOAD)
			continue;
		begin = header.p_vaddr - header.p_vaddr % PAGE_LEAST;
		end = header.p_vaddr + header.p_filesz;
		if (!has_first)
			first = begin;
		has_first = true;
		if (away >= begin - first && away < end - first)
			flags = header.p_flags;
		last = header.p_vaddr + header.p_memsz;
	}
	elf_end(elf);
	if (flags == 0 && last > first && away < last - first)
		return MU_CORE_FILE_HOLE;
	return flags;
}
