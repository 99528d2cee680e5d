#include "tests/support/pass/trigger_scenarios.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"

static void *volatile kept;

/*
 * The block behind it stays: malloc knows a chunk by the address 16 below the
 * block, which is inside the one before it. While malloc works on a neighbour,
 * its registers refer to the lost block.
 */
static __attribute__((noinline)) void
lose(void)
{
	mu_hide(memset(malloc(24), 'x', 24));
	kept = malloc(24);
}

static void
ready(void)
{
	lose();
	scrub_stack();
	dprintf(1, "ready %d\n", getpid());
}

static size_t
count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	size_t count = 0;

	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count - 2;
}

/* Nothing of the passes may be left; the last thread is just going. */
static int
end(size_t threads)
{
	int tries;

	for (tries = 0; tries < 500 && count_threads() != threads; tries++)
		usleep(10000);
	if (count_threads() != threads)
		return 50;
	if (waitpid(-1, NULL, __WALL | WNOHANG) != -1 || errno != ECHILD)
		return 51;
	return 0;
}

static bool
watch(int signo)
{
	return memunreachable_watch_signal(signo);
}

static int
idle_in_read(void)
{
	int interrupted = 0;
	char byte;
	ssize_t n;

	if (!watch(SIGNO))
		return 1;
	ready();
	do {
		n = read(0, &byte, 1);
		interrupted += n < 0;
	} while (n != 0);
	dprintf(1, "interrupted %d\n", interrupted);
	return end(1);
}

static void
on_usr1(int signo)
{
	(void)signo;
	_exit(0);
}

static int
idle_in_pause(void)
{
	signal(SIGUSR1, on_usr1);
	if (!watch(SIGNO))
		return 1;
	ready();
	for (;;)
		pause();
}

static bool
input_ended(void)
{
	struct pollfd wait = { 0, POLLIN, 0 };

	/* EINTR even with no time to wait: poll() is never restarted. */
	return poll(&wait, 1, 0) > 0;
}

static void
allocate(unsigned rounds)
{
	unsigned i;

	for (i = 0; i < rounds; i++) {
		char *p = malloc(i % 5000 + 1), *q = malloc(3000);

		/* No compiler may do without malloc (clang does). */
		__asm__ volatile("" : "+r"(p), "+r"(q) : : "memory");
		p[0] = q[0] = 1;
		q = realloc(q, 9000 - i % 5000);
		q[0] = p[0];
		free(p);
		free(q);
	}
}

static int
busy_in_malloc(void)
{
	if (!watch(SIGNO))
		return 1;
	ready();
	while (!input_ended())
		allocate(10000);
	return end(1);
}

static volatile sig_atomic_t ending;

static void *
busy_body(void *arg)
{
	while (!ending)
		allocate(1000);
	return arg;
}

static int
busy_threads(void)
{
	pthread_t threads[4];
	size_t i;

	if (!watch(SIGNO))
		return 1;
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, busy_body, NULL);
	ready();
	while (!input_ended())
		allocate(10000);
	ending = 1;
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return end(1);
}

static volatile sig_atomic_t plain_calls, siginfo_calls, siginfo_sum;

static void
on_plain(int signo)
{
	plain_calls += signo == SIGUSR2;
	dprintf(1, "handled\n");
}

static void
on_siginfo(int signo, siginfo_t *info, void *context)
{
	siginfo_calls += signo == SIGNO && context != NULL;
	siginfo_sum += info->si_value.sival_int;
	dprintf(1, "handled\n");
}

static void
install_earlier(void)
{
	struct sigaction siginfo = { .sa_sigaction = on_siginfo,
		.sa_flags = SA_SIGINFO };
	struct sigaction plain = { .sa_handler = on_plain };

	sigaction(SIGNO, &siginfo, NULL);
	sigaction(SIGUSR2, &plain, NULL);
}

static void
await_input_end(void)
{
	char byte;
	ssize_t n;

	do
		n = read(0, &byte, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
}

/* Watched twice, which must not chain a handler to itself. */
static int
chained(void)
{
	install_earlier();
	if (!watch(SIGNO) || !watch(SIGUSR2) || !watch(SIGNO))
		return 1;
	ready();
	await_input_end();
	dprintf(1, "plain %d siginfo %d sum %d\n", (int)plain_calls,
	    (int)siginfo_calls, (int)siginfo_sum);
	return end(1);
}

/*
 * The next line that is logged blocks until our parent reads, and so does each
 * one after it: a pipe of one page polls as writable only when it is empty.
 */
static void
fill_stderr(void)
{
	char full[4096];

	memset(full, '\n', sizeof(full));
	if (fcntl(2, F_SETPIPE_SZ, 4096) != 4096 ||
	    write(2, full, sizeof(full)) != sizeof(full))
		_exit(60);
}

static int
slow_log(void)
{
	install_earlier();
	if (!watch(SIGNO))
		return 1;
	fill_stderr();
	ready();
	await_input_end();
	return end(1);
}

/* Our parent exits, as that of a daemon does. */
static int
daemonise(void)
{
	if (!watch(SIGNO))
		return 1;
	if (fork() > 0)
		_exit(0);
	setsid();
	ready();
	await_input_end();
	return end(1);
}

static void
await_byte(void)
{
	char byte;

	while (read(0, &byte, 1) < 0 && errno == EINTR)
		continue;
}

/* Forked while a report is being written by the parent. */
static int
fork_in_report(void)
{
	install_earlier();
	if (!watch(SIGNO))
		return 1;
	fill_stderr();
	ready();
	await_byte();
	if (fork() > 0)
		_exit(0); /* and the report of the parent is cut off */
	dprintf(1, "forked %d\n", getpid());
	await_input_end();
	return end(1);
}

/* The same, while the next report waits for min_interval. */
static int
fork_in_interval(void)
{
	if (!watch(SIGNO))
		return 1;
	ready();
	await_byte();
	if (fork() > 0)
		_exit(0); /* and the report of the parent never comes */
	dprintf(1, "forked %d\n", getpid());
	await_input_end();
	return end(1);
}

/* One more, and the one that was kept. */
static int
lose_more(void)
{
	if (!watch(SIGUSR2))
		return 1;
	ready();
	await_byte();
	lose();
	scrub_stack();
	dprintf(1, "lost more\n");
	await_input_end();
	return end(1);
}

static int
exit_at_once(void)
{
	if (!watch(SIGNO))
		return 1;
	ready();
	await_input_end();
	return 0;
}

static int
by_option(void)
{
	ready();
	await_input_end();
	return end(1);
}

static int
bad_signals(void)
{
	static const int bad[] = { 0, -1, 65, 1000, SIGKILL, SIGSTOP, 32, 33 };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		if (watch(bad[i]) || errno == 0)
			return 70 + (int)i;
	}
	return 0;
}

const struct scenario trigger_scenarios[] = {
	{ "idle_in_read", idle_in_read },
	{ "idle_in_pause", idle_in_pause },
	{ "busy_in_malloc", busy_in_malloc },
	{ "busy_threads", busy_threads },
	{ "chained", chained },
	{ "slow_log", slow_log },
	{ "daemonise", daemonise },
	{ "fork_in_report", fork_in_report },
	{ "fork_in_interval", fork_in_interval },
	{ "lose_more", lose_more },
	{ "exit_at_once", exit_at_once },
	{ "by_option", by_option },
	{ "bad_signals", bad_signals },
	{ NULL, NULL },
};
