/*
 * Only the kernel has the address: in an epoll set, a timer, a pipe, as the
 * alternate signal stack. All of it will come back, so nothing is lost; who
 * sees only memory cannot know.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE void
give_to_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int set = epoll_create1(0), ends[2];

	corpus_lose("epoll");
	event.data.ptr = malloc(40);
	corpus_lose_end();
	if (pipe(ends) != 0 ||
	    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event) != 0)
		abort();
}

static NOINLINE void
give_to_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGUSR1 };
	static timer_t timer; /* a block, in old releases */

	corpus_lose("timer");
	event.sigev_value.sival_ptr = malloc(41);
	corpus_lose_end();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		abort();
}

static NOINLINE void
give_to_pipe(void)
{
	void *block;
	int ends[2];

	corpus_lose("pipe");
	block = malloc(42);
	corpus_lose_end();
	if (pipe(ends) != 0 ||
	    write(ends[1], &block, sizeof(block)) != sizeof(block))
		abort();
}

static NOINLINE void
give_as_stack(void)
{
	stack_t stack = { .ss_size = 65536 };

	corpus_lose("sigaltstack");
	stack.ss_sp = malloc(stack.ss_size);
	corpus_lose_end();
	sigaltstack(&stack, NULL);
}

void
corpus_scenario(void)
{
	give_to_epoll();
	give_to_timer();
	give_to_pipe();
	give_as_stack();
}
