/*
 * The seeds of tests/fuzz/fuzz_options.c.
 */
#include "tests/fuzz/fuzz_options.c"

#define FUZZ_NAME "options"
#include "tests/support/fuzz_seeds.h"
