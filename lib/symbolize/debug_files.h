/* Find debug information. */
#ifndef SYMBOLIZE_DEBUG_FILES_H
#define SYMBOLIZE_DEBUG_FILES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/symbolize/symbols.h"

/* For all modules of one subject. */
struct mu_debug_files {
	char *root;        /* prefix of the subject's paths; or "" */
	const char *given; /* a folder to look in first, not owned; or NULL */
	bool local;        /* do not use debuginfod */
	struct mu_cache *cache; /* for inflated ones; or NULL */
	uint64_t spent_ns;      /* time spent waiting for debuginfod */
};

/* The user data of a module. */
struct mu_debug_search {
	struct mu_debug_files *files;
	const char *name;  /* the path in the subject's maps */
	const char *path;  /* the path that was opened; NULL: no file */
	bool none;         /* search for nothing */
	struct stat found; /* the separate file; st_ino is 0: none */
};

/*
 * ROOT is the prefix of the subject's paths, or "". SOURCE->debug, or NULL, is
 * a folder like /usr/lib/debug, or one that mirrors the subject's paths.
 * Returns false if memory is exhausted.
 */
bool mu_debug_files_open(struct mu_debug_files *files, const char *root,
    const struct mu_symbols_source *source);
void mu_debug_files_close(struct mu_debug_files *files);

/*
 * A find_debuginfo callback of libdwfl. Opens only a regular file that has the
 * module's build-id or, without one, the checksum in .gnu_debuglink.
 */
int mu_debug_file_find(Dwfl_Module *module, void **user, const char *name,
    Dwarf_Addr base, const char *file, const char *link, GElf_Word crc,
    char **found);

#endif
