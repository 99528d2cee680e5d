/*
 * Which signal was it? One that the program handles is never used.
 */
#ifndef TESTS_SUPPORT_SIGNAL_STOP_CHOICE_H
#define TESTS_SUPPORT_SIGNAL_STOP_CHOICE_H

#include "tests/support/signal_stop.h"

static int handled;

static inline void
on_program_signal(int signo)
{
	(void)signo;
	__atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
}

static inline void
handle(int signo)
{
	struct sigaction action = { .sa_handler = on_program_signal,
		.sa_flags = SA_RESTART };

	ck_assert_int_eq(sigaction(signo, &action, NULL), 0);
}

static struct counter counter;

static inline void
must_use(int signo)
{
	must_signal_stop();
	ck_assert_int_eq(signal_stop.signo, signo);
	release_all();
	ck_assert_int_eq(handled, 0);
	counter_must_go_on(&counter);
}

#endif
