/*
 * The seeds of tests/fuzz/fuzz_symbol_wire.c.
 */
#include "tests/fuzz/fuzz_symbol_wire.c"

#define FUZZ_NAME "symbol_wire"
#include "tests/support/fuzz_seeds.h"
