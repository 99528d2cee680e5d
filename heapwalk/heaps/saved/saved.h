/*
 * The heap of a saved look: its blocks were listed when it was saved.
 */
#ifndef HEAPWALK_HEAPS_SAVED_SAVED_H
#define HEAPWALK_HEAPS_SAVED_SAVED_H

#include "heapwalk/heaps/heap.h"

extern const struct mu_heap_ops mu_heap_saved;

#endif
