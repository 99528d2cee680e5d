/*
 * The log of a process of a COMMAND, which its library writes as records
 * (mu/log_record.h), becomes text: frames get files and lines, and hints the
 * words of the command.
 *
 * The process may have written anything into the file.
 */
#ifndef LIB_COMMAND_LOG_READER_H
#define LIB_COMMAND_LOG_READER_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/symbolize/helper.h"

/* Zero to begin with. */
struct mu_log_reader {
	long at;      /* bytes that were read */
	bool damaged; /* no record follows there */
	bool checked; /* the process checked itself at its end */
};

/*
 * Write to OUT what the file IN, opened for this call, has added. A record that
 * is not complete is still being written: it is left for the next call.
 */
void mu_log_reader_copy(struct mu_log_reader *reader, FILE *in,
    struct mu_symbol_helper *helper, FILE *out);

#endif
