/*
 * A thread of the keeper that lends its priority to a thread of the target for
 * which the keeper waits. The keeper has a higher one: if it waited itself for
 * the end of a loan, a thread that stays in the kernel would keep the CPU from
 * it.
 *
 * Runs in: keeper.
 */
#ifndef LIB_HELPERS_LENDER_H
#define LIB_HELPERS_LENDER_H

#include <stdbool.h>
#include <stddef.h>

struct mu_lender {
	int tid;      /* futex: whom to lend it; 0: no thread */
	bool started; /* until the process ends */
};

/*
 * Start the thread. LENDER, which is zero, must stay where it is. Without a
 * thread nothing is lent.
 */
void mu_lender_open(struct mu_lender *lender);

/* For struct mu_wakeup. */
static inline int *
mu_lender_word(struct mu_lender *lender)
{
	return lender->started ? &lender->tid : NULL;
}

#endif
