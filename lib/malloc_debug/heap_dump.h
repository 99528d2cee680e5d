/*
 * The file of live blocks and their stacks, as Android's viewer reads it:
 * "Android Native Heap Dump v1.2".
 *
 * Needs no malloc: memory is mapped for the time being. Runs in: the original,
 * the watcher or any thread.
 */
#ifndef HEAP_DUMP_H
#define HEAP_DUMP_H

#include <stdbool.h>

/* Make or replace the file; says so, and says why not. */
bool heap_dump(const char *name);

/* To an open file, from where it stands. 0, or an errno value. */
int heap_dump_write(int fd);

/* <prefix>.<pid>.txt, for the signal. */
void heap_dump_on_signal(void);

/* <prefix>.<pid>.exit.txt, if the options want it. */
void heap_dump_at_exit(void);

#endif
