/*
 * The seeds of tests/fuzz/fuzz_why_pipe.c.
 */
#include "tests/fuzz/fuzz_why_pipe.c"

#define FUZZ_NAME "why_pipe"
#include "tests/support/fuzz_seeds.h"
