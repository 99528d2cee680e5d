/*
 * What leads to the files and to the memory of a process: opened while the
 * caller may trace it, used when that right is given up.
 */
#ifndef SYMBOLIZE_SUBJECT_FILES_H
#define SYMBOLIZE_SUBJECT_FILES_H

#include <limits.h>

#include "lib/symbolize/loaded.h"
#include "lib/symbolize/symbols.h"

#define MU_SUBJECT_FILE "/proc/self/fd/%d"

/* Descriptors are O_PATH, -1 if there is none; no file is read. */
struct mu_subject_files {
	char root[PATH_MAX]; /* what its paths are below; "": nothing */
	int folder;          /* that ROOT leads to */
	int program;         /* /proc/PID/exe */
	int memory;          /* /proc/PID/mem, for reading */
	int *mapped;         /* by loaded file; NULL: none */
	size_t num_mapped;
	const struct mu_loaded *list;
};

/*
 * Of the process of SOURCE, or its sysroot if it is no process. A source
 * without a read function gets one, which is good until the close. FILES stays
 * where it is.
 */
void mu_subject_files_open(struct mu_subject_files *files,
    struct mu_symbols_source *source, const struct mu_loaded *list,
    size_t count);
void mu_subject_files_close(struct mu_subject_files *files);

/* The descriptor of what LOADED, one of the list, maps; -1: none. */
int mu_subject_files_mapped(
    const struct mu_subject_files *files, const struct mu_loaded *loaded);

#endif
