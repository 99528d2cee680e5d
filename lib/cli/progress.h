/*
 * Show on a terminal what the command is doing, if it takes longer than a
 * second: one line on standard error, erased when the work is done.
 */
#ifndef LIB_CLI_PROGRESS_H
#define LIB_CLI_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/check/check.h"

struct mu_progress {
	bool running; /* the thread exists */
	pthread_t thread;
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t changed;
	enum mu_check_step step;
	bool done;
	int fd;
};

/*
 * Does nothing, and starts no thread, if WANTED is false or FD is not a
 * terminal. PROGRESS must stay where it is until the end.
 */
void mu_progress_begin(struct mu_progress *progress, bool wanted, int fd);

/* For mu_check.progress; CTX is the progress. */
void mu_progress_step(void *ctx, enum mu_check_step step);

/* Returns after the line is erased. May be called twice. */
void mu_progress_end(struct mu_progress *progress);

/* Format "memunreachable: marking what is reachable, 3 s". Pure. */
size_t mu_progress_line(
    enum mu_check_step step, uint64_t ns, char *buffer, size_t size);

#endif
