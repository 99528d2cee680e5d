/*
 * A chain of blocks, each of which leads to the next and to nothing else.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_CHAIN_H
#define HEAPWALK_CHAIN_H

#include "heapwalk/scan.h"

/*
 * Scan the only block on the stack, and what it leads to, until that are two
 * or none, or something has to be looked up. Where mu_batch_possible().
 */
void mu_chain_scan(struct mu_scan *scan);

#endif
