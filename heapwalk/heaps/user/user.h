/*
 * Heaps that the program provides: it lists their blocks itself, by Android's
 * functions (memunreachable_register_heap() in the public header).
 *
 * The functions are the program's code. They are called only if the subject is
 * this process, or our image of it; a snapshot of another process, or a core,
 * only shows that such heaps exist.
 */
#ifndef HEAPWALK_HEAPS_USER_USER_H
#define HEAPWALK_HEAPS_USER_USER_H

#include "heapwalk/heaps/heap.h"

extern const struct mu_heap_ops mu_heap_user;

/*
 * How many heaps the program has registered, by the library's variables in
 * SNAP, which is of another process or a core.
 */
size_t mu_program_heaps_count(const struct mu_snapshot *snap);

#endif
