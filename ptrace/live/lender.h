/*
 * A thread that lends its real-time priority to a thread of another process for
 * which we wait. The caller has a higher priority: a thread that does not leave
 * the kernel keeps the CPU from all of the same one, which could not end the
 * loan.
 *
 * Runs in: keeper.
 */
#ifndef PTRACE_LIVE_LENDER_H
#define PTRACE_LIVE_LENDER_H

#include <stdbool.h>
#include <sys/types.h>

struct mu_lender {
	int borrower; /* futex: whom to lend it; 0: no thread */
	pid_t tid;    /* the thread, which ends with the process; 0: none */
};

/*
 * Start the thread. LENDER, which is zero, must stay where it is. Nothing is
 * lent without a thread, and on a single CPU: if we are killed there, the
 * thread could not end either.
 */
void mu_lender_open(struct mu_lender *lender);

/*
 * Lend it to thread TID of any process from now on, instead of another; 0 ends
 * the loan at once. Accepts NULL.
 */
void mu_lender_lend(struct mu_lender *lender, pid_t tid);

#endif
