/*
 * The ELF file behind a loaded file: found, proved to be the one that is
 * mapped, and placed.
 */
#ifndef SYMBOLIZE_ELF_FILE_H
#define SYMBOLIZE_ELF_FILE_H

#include <libelf.h>

#include "lib/symbolize/build_id.h"
#include "lib/symbolize/loaded.h"
#include "lib/symbolize/subject_files.h"
#include "lib/symbolize/symbols.h"

#define MU_SEGMENTS_MAX 32 /* PT_LOADs that are looked at; 4 are usual */

/* One that is loaded, by the subject's addresses. */
struct mu_segment {
	struct mu_range range; /* with its .bss */
	uint64_t ahead;        /* of offsets: addresses less those */
};

struct mu_elf_file {
	Elf *elf;   /* NULL: not to be had */
	char *path; /* that it was opened by; NULL: it is the memory's image */
	void *image;
	int fd;
	struct mu_segment segments[MU_SEGMENTS_MAX];
	size_t num_segments; /* 0: not known, nor are bias, base and end */
	uintptr_t bias;      /* addresses less those in the file */
	uintptr_t base, end; /* where libdwfl takes the file to be */
	struct mu_build_id_hex build_id;
};

/*
 * Tries what may be the file of LOADED: what SUBJECT has, SOURCE's exe and
 * sysroot, its path here. NULL for SUBJECT: none. One is taken only if its
 * build-id, or else its headers, are those in the subject's memory; or else by
 * its inode. Without any there is an image of what is in memory, enough for
 * exported names. Build-id, bias and segments may be known also when ELF is
 * NULL.
 */
void mu_elf_file_open(struct mu_elf_file *file,
    const struct mu_symbols_source *source,
    const struct mu_subject_files *subject, const struct mu_loaded *loaded);

/* Find bias and segments by the tables of ELF; may find none. */
void mu_elf_file_place(
    struct mu_elf_file *file, Elf *elf, const struct mu_loaded *loaded);

/*
 * Is ADDRESS one that the file's own tables know, being in MAPPING (NULL: in
 * none of a file)? A file may be mapped otherwise than as it wants to be
 * loaded.
 */
bool mu_elf_file_has(const struct mu_elf_file *file,
    const struct mu_mapping *mapping, uintptr_t address);

/* Accepts one that is zero. ELF is gone: to be called after libdwfl's end. */
void mu_elf_file_close(struct mu_elf_file *file);

#endif
