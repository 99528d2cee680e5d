/*
 * Close all descriptors in a process's own copy of the table.
 *
 * Runs in: collector.
 */
#ifndef LIB_HELPERS_DESCRIPTORS_H
#define LIB_HELPERS_DESCRIPTORS_H

#include <stddef.h>

/*
 * Close every descriptor except the COUNT (at most 8) in KEEP, where -1 stands
 * for none.
 */
void mu_descriptors_close_but(const int *keep, size_t count);

#endif
