/*
 * The seeds of tests/fuzz/fuzz_unwind.c.
 */
#include "tests/fuzz/fuzz_unwind.c"

#define FUZZ_NAME "unwind"
#include "tests/support/fuzz_seeds.h"
