/*
 * The seeds of tests/fuzz/fuzz_heap_dump.c.
 */
#include "tests/fuzz/fuzz_heap_dump.c"

#define FUZZ_NAME "heap_dump"
#include "tests/support/fuzz_seeds.h"
