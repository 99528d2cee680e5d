/* What recorder_shim.c offers to the program it is preloaded into. */
#ifndef TESTS_SUPPORT_RECORDER_H
#define TESTS_SUPPORT_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorder_entry {
	uintptr_t hidden; /* ~address; 0 and 1: no entry */
	size_t size;      /* malloc_usable_size() */
};

/* Weak: NULL where the shim was not preloaded. */
const struct recorder_entry *recorder_table(size_t *slots)
    __attribute__((weak, visibility("default")));
bool recorder_find(uintptr_t address, size_t *size)
    __attribute__((weak, visibility("default")));

#endif
