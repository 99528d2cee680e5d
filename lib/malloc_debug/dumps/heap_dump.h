/*
 * Write live blocks and their stacks to a file, in the format of Android's
 * viewer: "Android Native Heap Dump v1.2".
 *
 * Needs no malloc: memory is mapped temporarily. Runs in: the original, the
 * watcher or any thread.
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_HEAP_DUMP_H
#define LIB_MALLOC_DEBUG_DUMPS_HEAP_DUMP_H

#include <stdbool.h>

/* Create or replace the file, and report success or the error. */
bool heap_dump(const char *name);

/* Write to an open file, at its current offset. Returns 0 or an errno value. */
int heap_dump_write(int fd);

/* Write to <prefix>.<pid>.txt, for the signal. */
void heap_dump_on_signal(void);

/* Write to <prefix>.<pid>.exit.txt, if an option requests it. */
void heap_dump_at_exit(void);

#endif
