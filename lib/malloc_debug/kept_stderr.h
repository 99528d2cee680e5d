/*
 * stderr, also for what is said after the program has closed it: coreutils and
 * others do so as the last thing before they exit.
 *
 * Runs in: the original, any thread.
 */
#ifndef KEPT_STDERR_H
#define KEPT_STDERR_H

#include <stddef.h>

/* The program closes it while it exits: a second descriptor is kept. */
void kept_stderr_keep(void);

/* In a forked child: a daemon must not hold the other end of a pipe open. */
void kept_stderr_drop(void);

void kept_stderr_write(const char *text, size_t length);

#endif
