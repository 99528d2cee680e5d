/*
 * stderr that stays usable after the program has closed it: coreutils and
 * others close it as their last step before they exit.
 */
#ifndef LIB_MALLOC_DEBUG_STATE_KEPT_STDERR_H
#define LIB_MALLOC_DEBUG_STATE_KEPT_STDERR_H

#include <stddef.h>

/*
 * Call when the program closes stderr while it exits: keeps a second
 * descriptor.
 */
void kept_stderr_keep(void);

/* In a forked child: a daemon must not hold the other end of a pipe open. */
void kept_stderr_drop(void);

/*
 * Write to stderr or, if the program has closed it, to the kept copy. Errors
 * are ignored.
 */
void kept_stderr_write(const char *text, size_t length);

#endif
