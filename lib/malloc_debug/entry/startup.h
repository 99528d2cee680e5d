/*
 * The recorder is initialised by the first allocation of the process, which may
 * come before any constructor, and completed by its own constructor.
 *
 * Runs in: the original.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_STARTUP_H
#define LIB_MALLOC_DEBUG_ENTRY_STARTUP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Call while RECORDING_UNBORN: find the allocator underneath and read the
 * options, as far as possible at that time. Other threads do not wait for it.
 */
void startup_now(void);

/*
 * Blocks that the allocator allocated and freed before recording was possible:
 * code in a .preinit_array allocates even before libc has its environment.
 */
void startup_note(const void *block, size_t size);
void startup_forget(const void *block);

/* There were too many of these: some pointers of the program are not known. */
bool startup_missed(void);

/*
 * Returns true if the recorder can work: no sanitizer, no Valgrind, and
 * everything that stacks need is ready. Otherwise the reason has been printed.
 */
bool startup_awake(void);

#endif
