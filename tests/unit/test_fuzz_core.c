/*
 * The seeds of tests/fuzz/fuzz_core.c.
 */
#include "tests/fuzz/fuzz_core.c"

#define FUZZ_NAME "core"
#include "tests/support/fuzz_seeds.h"
