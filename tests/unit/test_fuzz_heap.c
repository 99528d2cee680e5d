/*
 * The seeds of tests/fuzz/fuzz_heap.c.
 */
#include "tests/fuzz/fuzz_heap.c"

#define FUZZ_NAME "heap"
#include "tests/support/fuzz_seeds.h"
