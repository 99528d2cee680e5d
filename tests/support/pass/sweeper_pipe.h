/* The pipe of a sweeper that does not exist. */
#ifndef TESTS_SUPPORT_PASS_SWEEPER_PIPE_H
#define TESTS_SUPPORT_PASS_SWEEPER_PIPE_H

#include "lib/state/image.h"

/*
 * IMAGE reads from a pipe, for 20 s at most, and has an arena of ROOM bytes.
 * Returns the pipe's writing end, or -1.
 */
int sweeper_pipe_open(struct mu_image *image, size_t room);

/* WRITING_END may be -1: closed. */
void sweeper_pipe_close(struct mu_image *image, int writing_end);

#endif
