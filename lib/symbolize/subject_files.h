/*
 * Open the files and the memory of a process while the caller may trace it, for
 * use after that right is given up.
 */
#ifndef SYMBOLIZE_SUBJECT_FILES_H
#define SYMBOLIZE_SUBJECT_FILES_H

#include <limits.h>

#include "lib/symbolize/loaded.h"
#include "lib/symbolize/symbols.h"

#define MU_SUBJECT_FILE "/proc/self/fd/%d"

/* Descriptors are O_PATH, or -1; no file is read. */
struct mu_subject_files {
	char root[PATH_MAX];            /* prefix of its paths; or "" */
	int folder;                     /* of ROOT */
	int program;                    /* /proc/PID/exe */
	int memory;                     /* /proc/PID/mem, for reading */
	struct mu_subject_pages *pages; /* of it, as they were first read; or
					   NULL */
	int *mapped;                    /* per loaded file; NULL: none */
	size_t num_mapped;
	const struct mu_loaded *list;
};

/*
 * Open for the process of SOURCE, or its sysroot if it is not a process. A
 * source without a read function gets one, valid until the close. FILES must
 * stay where it is.
 */
void mu_subject_files_open(struct mu_subject_files *files,
    struct mu_symbols_source *source, const struct mu_loaded *list,
    size_t count);
void mu_subject_files_close(struct mu_subject_files *files);

/*
 * The descriptor of the file mapped for LOADED, an element of the list; -1 if
 * none.
 */
int mu_subject_files_mapped(
    const struct mu_subject_files *files, const struct mu_loaded *loaded);

#endif
