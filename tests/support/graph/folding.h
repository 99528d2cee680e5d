/*
 * What the tests of folding share: one heap, one answer, and the expected
 * result. Each test file includes it once.
 */
#ifndef TESTS_SUPPORT_GRAPH_FOLDING_H
#define TESTS_SUPPORT_GRAPH_FOLDING_H

#include "heapwalk/fold/fold.h"
#include "tests/support/graph/unpacked.h"
#include "tests/support/heaps/fake_heap.h"

#define W sizeof(void *)

extern struct fake_heap folding_heap;
extern struct mu_leaks folding_leaks;
extern struct mu_leak *folding_entries; /* of these */
extern struct mu_why folding_why;
extern struct mu_fold_wanted folding_wanted; /* LIMIT is set by fold_until() */
extern struct mu_graph folding_graph;

/* Called when nothing is marked yet; NULL: nothing is reachable. */
extern void (*after_make)(void);

void forget_edges(void);
void folding_open_heap(int kind, size_t size);
void folding_teardown(void);
void **folding_node(size_t words);
size_t bytes(size_t words);

/* What fails, if anything is to, fails in the folding. */
enum mu_status fold_until(size_t limit, uint64_t deadline_ns);

void fold(void);
void expect_totals(size_t num_leaks, size_t leak_bytes, size_t num_entries);
void expect_entry(size_t i, const void *begin, size_t size,
    size_t referenced_count, size_t referenced_size);

/* COUNT nodes of a word each, the last pointing at the first. */
void **ring(size_t count);

#endif
