/*
 * The ELF file of a loaded file: find it, check that it is the one that is
 * mapped, and determine its load bias.
 */
#ifndef SYMBOLIZE_ELF_FILE_H
#define SYMBOLIZE_ELF_FILE_H

#include <libelf.h>

#include "lib/symbolize/build_id.h"
#include "lib/symbolize/loaded.h"
#include "lib/symbolize/subject_files.h"
#include "lib/symbolize/symbols.h"

#define MU_SEGMENTS_MAX 32 /* PT_LOADs that are read; usually 4 */

/* A loaded segment, by the subject's addresses. */
struct mu_segment {
	struct mu_range range; /* with its .bss */
	uint64_t ahead;        /* address minus file offset */
};

struct mu_elf_file {
	Elf *elf;   /* NULL: not available */
	char *path; /* path that was opened; NULL: an image of memory */
	void *image;
	int fd;
	struct mu_segment segments[MU_SEGMENTS_MAX];
	size_t num_segments; /* 0: not known; then bias, base and end are not
				either */
	uintptr_t bias;      /* load bias */
	uintptr_t base, end; /* range that libdwfl assumes for the file */
	struct mu_build_id_hex build_id;
};

/*
 * Open the file of LOADED. Candidates are SUBJECT's file (NULL: none), SOURCE's
 * exe and sysroot, and its path here. A file is used only if its build-id, or
 * without one its headers, equal those in the subject's memory, or else by its
 * inode. Without any there is an image of what is in memory, enough for
 * exported names. Build-id, bias and segments may be known also when ELF is
 * NULL.
 */
void mu_elf_file_open(struct mu_elf_file *file,
    const struct mu_symbols_source *source,
    const struct mu_subject_files *subject, const struct mu_loaded *loaded);

/*
 * True if the file's tables cover ADDRESS, which is in MAPPING (NULL: in no
 * mapping of a file). A file may be mapped differently from its tables.
 */
bool mu_elf_file_has(const struct mu_elf_file *file,
    const struct mu_mapping *mapping, uintptr_t address);

/* Accepts a zeroed FILE. Call after libdwfl's end, which frees ELF. */
void mu_elf_file_close(struct mu_elf_file *file);

#endif
