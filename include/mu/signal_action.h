/*
 * Signal handlers without libc: libc's sigaction() refuses the signals that
 * libc reserves for itself (32 and 33), and writes errno.
 *
 * Runs in: any.
 */
#ifndef MU_SIGNAL_ACTION_H
#define MU_SIGNAL_ACTION_H

#include <signal.h>

#include "mu/sys.h"

/* The struct that rt_sigaction() takes: asm/signal.h. */
struct mu_signal_action {
	void *handler; /* or SIG_DFL, SIG_IGN */
	unsigned long flags;
	void *restorer;
	mu_sigmask mask;
};

/* The x86-64 kernel provides no code for the return from a handler. */
#ifdef MU_SIGRETURN_CODE
void mu_signal_return(void) __attribute__((visibility("hidden")));
#define MU_RESTORER ((void *)mu_signal_return)
#define MU_RESTORER_FLAG 0x04000000ul /* SA_RESTORER, asm/signal.h */
#else
#define MU_RESTORER NULL
#define MU_RESTORER_FLAG 0ul
#endif

/*
 * Set the action of SIGNO to ACTION, unless ACTION is NULL. *OLD receives the
 * previous one, unless OLD is NULL.
 */
static inline long
mu_sys_signal_action(int signo, const struct mu_signal_action *action,
    struct mu_signal_action *old)
{
	int tries = 0;
	long error;

	do
		error = mu_sys4(SYS_rt_sigaction, signo, (long)action,
		    (long)old, sizeof(mu_sigmask));
	while (error < 0 && error != -EINVAL && ++tries < MU_SYS_TRIES);
	return error;
}

/* The bit of SIGNO (1 to 64) in a mask. */
static inline mu_sigmask
mu_signal_bit(int signo)
{
	return (mu_sigmask)1 << (signo - 1);
}

#endif
