/*
 * Android's heap dumps, "Android Native Heap Dump v1.0" to v1.2:
 *
 *	z 1  sz     4096  num    2  bt 7f1c2a5d5123 55d0c8a04040
 *	  bt_info {"/usr/lib/libc.so.6" 26123 "fopen" 33} {"" 0 "" 0}
 *	MAPS
 *	(the lines of /proc/PID/maps)
 *	END
 *
 * Runs in: the command.
 */
#ifndef LIB_VIEW_HEAP_DUMP_FILE_H
#define LIB_VIEW_HEAP_DUMP_FILE_H

#include "lib/view/addresses.h"
#include "lib/view/frame_info.h"
#include "lib/view/module_table.h"
#include "lib/view/records.h"
#include "lib/view/sorter.h"
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
	size_t num_records; /* number in the file */
	size_t num_cut; /* of these, with more than MU_RECORD_FRAMES frames */
	struct mu_addresses addresses; /* in the stacks */
	struct mu_sorter records; /* merged: one per stack, size and owner */
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
	/* Stack for the next bt_info: numbers of addresses. */
	uintptr_t last[MU_RECORD_FRAMES];
	size_t num_last;
	struct mu_hash_index info_index;
	struct mu_arena strings;
};

/*
 * A dump is parsed in pieces, and its records are sorted outside of memory, so
 * that memory grows with the number of different addresses, not with the file.
 * Release it in any case.
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

/*
 * The next record, by stack: those of the same stack, size and owner are one.
 * False: there is no more; or it was not read, as mu_sorter_end() says. Begin
 * by mu_sorter_begin().
 */
bool mu_heap_dump_next(struct mu_heap_dump *dump, struct mu_record *record);

/* Accepts one that is zero. */
void mu_heap_dump_release(struct mu_heap_dump *dump);

#endif
