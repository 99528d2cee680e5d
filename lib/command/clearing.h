/*
 * Recognise a thread that clears memory for calloc().
 *
 * A large block takes long, and a thread that is in libc may be in malloc,
 * where it must not be ended. calloc() clears when the block exists and the
 * lock of its arena is released, in all releases of glibc.
 *
 * Runs in: the command.
 */
#ifndef LIB_COMMAND_CLEARING_H
#define LIB_COMMAND_CLEARING_H

#include "heapwalk/subject/snapshot.h"

/*
 * The addresses of memset() in a process whose libc has its code at LIBC. Empty
 * if its libc is another file than ours, so that they are not known.
 */
struct mu_range mu_clearing_in(const struct mu_mapping *libc);

#endif
