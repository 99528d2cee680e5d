/*
 * The seeds of tests/fuzz/fuzz_proc_text.c.
 */
#include "tests/fuzz/fuzz_proc_text.c"

#define FUZZ_NAME "proc_text"
#include "tests/support/fuzz_seeds.h"
