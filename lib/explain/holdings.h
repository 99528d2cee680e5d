/*
 * What words outside the blocks hold where nothing is declared: in a program
 * without debug information, or behind a void pointer. A block is of the word
 * where its shortest route begins.
 */
#ifndef LIB_EXPLAIN_HOLDINGS_H
#define LIB_EXPLAIN_HOLDINGS_H

#include "lib/explain/python_paths.h"

/*
 * Add to the *COUNT collections of ALL, which has room for MOST, what holds the
 * blocks whose number has 0 in OF: "sessions", "served+0x4060", "probably the
 * stack of thread 'worker'". Their elements are blocks; where ALL has the name
 * already, its bytes grow. What variables of CPython hold is left out if half
 * of it is in PYTHON. MU_ERR_NO_MEMORY, MU_ERR_TIMEOUT.
 */
enum mu_status mu_holdings_add(struct mu_explaining *explaining,
    const uint16_t *of, const struct mu_python_held *python,
    struct mu_collection *all, size_t *count, size_t most);

#endif
