/*
 * What the command is busy with, on a terminal, for work that takes longer
 * than a second: one line on standard error, gone when the work is done.
 */
#ifndef LIB_CLI_PROGRESS_H
#define LIB_CLI_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/check/check.h"

struct mu_progress {
	bool running; /* the thread is there */
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	enum mu_check_step step;
	bool done;
	int fd;
};

/*
 * Shows nothing if WANTED is false or FD is no terminal: then no thread is
 * made. PROGRESS stays where it is until the end.
 */
void mu_progress_begin(struct mu_progress *progress, bool wanted, int fd);

/* As mu_check.progress; CTX is the progress. */
void mu_progress_step(void *ctx, enum mu_check_step step);

/* Returns when the line is erased. May be called twice. */
void mu_progress_end(struct mu_progress *progress);

/* "memunreachable: marking what is reachable, 3 s"; pure. */
size_t mu_progress_line(
    enum mu_check_step step, uint64_t ns, char *buffer, size_t size);

#endif
