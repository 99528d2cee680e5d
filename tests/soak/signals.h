/*
 * Signals that the soak's threads send: each arrives exactly once, whatever
 * stops the threads during that.
 *
 * Queued ones have a number each and go to the process, so that any thread may
 * get them. Standard ones go to the sending thread itself: pthread_kill() has
 * not returned before the handler has. Those to the process may melt into one,
 * but do not vanish. SIGURG has a handler of the program only at times: if that
 * is installed just when a pass uses SIGURG, it may see one of the pass's.
 */
#ifndef TESTS_SOAK_SIGNALS_H
#define TESTS_SOAK_SIGNALS_H

#include <errno.h>
#include <signal.h>

#include "tests/soak/soaker.h"

#define BATCH 64
#define SIGNAL_QUEUED (SIGRTMIN + 4)

static struct {
	unsigned long queued, queued_seen, strays;
	unsigned char seen[BATCH];
	unsigned long standard, melting, melting_seen, urgent, met;
} signals;

static __thread volatile unsigned own_usr1, own_raised, own_met;

static void
on_queued(int signo, siginfo_t *info, void *context)
{
	unsigned number = (unsigned)info->si_value.sival_int;

	(void)signo;
	(void)context;
	if (info->si_code != SI_QUEUE || number >= BATCH) {
		count_one(&signals.strays);
		return;
	}
	__atomic_fetch_add(&signals.seen[number], 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&signals.queued_seen, 1, __ATOMIC_SEQ_CST);
}

static void
on_own(int signo)
{
	(void)signo;
	own_usr1++;
}

static void
on_urgent(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	if (info->si_code == SI_TKILL)
		own_raised++;
	else
		own_met++;
}

static void
on_melting(int signo)
{
	(void)signo;
	__atomic_fetch_add(&signals.melting_seen, 1, __ATOMIC_SEQ_CST);
}

LIVE void
catch_signal(int signo, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler,
		.sa_flags = SA_RESTART };

	if (sigaction(signo, &action, NULL) != 0)
		abort();
}

LIVE void
catch_with_info(int signo, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler,
		.sa_flags = SA_RESTART | SA_SIGINFO };

	if (sigaction(signo, &action, NULL) != 0)
		abort();
}

LIVE void
signals_open(void)
{
	catch_with_info(SIGNAL_QUEUED, on_queued);
	catch_signal(SIGUSR1, on_own);
	catch_signal(SIGUSR2, on_melting);
}

/* A batch of them, each of which must come before the next batch goes. */
static void
round_queued(struct soaker *soaker)
{
	unsigned long before =
	    __atomic_load_n(&signals.queued_seen, __ATOMIC_SEQ_CST);
	union sigval value;
	unsigned i;

	(void)soaker;
	memset(signals.seen, 0, sizeof(signals.seen));
	for (i = 0; i < BATCH; i++) {
		value.sival_int = (int)i;
		while (sigqueue(getpid(), SIGNAL_QUEUED, value) != 0)
			if (errno != EAGAIN)
				abort();
	}
	signals.queued += BATCH;
	if (!await_count(&signals.queued_seen, before + BATCH))
		wrong("%lu of %d queued signals came",
		    signals.queued_seen - before, BATCH);
	for (i = 0; i < BATCH; i++)
		if (signals.seen[i] != 1)
			wrong("queued signal %u came %u times", i,
			    signals.seen[i]);
	if (count_of(&signals.strays) != 0)
		wrong("a queued signal that was not sent");
}

static void
round_standard(struct soaker *soaker)
{
	unsigned long before =
	    __atomic_load_n(&signals.melting_seen, __ATOMIC_SEQ_CST);
	unsigned own = own_usr1;

	(void)soaker;
	pthread_kill(pthread_self(), SIGUSR1);
	signals.standard++;
	if (own_usr1 != own + 1)
		wrong("a signal to myself came %u times", own_usr1 - own);
	kill(getpid(), SIGUSR2);
	signals.melting++;
	if (!await_count(&signals.melting_seen, before + 1))
		wrong("a signal to the process got lost");
}

LIVE void
expect_urgent(unsigned wanted, unsigned met)
{
	if (own_raised > wanted || own_raised + (own_met - met) < wanted)
		wrong("SIGURG to myself came %u times, not %u; of passes %u",
		    own_raised, wanted, own_met - met);
}

/* The signal that passes like best, mine for a while. */
static void
round_urgent(struct soaker *soaker)
{
	unsigned i, times = 1 + (unsigned)roll(soaker, 8);
	unsigned own = own_raised, met = own_met;
	struct timespec pause = { 0, (long)roll(soaker, NS_PER_MS) };

	catch_with_info(SIGURG, on_urgent);
	for (i = 1; i <= times; i++) {
		pthread_kill(pthread_self(), SIGURG);
		expect_urgent(own + i, met);
	}
	signals.urgent += times;
	nanosleep(&pause, NULL);
	catch_signal(SIGURG, SIG_DFL);
	pthread_kill(pthread_self(), SIGURG);
	expect_urgent(own + times, met);
	signals.met += own_met - met;
	pause.tv_nsec = (long)roll(soaker, 5 * NS_PER_MS);
	nanosleep(&pause, NULL);
}

#endif
