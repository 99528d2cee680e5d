/*
 * Which looks of a series of any length are kept in arrays of fixed size: when
 * there is no room for another one, every other one is left out, and from then
 * on only each second, fourth, eighth one is kept, besides the latest one.
 *
 * Pure.
 */
#ifndef LIB_GROWTH_KEPT_H
#define LIB_GROWTH_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_KEPT_LOOKS ((size_t)96)

/* Zero is empty. */
struct mu_kept {
	size_t count;  /* looks in the arrays, of MU_KEPT_LOOKS */
	size_t stride; /* each so many are kept; 0 is 1 */
	size_t taken;  /* looks in all */
};

/*
 * Make a place for the next look, and return it. *HALVE: every array has to be
 * halved before, by mu_kept_halve().
 */
size_t mu_kept_next(struct mu_kept *kept, bool *halve);
void mu_kept_halve(uint64_t *values);

#endif
