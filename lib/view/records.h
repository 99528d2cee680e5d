/*
 * Blocks that were not freed, with the stack that allocated them: the common
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
#define MU_RECORD_TIME 40    /* characters of a time; the others are cut */

struct mu_record {
	uint64_t size;  /* of a block, bytes */
	uint64_t count; /* of blocks, saturated */
	uint64_t bytes; /* of all, saturated */
	size_t number;  /* in the file, from 0; of merged records the least */
	bool own;       /* z 1; otherwise it is older than the fork */
	bool cut;       /* there were more frames */
	/* Numbers of addresses, then of frames; innermost first. */
	uintptr_t frames[MU_RECORD_FRAMES];
	size_t num_frames;
	char time[MU_RECORD_TIME + 1]; /* as written; "" if it is not known */
};

#endif
