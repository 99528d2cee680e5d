/*
 * A frame in words: which module an address of this process is in, where in
 * it, and the nearest name that the module exports.
 *
 * What the dynamic linker mapped is read as memory, by process_vm_readv(2), as
 * another thread may unload it meanwhile; the linker itself, whose lock the
 * program may hold, is not asked. Debug information is the command's affair.
 */
#ifndef LIB_REPORT_FRAME_TEXT_H
#define LIB_REPORT_FRAME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "heapwalk/snapshot.h"
#include "mu/arena.h"
#include "mu/text.h"

struct mu_frame_named;

/* Zero to begin with; to be closed. */
struct mu_frame_names {
	bool opened;
	struct mu_arena arena;
	struct mu_mapping *mappings; /* when the first frame was asked for */
	size_t num_mappings;
	struct mu_frame_named *named; /* frames that were asked for lately */
	char *chunk;                  /* of a table of symbols */
};

/* One line, as Android's unwinder has it (MU-22). */
void mu_frame_text(struct mu_text *out, struct mu_frame_names *names,
    size_t number, uintptr_t pc);

void mu_frame_names_close(struct mu_frame_names *names);

#endif
