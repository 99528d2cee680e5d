/* For tests of the contents of an answer: many lost blocks, and the entries. */
#ifndef TESTS_SUPPORT_PASS_LIVE_ANSWER_H
#define TESTS_SUPPORT_PASS_LIVE_ANSWER_H

#include "tests/support/live.h"

#define LOTS 1024

extern uintptr_t lots[LOTS];

/* Leave LOTS blocks without any pointer to them, of the sizes SIZE_OF(i). */
void lose_lots(size_t (*size_of)(size_t i));

void free_lots(void);
size_t size_constant(size_t i);

/* Each size four times; one in 32 is mmapped. */
size_t size_various(size_t i);

/* Its own frame, which is scanned, lies where scrub() has been. */
void get(struct UnreachableMemoryInfo *info, size_t limit);

/* Leaves no plain address in a register that lives on. */
const struct Leak *entry_of(
    const struct UnreachableMemoryInfo *info, uintptr_t hidden);

#endif
