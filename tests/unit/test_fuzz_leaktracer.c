/*
 * The seeds of tests/fuzz/fuzz_leaktracer.c.
 */
#include "tests/fuzz/fuzz_leaktracer.c"

#define FUZZ_NAME "leaktracer"
#include "tests/support/fuzz_seeds.h"
