/* Find the roots of this process. */
#ifndef TESTS_SUPPORT_HEAPS_ROOTS_FOUND_H
#define TESTS_SUPPORT_HEAPS_ROOTS_FOUND_H

#include "heapwalk/roots/roots.h"
#include "mu/arch/cpu.h"
#include "tests/support/heaps/image.h"

extern struct mu_snapshot found_snap;
extern struct mu_heap found_heap;
extern struct mu_roots found_roots;
extern struct mu_thread thread;
extern struct mu_why found_why;

void found_setup(void);
void check_roots(void);
void found_find(void);

/* How many roots have the byte at ADDRESS? */
int found_times(const void *address);

enum mu_root_kind kind_of(const void *address);
bool has_value(uintptr_t value);

#endif
