/*
 * What the tests of marking share: one heap, its roots, and the expected
 * unmarked blocks. Each test file includes it once.
 */
#ifndef TESTS_SUPPORT_GRAPH_MARKING_H
#define TESTS_SUPPORT_GRAPH_MARKING_H

#include "heapwalk/mark/mark.h"
#include "tests/support/heaps/fake_heap.h"

#define W sizeof(void *)

extern struct fake_heap marking_heap;
extern struct mu_graph marking_graph;
extern struct mu_root marking_ranges[8];
extern uintptr_t marking_values[8];
extern struct mu_roots marking_roots;

void marking_open_heap(int kind, size_t size);
void marking_teardown(void);
void **marking_node(size_t words);
void root_range(const void *begin, const void *end);
void root_value(const void *value);

/* All anew, also if the heap was marked before. */
enum mu_status mark_with(
    struct mu_memory *memory, uint64_t deadline_ns, size_t max_depth);

enum mu_status mark_bounded(size_t max_depth);
void mark(void);
void expect_leaks(size_t count, size_t bytes);

#endif
