/*
 * The only pointers to ten blocks are unaligned, and a thread is in vfork(),
 * where no stop reaches it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/hide.h"

static struct {
	char before;
	void *held;
	char after[7];
} __attribute__((packed, aligned(16))) unaligned[10];

static void *
wait_in_vfork(void *unused)
{
	if (vfork() == 0) {
		syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
		syscall(SYS_pause);
		_exit(0);
	}
	return unused;
}

int
main(void)
{
	pthread_t thread;
	size_t i;

	if (pthread_create(&thread, NULL, wait_in_vfork, NULL) != 0)
		return 1;
	for (i = 0; i < 10; i++)
		unaligned[i].held = malloc(1000);
	scrub_stack();
	puts("ready");
	fflush(stdout);
	getchar();
	_exit(0);
}
