/*
 * The recorder comes up with the first allocation of the process, which may be
 * before any constructor, and is complete with its own constructor.
 *
 * Runs in: the original.
 */
#ifndef STARTUP_H
#define STARTUP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * While RECORDING_UNBORN: find the allocator underneath, read the options, as
 * far as that can be done by now. Other threads do not wait for who does it.
 */
void startup_now(void);

/*
 * Blocks that the allocator gave out and took back before anything could be
 * recorded: who has a .preinit_array allocates even before libc has its
 * environment.
 */
void startup_note(const void *block, size_t size);
void startup_forget(const void *block);

/* There were too many of them: not every pointer of the program is known. */
bool startup_missed(void);

/*
 * The recorder may work here: no sanitizer, no Valgrind. All that stacks need
 * is ready. False = it is not, and was said.
 */
bool startup_awake(void);

#endif
