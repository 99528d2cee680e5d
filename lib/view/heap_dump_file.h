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
	MU_DUMP_TITLE, /* is sought */
	MU_DUMP_HEADER,
	MU_DUMP_RECORDS,
	MU_DUMP_MAPS,
	MU_DUMP_AFTER,
};

struct mu_heap_dump {
	unsigned version;                  /* the 2 of v1.2 */
	const char *fingerprint;           /* "" if there is none */
	uint64_t told_bytes, told_records; /* what the header says */
	bool tells_records;
	struct mu_records records; /* merged: one for a stack and a size */
	size_t num_records;        /* that the file has */
	struct mu_module_table modules;
	struct mu_frame_info *infos; /* by pc, no two for one */
	size_t num_infos, max_infos;
	size_t num_lines;   /* in all */
	size_t bad_lines;   /* that are none of the format's */
	size_t first_bad;   /* the number of the first of them, from 1 */
	size_t lines_after; /* behind END, and no remarks */
	bool has_maps, ended;
	bool cut; /* the last line has no newline: it is left out */
	bool no_memory;
	/* For the parser: */
	enum mu_heap_dump_section section;
	size_t last; /* the stack that a bt_info is of */
	struct mu_hash_index info_index;
	struct mu_arena strings;
};

/*
 * A dump is taken in piece by piece, so that memory grows with its different
 * stacks and addresses, not with the file. To be released in any case.
 */
void mu_heap_dump_begin(struct mu_heap_dump *dump);

/*
 * Take the whole lines of TEXT, LENGTH bytes and one more that can be written;
 * with ENDED all of it. TEXT is changed, and need not stay. How many bytes were
 * taken.
 */
size_t mu_heap_dump_take(
    struct mu_heap_dump *dump, char *text, size_t length, bool ended);

/*
 * Nothing follows. MU_OK; MU_PARTIAL: something is missing, as WHY says;
 * MU_ERR_ARGUMENT: it is no heap dump; MU_ERR_NO_MEMORY.
 */
enum mu_status mu_heap_dump_end(struct mu_heap_dump *dump, struct mu_why *why);

/* All at once: TEXT is all of it. */
enum mu_status mu_heap_dump_parse(
    struct mu_heap_dump *dump, char *text, size_t length, struct mu_why *why);

/* Accepts one that is zero. */
void mu_heap_dump_release(struct mu_heap_dump *dump);

#endif
