/*
 * The line of an instruction of CPython, from the table of its code object:
 * co_lnotab until 3.9 (Objects/lnotab_notes.txt), co_linetable in 3.10 (the
 * same file) and since 3.11 (Objects/locations.md).
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_PYTHON_LINES_H
#define LIB_MALLOC_DEBUG_UNWIND_PYTHON_LINES_H

#include <stddef.h>

enum python_table {
	PYTHON_LNOTAB,
	PYTHON_LINES,     /* 3.10 */
	PYTHON_LOCATIONS, /* 3.11 */
};

/*
 * The line of the instruction POSITION bytes into the code, which begins at
 * line FIRST; 0: it has none. Pure.
 */
int python_line(enum python_table kind, const unsigned char *table, size_t size,
    int first, size_t position);

#endif
