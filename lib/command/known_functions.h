/*
 * What is known of functions in which processes of a COMMAND have ended: those
 * of a shell that forks end at the same one again and again, and finding names
 * takes a process and ten times as long as the rest of a look.
 *
 * Runs in: the command, in the thread that traces.
 */
#ifndef LIB_COMMAND_KNOWN_FUNCTIONS_H
#define LIB_COMMAND_KNOWN_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwalk/subject/snapshot.h"
#include "lib/symbolize/helper.h"
#include "ptrace/core/file_id.h"

/* An address in a function. */
struct mu_known_function {
	bool named, ending;    /* is_ending(), of lib/command/exit_frame.c */
	struct mu_range range; /* empty: not known */
	struct mu_frame_rules rules;
};

/*
 * Where that is in a file. A file that is replaced may get the same inode, but
 * its build-id is another one.
 */
struct mu_known_place {
	unsigned dev_major, dev_minor;
	uint64_t inode, offset;
	struct mu_core_id id; /* of size 0: not known, so it is not kept */
};

#define MU_KNOWN_FUNCTIONS 32

/* Initialise to zero. */
struct mu_known_functions {
	struct {
		struct mu_known_place place;
		struct mu_known_function function;
	} all[MU_KNOWN_FUNCTIONS];
	size_t next; /* to be overwritten */
};

/*
 * Find what is known of ADDRESS in SNAP, whose first thread is stopped. PLACE
 * is filled in any case.
 */
bool mu_known_functions_find(const struct mu_known_functions *known,
    const struct mu_snapshot *snap, uintptr_t address,
    struct mu_known_place *place, struct mu_known_function *function);

/* Keep FUNCTION, found for ADDRESS in a file with BUILD_ID (hex, or NULL). */
void mu_known_functions_keep(struct mu_known_functions *known,
    const struct mu_known_place *place, uintptr_t address, const char *build_id,
    const struct mu_known_function *function);

#endif
