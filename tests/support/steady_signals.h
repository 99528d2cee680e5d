/*
 * SIGRTMIN signals, each with a number, of which every one must arrive exactly
 * once, and SIGUSR1, which may be merged but not lost.
 *
 * The sender is not a child of the program, so that there is nothing to wait
 * for, and ends when the program does.
 */
#ifndef TESTS_SUPPORT_STEADY_SIGNALS_H
#define TESTS_SUPPORT_STEADY_SIGNALS_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEADY_MAX (1u << 22)
#define STEADY_MS 1 /* between two signals */
#define STEADY_USR1 4
#define STEADY_SIGNAL (SIGRTMIN + 7)

struct steady {
	unsigned sent, usr1_sent; /* by the sender, once the kernel has it */
	unsigned received, usr1_received, strays;
	unsigned checked; /* numbers below were seen once */
	unsigned char seen[STEADY_MAX];
};

/* Handlers have no other way to it. */
static struct steady *steady;

static inline void
steady_on_number(int signo, siginfo_t *info, void *context)
{
	unsigned number = (unsigned)info->si_value.sival_int;

	(void)signo;
	(void)context;
	if (info->si_code != SI_QUEUE || number >= STEADY_MAX) {
		__atomic_add_fetch(&steady->strays, 1, __ATOMIC_SEQ_CST);
		return;
	}
	__atomic_add_fetch(&steady->seen[number], 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&steady->received, 1, __ATOMIC_SEQ_CST);
}

static inline void
steady_on_usr1(int signo)
{
	(void)signo;
	__atomic_add_fetch(&steady->usr1_received, 1, __ATOMIC_SEQ_CST);
}

static inline _Noreturn void
steady_send(pid_t to, int alive)
{
	struct pollfd end = { alive, POLLIN, 0 };
	union sigval value = { 0 };
	unsigned number = 0;

	while (poll(&end, 1, STEADY_MS) == 0 && number < STEADY_MAX) {
		value.sival_int = (int)number;
		if (sigqueue(to, STEADY_SIGNAL, value) == 0)
			__atomic_store_n(
			    &steady->sent, ++number, __ATOMIC_SEQ_CST);
		if (number % STEADY_USR1 == 0 && kill(to, SIGUSR1) == 0)
			__atomic_add_fetch(
			    &steady->usr1_sent, 1, __ATOMIC_SEQ_CST);
	}
	_exit(0);
}

static inline void
steady_begin(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
	pid_t pid, self = getpid();
	int alive[2];

	steady = mmap(NULL, sizeof(*steady), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(steady, MAP_FAILED);
	action.sa_sigaction = steady_on_number;
	ck_assert_int_eq(sigaction(STEADY_SIGNAL, &action, NULL), 0);
	action.sa_flags = SA_RESTART;
	action.sa_handler = steady_on_usr1;
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	ck_assert_int_eq(pipe2(alive, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(alive[1]);
		if (fork() == 0)
			steady_send(self, alive[0]);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(alive[0]);
}

/* All that were sent until now have come, none of them twice. */
static inline void
steady_check(void)
{
	unsigned sent = __atomic_load_n(&steady->sent, __ATOMIC_SEQ_CST);
	unsigned usr1 =
	    __atomic_load_n(&steady->usr1_received, __ATOMIC_SEQ_CST);
	unsigned once;

	for (; steady->checked < sent; steady->checked++) {
		while ((once = __atomic_load_n(&steady->seen[steady->checked],
			    __ATOMIC_SEQ_CST)) == 0)
			usleep(100); /* for ever: the test's time-out */
		ck_assert_msg(once == 1, "signal %u came %u times",
		    steady->checked, once);
	}
	ck_assert_uint_eq(
	    __atomic_load_n(&steady->strays, __ATOMIC_SEQ_CST), 0);
	/* One that was pending has come, or one that was sent since. */
	while (
	    usr1 == __atomic_load_n(&steady->usr1_received, __ATOMIC_SEQ_CST))
		usleep(100);
	ck_assert_uint_le(
	    usr1, __atomic_load_n(&steady->usr1_sent, __ATOMIC_SEQ_CST) + 1);
}

#endif
