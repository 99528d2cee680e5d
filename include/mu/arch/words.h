/*
 * The vector code of heapwalk/graph/words.c: compare many words with one range.
 *
 * Bit i of the result is set if word i of the COUNT words at VIEW (at most 64)
 * is LOWEST or up to WIDTH - 1 higher.
 *
 * And find the instructions whose operand is a whole address.
 *
 * Runs in: sweeper (any).
 */
#ifndef MU_ARCH_WORDS_H
#define MU_ARCH_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "mu/arch/chosen.h"

/*
 * MU_ARCH_WORDS lists the vector functions, slowest first; NULL if there are
 * none. This CPU can run the first mu_arch_words_best() of them; if that is not
 * 0, also functions with the attribute MU_ARCH_BITS, which count and find bits
 * by single instructions.
 */
static inline unsigned mu_arch_words_best(void);

/*
 * Where the first operand of 64 bits that an instruction at AT of the SIZE
 * bytes at VIEW, or behind it, loads begins; SIZE if there is none.
 */
static inline size_t mu_arch_operand(const char *view, size_t size, size_t at);

/*
 * The same for an operand of 32 bits that may be an address below 4 GiB, whose
 * highest byte is LOW to HIGH.
 */
static inline size_t mu_arch_short_operand(const char *view, size_t size,
    size_t at, unsigned char low, unsigned char high);

#include MU_ARCH(words.h)

#endif
