/*
 * The seeds of tests/fuzz/fuzz_mappings.c.
 */
#include "tests/fuzz/fuzz_mappings.c"

#define FUZZ_NAME "mappings"
#include "tests/support/fuzz_seeds.h"
