/*
 * Words that look like old links of free lists (mu_heap_ops.link()), judged
 * when everything else is marked.
 */
#ifndef HEAPWALK_MARK_LINKS_H
#define HEAPWALK_MARK_LINKS_H

#include "heapwalk/mark/marking.h"

/* Mark what those that are references refer to: how many blocks. */
size_t mu_mark_put_off(struct mu_marking *marking);

/* The same, and find out whether the rest are the program's own after all. */
void mu_mark_links(struct mu_marking *marking);

#endif
