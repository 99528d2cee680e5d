/*
 * Reports with files and lines, by a separate process, if
 * MEMUNREACHABLE_OPTIONS has symbolize=1.
 *
 * Uses no malloc.
 */
#ifndef LIB_MALLOC_DEBUG_CHECKS_SYMBOLIZE_H
#define LIB_MALLOC_DEBUG_CHECKS_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>

/* Call in the constructor. */
void symbolize_start(void);

/*
 * True if the option is set. Each text that is written then starts a process.
 */
bool symbolize_active(void);

/* Write lines of a report to stderr. */
void symbolize_write(const char *text, size_t length);

#endif
