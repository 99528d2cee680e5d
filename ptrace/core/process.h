/*
 * Read the notes that describe the whole process.
 *
 * Runs in: the command.
 */
#ifndef PTRACE_CORE_PROCESS_H
#define PTRACE_CORE_PROCESS_H

#include <sys/types.h>

#include "ptrace/core/file.h"

/*
 * One file that was mapped, of NT_FILE:
 *	0x7f1c2a5d5000  0x7f1c2a5fb000  0x0  /usr/lib/libc.so.6
 *	range.begin	end		offset (bytes here, pages there)
 */
struct mu_core_mapped {
	struct mu_range range;
	uint64_t offset;
	const char *name; /* points into the core */
	uint64_t file;    /* number from 1 on, equal for equal names */
};

struct mu_core_process {
	pid_t pid; /* 0: not known */
	char program[17];
	char args[81]; /* the first bytes of the command line */
	int signal;    /* the signal that killed it; 0: none, or not known */

	/*
	 * AT_PAGESZ, and addresses from the auxiliary vector; 0 if not given.
	 */
	size_t page_size;
	uintptr_t headers; /* AT_PHDR, in the program's first page */
	uintptr_t random;  /* AT_RANDOM, on the main thread's stack */
	uintptr_t vdso;

	struct mu_core_mapped *files; /* by address, no overlaps */
	size_t num_files;
};

/*
 * Data that is missing or makes no sense stays empty. The only error is
 * MU_ERR_NO_MEMORY.
 */
enum mu_status mu_core_process_read(struct mu_core_process *process,
    const struct mu_core_file *core, struct mu_arena *arena,
    struct mu_why *why);

#endif
