/*
 * Find the words that lie within a range: the first filter for every scanned
 * word, which few pass.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_GRAPH_WORDS_H
#define HEAPWALK_GRAPH_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_WORDS_MAX 64

/*
 * Bit i of the result is set if word i of the COUNT words at VIEW (at most
 * MU_WORDS_MAX) is LOWEST or up to WIDTH - 1 higher. VIEW need not be aligned.
 */
typedef uint64_t mu_words_filter(
    const char *view, size_t count, uintptr_t lowest, uintptr_t width);

/*
 * The fastest version for this CPU. Marking a random graph of 10^6 blocks takes
 * 1.1 to 1.4 times as long one word at a time as eight (2 cores Xeon). Asks the
 * CPU, which takes up to 100 us in a virtual machine: keep the answer.
 */
mu_words_filter *mu_words_choose(void);

/*
 * A version by number, for tests; NULL if this CPU cannot run it, or after the
 * last.
 */
mu_words_filter *mu_words_version(unsigned number);

/* True if the CPU that FILTER was chosen for has what MU_ARCH_BITS needs. */
bool mu_words_bits(mu_words_filter *filter);

#endif
