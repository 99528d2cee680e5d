/*
 * Initialise the recorder. It begins with the first allocation of the process,
 * which may come before any constructor, and is completed by the recorder's own
 * constructor.
 *
 * Runs in: the original.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_STARTUP_H
#define LIB_MALLOC_DEBUG_ENTRY_STARTUP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Call while recording_way is RECORDING_NOT_STARTED: find the next allocator
 * and read the options, as far as that is possible yet. Other threads do not
 * wait for it.
 */
void startup_now(void);

/*
 * Note a block that was allocated, and perhaps freed, before recording was
 * possible: code in a .preinit_array allocates even before libc has its
 * environment.
 */
void startup_note(const void *block, size_t size);
void startup_forget(const void *block);

/*
 * True if there were too many of these: some pointers of the program are not
 * known.
 */
bool startup_missed(void);

/*
 * True if the recorder can work: no sanitizer, no Valgrind, and everything that
 * capturing stacks needs is ready. Otherwise the reason has been printed.
 */
bool startup_ready(void);

#endif
