/*
 * Names for offsets in files: for reports of a process that has ended.
 *
 * One thread.
 */
#ifndef SYMBOLIZE_FRAME_FILES_H
#define SYMBOLIZE_FRAME_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/symbolize/symbols.h"

#define MU_FRAME_FILES 64 /* open at a time */

struct mu_frame_file {
	char *path;
	struct mu_mapping *mappings; /* as if it were loaded; NULL: no ELF */
	struct mu_symbols *symbols;
};

/* Initialise to zero, except the folder; close at the end. */
struct mu_frame_files {
	struct mu_frame_file files[MU_FRAME_FILES];
	size_t count;
	const char *folder; /* files are below it, or else where they were */
};

/*
 * Find OFFSET (as addr2line takes it) in the file PATH. Returns false if that
 * fails. Strings are valid until the next call. LIMIT counts at the first call
 * for a file.
 */
bool mu_frame_files_find(struct mu_frame_files *files, const char *path,
    uintptr_t offset, enum mu_symbols_limit limit, struct mu_symbol *symbol);

/* Close all files. FILES can be used again. */
void mu_frame_files_close(struct mu_frame_files *files);

#endif
