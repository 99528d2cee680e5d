/*
 * Transfer bytes from the sweeper to the original, for all messages: answers,
 * the blocks of a first look, references.
 */
#ifndef LIB_PIPE_PIPE_H
#define LIB_PIPE_PIPE_H

#include "lib/state/sweeper_end.h"

/* Write all SIZE bytes; false if the reader is gone. Runs in: sweeper. */
bool mu_pipe_write(int fd, const void *data, size_t size);

/*
 * All SIZE bytes, or WHY not: waits until sweeper->deadline_ns and notices when
 * the sweeper dies. Runs in: original.
 */
enum mu_status mu_pipe_read(
    struct mu_sweeper *sweeper, void *data, size_t size, struct mu_why *why);

#endif
