/*
 * Convert the log of a process of a COMMAND, which its library writes as
 * records (mu/log_record.h), to text: frames get files and lines, and hints get
 * the command's wording.
 *
 * The file is untrusted: the process may have written anything into it.
 */
#ifndef LIB_COMMAND_LOG_READER_H
#define LIB_COMMAND_LOG_READER_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/symbolize/helper.h"

/* Initialise to zero. */
struct mu_log_reader {
	long at;      /* bytes read so far */
	bool damaged; /* the file is not valid from there on */
	bool checked; /* the process checked itself at its end */
};

/*
 * Write to OUT what was appended to the file IN, which was opened for this
 * call. An incomplete record is left for the next call.
 */
void mu_log_reader_copy(struct mu_log_reader *reader, FILE *in,
    struct mu_symbol_helper *helper, FILE *out);

#endif
