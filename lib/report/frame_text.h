/*
 * A frame as text: the module of an address in this process, the address in
 * that module, and the nearest name that the module exports.
 *
 * The dynamic linker's data is read as memory, by process_vm_readv(2), as
 * another thread may unload a module at any time. The linker itself is not
 * called, since the program may hold its lock. Debug information is read by the
 * command only.
 */
#ifndef LIB_REPORT_FRAME_TEXT_H
#define LIB_REPORT_FRAME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/text.h"

#define MU_FRAME_NAME_SIZE 96 /* names of C++ may be cut */

/* Where a frame is. */
struct mu_frame_place {
	uintptr_t pc;     /* 0: none */
	const char *path; /* the module's, any bytes; NULL: no module */
	uintptr_t offset; /* in the module */
	size_t into;      /* bytes behind the beginning of NAME */
	char name[MU_FRAME_NAME_SIZE]; /* exported; "": none is near */
};

/* Zero to begin with; to be closed. */
struct mu_frame_names {
	bool opened;
	struct mu_arena arena;
	struct mu_mapping *mappings; /* read for the first frame */
	size_t num_mappings;
	struct mu_frame_place *recent; /* recently used frames */
	struct mu_frame_place last;    /* without memory for them */
	char *chunk;                   /* of a table of symbols */
};

/* Where PC is; valid until the next call. */
const struct mu_frame_place *mu_frame_find(
    struct mu_frame_names *names, uintptr_t pc);

/* One line, as Android's unwinder prints it. */
void mu_frame_text(
    struct mu_text *out, size_t number, const struct mu_frame_place *place);

void mu_frame_names_close(struct mu_frame_names *names);

#endif
