/*
 * Heaps that the program brings: it lists their blocks itself, by Android's
 * functions (memunreachable_register_heap() in the public header).
 *
 * The functions are code of the program's. They are called where the subject is
 * this process, or our image of it: a snapshot of another process, or a core,
 * tells no more than that there are such heaps.
 */
#ifndef HEAPWALK_HEAPS_USER_USER_H
#define HEAPWALK_HEAPS_USER_USER_H

#include "heapwalk/heaps/heap.h"

extern const struct mu_heap_ops mu_heap_user;

#endif
