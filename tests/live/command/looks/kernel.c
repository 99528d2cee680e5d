/*
 * Blocks that only the kernel refers to, by epoll data, a timer and alternate
 * signal stacks; some others are lost.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/hide.h"

static pthread_barrier_t barrier;
static volatile uintptr_t hidden;

static __attribute__((noinline)) void
lose(size_t size)
{
	hidden = mu_hide(malloc(size));
}

static __attribute__((noinline)) void
give_stack(void)
{
	stack_t stack = { .ss_sp = malloc(16384), .ss_size = 16384 };

	sigaltstack(&stack, NULL);
}

static __attribute__((noinline)) void
give_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN,
		.data.ptr = malloc(77) };
	int ends[2] = { -1, -1 };

	if (pipe(ends) != 0 ||
	    epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, ends[0], &event) != 0)
		abort();
}

static __attribute__((noinline)) void
give_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGUSR1,
		.sigev_value.sival_ptr = malloc(88) };
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		abort();
}

static __attribute__((noinline)) int
wait_for_end(void)
{
	return getchar();
}

static void *
body(void *unused)
{
	give_stack();
	scrub_stack();
	pthread_barrier_wait(&barrier);
	wait_for_end();
	return unused;
}

int
main(void)
{
	pthread_t thread;
	size_t i;

	give_epoll();
	give_timer();
	give_stack();
	for (i = 0; i < 10; i++)
		lose(4000);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, body, NULL);
	pthread_barrier_wait(&barrier);
	scrub_stack();
	puts("ready");
	fflush(stdout);
	wait_for_end();
	return 0;
}
