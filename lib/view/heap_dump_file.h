/*
 * Android's heap dumps, "Android Native Heap Dump v1.0" to v1.2:
 *
 *	z 1  sz     4096  num    2  bt 7f1c2a5d5123 55d0c8a04040
 *	  bt_info {"/usr/lib/libc.so.6" 26123 "fopen" 33} {"" 0 "" 0}
 *	MAPS
 *	(the lines of /proc/PID/maps)
 *	END
 *
 * Pure.
 */
#ifndef LIB_VIEW_HEAP_DUMP_FILE_H
#define LIB_VIEW_HEAP_DUMP_FILE_H

#include "lib/view/frame_info.h"
#include "lib/view/module_table.h"
#include "lib/view/records.h"
#include "mu/arena.h"
#include "mu/status.h"

enum mu_heap_dump_section {
	MU_DUMP_TITLE, /* before the first line */
	MU_DUMP_HEADER,
	MU_DUMP_RECORDS,
	MU_DUMP_MAPS,
	MU_DUMP_AFTER,
};

struct mu_heap_dump {
	unsigned version;                      /* such as the 2 of v1.2 */
	const char *fingerprint;               /* "" if not given */
	uint64_t stated_bytes, stated_records; /* values in the header */
	bool states_records;
	struct mu_records records; /* merged: one per stack and size */
	size_t num_records;        /* number in the file */
	struct mu_module_table modules;
	struct mu_frame_info *infos; /* by pc, each once */
	size_t num_infos, max_infos;
	size_t num_lines;   /* in all */
	size_t bad_lines;   /* lines that are not valid */
	size_t first_bad;   /* number of the first of them, from 1 */
	size_t lines_after; /* lines after END that are no remarks */
	bool has_maps, ended;
	bool cut; /* the last line has no newline and is ignored */
	bool no_memory;
	/* For the parser: */
	enum mu_heap_dump_section section;
	size_t last; /* stack for the next bt_info */
	struct mu_hash_index info_index;
	struct mu_arena strings;
};

/*
 * A dump is parsed in pieces, so that memory grows with the number of different
 * stacks and addresses, not with the file. Release it in any case.
 */
void mu_heap_dump_begin(struct mu_heap_dump *dump);

/*
 * Parse the whole lines of TEXT, LENGTH bytes and one more that can be written;
 * with ENDED all of it. TEXT is modified, and need not stay valid. Returns the
 * number of bytes consumed.
 */
size_t mu_heap_dump_take(
    struct mu_heap_dump *dump, char *text, size_t length, bool ended);

/*
 * Call at the end. MU_OK; MU_PARTIAL: something is missing, as WHY says;
 * MU_ERR_ARGUMENT: it is not a heap dump; MU_ERR_NO_MEMORY.
 */
enum mu_status mu_heap_dump_end(struct mu_heap_dump *dump, struct mu_why *why);

/* Accepts one that is zero. */
void mu_heap_dump_release(struct mu_heap_dump *dump);

#endif
