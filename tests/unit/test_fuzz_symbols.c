/*
 * The seeds of tests/fuzz/fuzz_symbols.c.
 */
#include "tests/fuzz/fuzz_symbols.c"

#define FUZZ_NAME "symbols"
#include "tests/support/fuzz_seeds.h"
