#include "tests/support/stop/signal_stop_choice.h"

int handled;

static void
on_program_signal(int signo)
{
	(void)signo;
	__atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
}

void
handle(int signo)
{
	struct sigaction action = { .sa_handler = on_program_signal,
		.sa_flags = SA_RESTART };

	ck_assert_int_eq(sigaction(signo, &action, NULL), 0);
}

struct counter counter;

void
must_use(int signo)
{
	must_signal_stop();
	ck_assert_int_eq(signal_stop.signo, signo);
	release_all();
	ck_assert_int_eq(handled, 0);
	counter_must_go_on(&counter);
}
