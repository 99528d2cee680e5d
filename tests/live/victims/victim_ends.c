/*
 * A program that loses one block of 24 bytes and ends as its first argument
 * says. With a second argument there are other threads: one never rests, one
 * sleeps, and others hold a block of 2000 bytes.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/hide.h"

static volatile int up;

static __attribute__((noinline)) uintptr_t
lose(void)
{
	return mu_hide(memset(malloc(24), 'x', 24));
}

static void *
rest(void *unused)
{
	void *volatile mine = malloc(2000);

	__atomic_fetch_add(&up, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	return unused != NULL ? unused : mine;
}

/* The block is in a register only. */
static void *
spin(void *unused)
{
	void *mine = malloc(2000);

	__atomic_fetch_add(&up, 1, __ATOMIC_SEQ_CST);
	for (;;)
		__asm__ volatile("" : "+r"(mine));
	return unused;
}

/* A sleep that ends early is a failure of ours. */
static void *
nap(void *unused)
{
	__atomic_fetch_add(&up, 1, __ATOMIC_SEQ_CST);
	if (sleep(1000) != 0 && write(1, "woken\n", 6) == 6)
		_exit(77);
	return unused;
}

static void *
end_from_thread(void *how)
{
	usleep(50000);
	if (strcmp(how, "thread_exit") == 0)
		exit(0);
	_exit(0);
}

static void
start(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, argument) != 0)
		abort();
}

static void
begin_threads(void)
{
	start(rest, NULL);
	start(rest, NULL);
	start(spin, NULL);
	start(nap, NULL);
	while (up < 4)
		usleep(1000);
}

static void
by_signal(int signo)
{
	kill(getpid(), signo);
	for (;;)
		pause();
}

static void
end(char *how)
{
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(0);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "fault") == 0)
		by_signal(SIGSEGV);
	if (strcmp(how, "term") == 0)
		by_signal(SIGTERM);
	if (strcmp(how, "kill") == 0)
		by_signal(SIGKILL);
	if (strncmp(how, "thread", 6) == 0) {
		start(end_from_thread, how);
		for (;;)
			pause();
	}
	if (strcmp(how, "leader") == 0) {
		start(end_from_thread, how);
		pthread_exit(NULL);
	}
	if (strcmp(how, "exit_call") == 0)
		syscall(SYS_exit, 0);
	if (strcmp(how, "exec") == 0)
		execl("/proc/self/exe", "victim_ends", "_exit", (char *)NULL);
	for (;;) {
		puts("ready");
		fflush(stdout);
		pause();
	}
}

int
main(int argc, char **argv)
{
	uintptr_t hidden = lose();

	scrub_stack();
	if (argc > 2)
		begin_threads();
	if (argc > 1 && strcmp(argv[1], "return") != 0)
		end(argv[1]);
	return hidden == 1;
}
