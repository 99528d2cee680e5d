/*
 * Chains of chunks as glibc's malloc lays them out, made by hand.
 */
#ifndef TESTS_SUPPORT_HEAPS_MADE_CHAIN_H
#define TESTS_SUPPORT_HEAPS_MADE_CHAIN_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "heapwalk/heaps/glibc/chunks.h"

extern char *chain_heap; /* where chains are made */

void random_seed(uint64_t seed);
size_t chain_random_below(size_t bound);
size_t *chain_word_at(size_t offset);

/* A header of SIZE at AT; says of the chunk before whether it is in use. */
void put_header(size_t at, size_t size, size_t before, bool in_use, bool other);

/* Chunks from FROM up to TO, where one must begin; the last is in use. */
void fill(size_t from, size_t to, size_t style, bool other);

void map_heap(size_t size);

#endif
