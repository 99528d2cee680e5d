/*
 * Reports with files and lines, by a process of its own, if the option
 * symbolize=1 of MEMUNREACHABLE_OPTIONS wants it.
 *
 * Runs in: the original, any thread. Uses no malloc.
 */
#ifndef SYMBOLIZE_H
#define SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>

/* In the constructor. */
void symbolize_start(void);

/* Every text that is written is worth a process. */
bool symbolize_active(void);

/* Lines of a report on stderr. */
void symbolize_write(const char *text, size_t length);

#endif
