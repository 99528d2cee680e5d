/*
 * The log as binary records. With the option log_records the library writes
 * them for the command that runs the program, so that the command need not
 * parse text.
 *
 * A file is a sequence of records, each appended with one write (O_APPEND). It
 * is read on the same machine during the same run: numbers are in native byte
 * order.
 */
#ifndef MU_LOG_RECORD_H
#define MU_LOG_RECORD_H

#include <stdint.h>

#define MU_LOG_RECORD_MAGIC 0x676f6c75u /* "ulog" */
#define MU_LOG_RECORD_VERSION 1
#define MU_LOG_RECORD_MAX 4000 /* bytes after the header; below PIPE_BUF */

enum mu_log_record_kind {
	MU_LOG_RECORD_TEXT,    /* the line as a text log has it */
	MU_LOG_RECORD_FRAME,   /* struct mu_log_frame */
	MU_LOG_RECORD_HINT,    /* struct mu_log_hint */
	MU_LOG_RECORD_OUTCOME, /* struct mu_log_outcome */
	MU_LOG_RECORD_KINDS
};

struct mu_log_record {
	uint32_t magic;
	uint16_t version, kind;
	uint64_t size; /* bytes after this header, at most MU_LOG_RECORD_MAX */
};

/*
 * One frame of a block's stack. The path and the name follow, each with its
 * NUL.
 */
struct mu_log_frame {
	uint64_t offset; /* in the module */
	uint64_t into;   /* offset from the start of NAME */
	uint32_t number;
	uint16_t path_size;
	uint16_t name_size; /* 1 (the NUL only): no exported symbol is near */
};

/* The recorder has recorded no stacks of blocks of these requested sizes. */
struct mu_log_hint {
	uint64_t least, most;
};

/* The check at the end of the process. */
struct mu_log_outcome {
	int32_t status; /* enum mu_status */
};

#endif
