/*
 * Blocks whose address an interpreter keeps as an integer: ctypes gives a
 * "void *" as an int of CPython, which has 30 bits of it in each digit; Chez
 * Scheme and Racket keep what the foreign interface returns as a fixnum, which
 * is eight times the number.
 *
 * An integer counts only where such an interpreter is mapped, in a root or in a
 * block that is reached, and only if a block begins at the very address. One of
 * CPython has the header of an object whose type is int or derived from it.
 *
 * Memory is read once more, and only if something is unreachable without this.
 */
#ifndef HEAPWALK_MARK_INTEGERS_H
#define HEAPWALK_MARK_INTEGERS_H

#include "heapwalk/graph/graph.h"

/* The encodings of the interpreters that are mapped: bits; 0: none. */
#define MU_INTEGERS_DIGITS 1u /* CPython: 3.x with reference counts */
#define MU_INTEGERS_FIXNUM 2u /* Chez Scheme */
unsigned mu_integers_used(const struct mu_snapshot *snap);

/*
 * After mu_mark(), with blocks->integers: mark the blocks that such integers
 * lead to, and what these blocks lead to. Integers in roots are listed in
 * GRAPH; one in a block with at most one edge becomes its edge.
 * MU_ERR_NO_MEMORY; MU_ERR_TIMEOUT: DEADLINE_NS (CLOCK_MONOTONIC) passed.
 */
enum mu_status mu_integers_mark(struct mu_graph *graph,
    const struct mu_snapshot *snap, const struct mu_roots *roots,
    uint64_t deadline_ns);

/*
 * True if VALUE, the word at ADDRESS, is such an integer by ENCODINGS, or the
 * digits of one, and stands for TARGET.
 */
bool mu_integers_refer(const struct mu_snapshot *snap, unsigned encodings,
    uintptr_t address, uintptr_t value, uintptr_t target);

#endif
