/*
 * The log as records: what the library writes for the command that runs the
 * program (option log_records), which so needs to parse no text.
 *
 * A file is a sequence of records, each written at once behind the others
 * (O_APPEND). It stays on one machine for the time of one run: numbers are as
 * memory has them.
 */
#ifndef MU_LOG_RECORD_H
#define MU_LOG_RECORD_H

#include <stdint.h>

#define MU_LOG_RECORD_MAGIC 0x676f6c75u /* "ulog" */
#define MU_LOG_RECORD_VERSION 1
#define MU_LOG_RECORD_MAX 4000 /* bytes behind the header; all in PIPE_BUF */

enum mu_log_record_kind {
	MU_LOG_RECORD_TEXT,    /* bytes as a log without records has them */
	MU_LOG_RECORD_FRAME,   /* struct mu_log_frame */
	MU_LOG_RECORD_HINT,    /* struct mu_log_hint */
	MU_LOG_RECORD_OUTCOME, /* struct mu_log_outcome */
	MU_LOG_RECORD_KINDS
};

struct mu_log_record {
	uint32_t magic;
	uint16_t version, kind;
	uint64_t size; /* bytes behind this header: MU_LOG_RECORD_MAX at most */
};

/* One frame of a block's stack. Behind it path and name, each with its NUL. */
struct mu_log_frame {
	uint64_t offset; /* in the module */
	uint64_t into;   /* bytes behind the beginning of NAME */
	uint32_t number;
	uint16_t path_size;
	uint16_t name_size; /* 1: nothing exported is near */
};

/* No stacks were recorded of blocks that were asked for with these sizes. */
struct mu_log_hint {
	uint64_t least, most;
};

/* The check at the end of the process. */
struct mu_log_outcome {
	int32_t status; /* enum mu_status */
};

#endif
