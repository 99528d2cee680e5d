/*
 * Binary search in anything that is sorted.
 *
 * Runs in: any.
 */
#ifndef MU_BISECT_H
#define MU_BISECT_H

/*
 * Move LOW, a variable of type size_t, to the first index from there on for
 * which BEFORE is false, or to END. BEFORE is an expression of the index I; it
 * is true up to some index and false from there on.
 */
#define mu_bisect(low, end, i, before)                           \
	do {                                                     \
		size_t i, mu_bisect_end = (end);                 \
                                                                 \
		while ((low) < mu_bisect_end) {                  \
			i = (low) + (mu_bisect_end - (low)) / 2; \
			if (before)                              \
				(low) = i + 1;                   \
			else                                     \
				mu_bisect_end = i;               \
		}                                                \
	} while (0)

#endif
