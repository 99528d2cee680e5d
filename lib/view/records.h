/*
 * Blocks that were not freed, with the stacks that allocated them: the common
 * form of both kinds of files.
 *
 * Pure.
 */
#ifndef LIB_VIEW_RECORDS_H
#define LIB_VIEW_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_RECORD_FRAMES 256 /* per stack; malloc_debug records no more */

struct mu_record {
	uint64_t size;  /* of a block, bytes */
	uint64_t count; /* of blocks, saturated */
	uint64_t bytes; /* of all, saturated */
	/* Innermost first. Addresses, or their numbers, or those of frames. */
	const uintptr_t *frames;
	const char *time;    /* as written; NULL: not known */
	size_t first;        /* frame in mu_records.frames */
	uint16_t num_frames; /* up to MU_RECORD_FRAMES */
	bool own;            /* z 1; otherwise it is older than the fork */
	bool cut;            /* there were more frames */
};

/* For arrays that are sorted while the records keep their order. */
struct mu_record_ref {
	const struct mu_record *record;
};

/* Zero at first. */
struct mu_records {
	struct mu_record *list;
	size_t count, max;
	uintptr_t *frames; /* of all, one after the other */
	size_t num_frames, max_frames;
	size_t num_cut; /* stacks that had more than MU_RECORD_FRAMES */
};

/*
 * Add a record without frames. NULL without memory. Valid until the next call.
 */
struct mu_record *mu_records_add(struct mu_records *records);

/*
 * Append a frame, outwards, to the last record; too many are ignored. Returns
 * false without memory.
 */
bool mu_records_frame(struct mu_records *records, uintptr_t pc);

/* Remove the last record. */
void mu_records_drop(struct mu_records *records);

/*
 * Call when no more is added, or the stacks were changed: set every record's
 * frames and bytes.
 */
void mu_records_seal(struct mu_records *records);

/* Accepts one that is zero. */
void mu_records_release(struct mu_records *records);

/* For qsort(): compare frame numbers from the innermost outwards. */
int mu_record_compare_inner(
    const struct mu_record *a, const struct mu_record *b);

#endif
