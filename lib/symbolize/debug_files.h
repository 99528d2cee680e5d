/* Find debug information. */
#ifndef SYMBOLIZE_DEBUG_FILES_H
#define SYMBOLIZE_DEBUG_FILES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

/* Of all modules of one subject. */
struct mu_debug_files {
	char *root;        /* what the subject's paths are below; "": nothing */
	bool local;        /* ask no debuginfod */
	uint64_t spent_ns; /* so far, waiting for debuginfod */
};

/* The user data of a module. */
struct mu_debug_search {
	struct mu_debug_files *files;
	const char *name; /* the path that the subject knows the module by */
	const char *path; /* that it was opened by; NULL: no file */
	bool none;        /* look for nothing */
};

/* ROOT: what the subject's paths are below; "" = nothing. False: no memory. */
bool mu_debug_files_open(
    struct mu_debug_files *files, const char *root, bool local);
void mu_debug_files_close(struct mu_debug_files *files);

/*
 * A find_debuginfo callback of libdwfl. The file that it opens is a regular
 * file, with the module's build-id or, without one, the checksum in
 * .gnu_debuglink.
 */
int mu_debug_file_find(Dwfl_Module *module, void **user, const char *name,
    Dwarf_Addr base, const char *file, const char *link, GElf_Word crc,
    char **found);

#endif
