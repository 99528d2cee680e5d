/*
 * Names of frames in this process: the module of an address, the address in
 * that module, and the nearest name that the module exports.
 *
 * The dynamic linker's data is read as memory, by process_vm_readv(2), as
 * another thread may unload a module at any time. The linker itself is not
 * called, since the program may hold its lock. Debug information is read by the
 * command only.
 *
 * Runs in: original.
 */
#ifndef LIB_REPORT_FRAME_NAMES_H
#define LIB_REPORT_FRAME_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "heapwalk/subject/snapshot.h"
#include "lib/term/names.h"
#include "mu/arena.h"

#define MU_FRAME_NAME_SIZE 96 /* names of C++ may be cut */

/* The location of a frame. */
struct mu_frame_place {
	uintptr_t pc;     /* 0: unused */
	const char *path; /* path of the module, any bytes; NULL: none */
	uintptr_t offset; /* in the module */
	size_t into;      /* offset from the start of NAME */
	char name[MU_FRAME_NAME_SIZE]; /* exported name; "": none is near */
};

/* Initialise to zero; close at the end. */
struct mu_frame_names {
	bool opened;
	struct mu_arena arena;
	struct mu_mapping *mappings; /* read for the first frame */
	size_t num_mappings;
	struct mu_frame_place *recent; /* recently used frames */
	struct mu_frame_place last; /* used if there is no memory for RECENT */
	char *chunk;                /* buffer for symbols */
};

/* The interface for reports. Reads nothing before the first frame. */
struct mu_names mu_frame_names(struct mu_frame_names *names);

/* Release the memory. Accepts the zero value; may be called twice. */
void mu_frame_names_close(struct mu_frame_names *names);

#endif
