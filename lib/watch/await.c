#include "lib/watch/await.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "mu/sys.h"

/* How long a process without a pidfd may have ended unnoticed. */
#define TICK_NS (MU_NS_PER_SEC / 2)

static void
list_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR1);
}

bool
mu_watch_signals_open(struct mu_watch_signals *signals)
{
	const struct sigaction act = { .sa_handler = SIG_DFL };
	sigset_t set;

	list_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &signals->before);
	/*
	 * A shell without job control ignores SIGINT in what it starts in the
	 * background, and an ignored signal is not read here. SIGHUP stays
	 * ignored under nohup(1).
	 */
	sigaction(SIGINT, &act, &signals->interrupt);
	signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals->fd >= 0;
}

void
mu_watch_signals_restore(const struct mu_watch_signals *signals)
{
	sigaction(SIGINT, &signals->interrupt, NULL);
	sigprocmask(SIG_SETMASK, &signals->before, NULL);
}

void
mu_watch_signals_close(struct mu_watch_signals *signals)
{
	mu_sys_close(&signals->fd);
}

/* A signal that has arrived; MU_WATCH_TIME: none. */
static enum mu_watch_event
take_signal(const struct mu_watch_signals *signals)
{
	enum mu_watch_event event = MU_WATCH_TIME;
	struct signalfd_siginfo info;

	while (event != MU_WATCH_STOP &&
	    read(signals->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		event =
		    info.ssi_signo == SIGUSR1 ? MU_WATCH_NOW : MU_WATCH_STOP;
	return event;
}

static void
sleep_until(const struct mu_watch_signals *signals,
    const struct mu_watch_subject *subject, uint64_t ns)
{
	struct pollfd fds[2] = {
		{ .fd = signals->fd, .events = POLLIN },
		{ .fd = subject != NULL ? subject->fd : -1, .events = POLLIN },
	};
	struct timespec time;

	if (ns > TICK_NS && fds[1].fd < 0)
		ns = TICK_NS;
	time = mu_sys_timespec(ns);
	ppoll(fds, 2, &time, NULL);
}

enum mu_watch_event
mu_watch_await(const struct mu_watch_signals *signals,
    const struct mu_watch_subject *subject, uint64_t until_ns)
{
	enum mu_watch_event event;
	uint64_t now;

	for (;;) {
		event = take_signal(signals);
		if (event != MU_WATCH_TIME)
			return event;
		if (subject != NULL && mu_watch_subject_gone(subject))
			return MU_WATCH_ENDED;
		now = mu_sys_now_ns();
		if (now >= until_ns)
			return MU_WATCH_TIME;
		sleep_until(signals, subject, until_ns - now);
	}
}
