/*
 * The programs and libraries of a core, and their files if these are available.
 *
 * Runs in: the command. Uses no malloc, no errno, no libc lock;
 * ptrace/core/file_id.h does.
 */
#ifndef PTRACE_CORE_MODULES_H
#define PTRACE_CORE_MODULES_H

#include "ptrace/core/file_id.h"
#include "ptrace/core/mappings.h"

/* Where files are looked for. */
struct mu_core_paths {
	const char *exe;     /* the program; NULL: by its name */
	const char *sysroot; /* before each name; NULL: nothing */
};

struct mu_core_module {
	uint64_t file;     /* mu_mapping.inode of its mappings */
	size_t mapping;    /* index of the first */
	const char *name;  /* as it was mapped */
	const char *path;  /* the file that was opened for it, or NULL */
	const char *bytes; /* its first ones, in the core */
	size_t size;
	struct mu_core_id id;
	int fd;              /* the file, which is the same build; or -1 */
	uint64_t length;     /* of the file, bytes */
	const char *missing; /* why there is no file, in words; or NULL */
};

struct mu_core_modules {
	struct mu_core_module *items; /* by file */
	size_t count;
};

/*
 * Find all that the core has the first page of, tell protections where it does
 * not, and open the files: with the same build-id, or without one and with the
 * same first page. Sources that were NOWHERE become FILE or LACKING. From
 * ARENA; to be closed in any case.
 */
enum mu_status mu_core_modules_open(struct mu_core_modules *modules,
    struct mu_snapshot *snap, struct mu_core_part *parts,
    const struct mu_core_file *core, const struct mu_core_process *process,
    const struct mu_core_paths *paths, struct mu_arena *arena,
    struct mu_why *why);

/* The one that FILE is the number of, or NULL. */
struct mu_core_module *mu_core_module_of(
    const struct mu_core_modules *modules, uint64_t file);

/* The files; what was mapped of them stays. */
void mu_core_modules_close(struct mu_core_modules *modules);

#endif
