/*
 * The programs and libraries of a core, and their files if these are available.
 *
 * Runs in: the command. Uses no malloc itself; ptrace/core/file_id.h does.
 */
#ifndef PTRACE_CORE_MODULES_H
#define PTRACE_CORE_MODULES_H

#include "ptrace/core/file_id.h"
#include "ptrace/core/mappings.h"

/* Where to look for files. */
struct mu_core_paths {
	const char *exe;     /* the program; NULL: look it up by name */
	const char *sysroot; /* prefix of each name; NULL: none */
};

struct mu_core_module {
	uint64_t file;     /* mu_mapping.inode of its mappings */
	size_t mapping;    /* index of its first mapping */
	const char *name;  /* as in the core */
	const char *path;  /* the file that was opened, or NULL */
	const char *bytes; /* its first bytes, in the core */
	size_t size;
	struct mu_core_id id;
	int fd;              /* the file, if it is the same build; or -1 */
	uint64_t length;     /* of the file, bytes */
	const char *missing; /* why there is no file; or NULL */
};

struct mu_core_modules {
	struct mu_core_module *items; /* by file */
	size_t count;
};

/*
 * Find all modules whose first page is in the core, set protections that the
 * core does not state, and open the files: those with the same build-id or,
 * without one, with the same first page. Parts that were MU_CORE_NOT_NEEDED
 * become MU_CORE_FILE or MU_CORE_MISSING. Memory comes from ARENA. Close
 * MODULES in any case.
 */
enum mu_status mu_core_modules_open(struct mu_core_modules *modules,
    struct mu_snapshot *snap, struct mu_core_part *parts,
    const struct mu_core_file *core, const struct mu_core_process *process,
    const struct mu_core_paths *paths, struct mu_arena *arena,
    struct mu_why *why);

/* The module whose number is FILE, or NULL. */
struct mu_core_module *mu_core_module_of(
    const struct mu_core_modules *modules, uint64_t file);

/* Close the files. What was mapped from them stays mapped. */
void mu_core_modules_close(struct mu_core_modules *modules);

#endif
