/*
 * The seeds of tests/fuzz/fuzz_leak_pipe.c.
 */
#include "tests/fuzz/fuzz_leak_pipe.c"

#define FUZZ_NAME "leak_pipe"
#include "tests/support/fuzz_seeds.h"
