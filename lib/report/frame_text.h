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

struct mu_frame_named;

/* Zero to begin with; to be closed. */
struct mu_frame_names {
	bool opened;
	struct mu_arena arena;
	struct mu_mapping *mappings; /* read for the first frame */
	size_t num_mappings;
	struct mu_frame_named *named; /* recently used frames */
	char *chunk;                  /* of a table of symbols */
};

/* One line, as Android's unwinder prints it. */
void mu_frame_text(struct mu_text *out, struct mu_frame_names *names,
    size_t number, uintptr_t pc);

void mu_frame_names_close(struct mu_frame_names *names);

#endif
