/*
 * A program whose block of 1000 bytes is held only by a register of another
 * process, which shares the memory (clone() with CLONE_VM). It runs a pass,
 * prints "status leaks reason", and waits.
 *
 * Usage: victim_sharer {lost | forked | held | kept | other | led} [_exit]
 *   lost    there is no such process, and no pointer
 *   forked  there is only a child, with a copy of the memory
 *   held    as above
 *   kept    there is one, but the program has a pointer, too
 *   other   as held, and it is another user's; needs root
 *   led     as held, by its second thread; its main thread has ended
 *
 * With a second argument it ends instead of these, without a pass.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"

#define STACK_SIZE ((size_t)64 << 10)

static int started;
static int parted; /* the users are two */
static void *volatile kept;

/* A change of the user makes the memory of both not dumpable. */
static void
become(uid_t user)
{
	if (syscall(SYS_setresuid, user, user, user) != 0)
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
}

#if defined(__x86_64__)

/*
 * Only the register has the address, not even the stack. Another user's gets no
 * signal of its parent's end.
 */
static int
hold(void *hidden)
{
	if (parted)
		become(65533);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(100);
	__atomic_store_n(&started, 1, __ATOMIC_SEQ_CST);
	__asm__ volatile("movq %0, %%rbx\n\tnotq %%rbx\n"
			 "1:\tmovl %1, %%eax\n\tsyscall\n\tjmp 1b"
			 :
			 : "r"(hidden), "i"(SYS_pause)
			 : "rax", "rbx", "rcx", "r11", "memory");
	return 0;
}

static int
hold_by_thread(void *hidden)
{
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	clone(hold, stack + STACK_SIZE, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND,
	    hidden);
	return (int)syscall(SYS_exit, 0);
}

static __attribute__((noinline)) uintptr_t
make_block(void)
{
	void *block = malloc(1000);

	memset(block, 'b', 1000);
	return mu_hide(block);
}

static __attribute__((noinline)) void
start_sharer(int (*sharer)(void *), uintptr_t hidden)
{
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (clone(sharer, stack + STACK_SIZE, CLONE_VM, (void *)hidden) < 0)
		exit(1);
	while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) == 0)
		usleep(1000);
}

static void
start_child(void)
{
	pid_t pid = fork();

	if (pid > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

int
main(int argc, char **argv)
{
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t hidden = make_block();

	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "kept") == 0)
		kept = mu_reveal(hidden);
	parted = strcmp(argv[1], "other") == 0;
	if (strcmp(argv[1], "forked") == 0)
		start_child();
	else if (strcmp(argv[1], "lost") != 0)
		start_sharer(
		    strcmp(argv[1], "led") == 0 ? hold_by_thread : hold,
		    hidden);
	if (parted)
		become(65534);
	scrub_stack();
	if (argc > 2)
		_exit(0);
	GetUnreachableMemory(&info, 100);
	printf("%d %zu %s\n", info.status, info.num_leaks, info.reason);
	FreeUnreachableMemoryInfo(&info);
	fflush(stdout);
	pause();
	return 0;
}

#else

int
main(void)
{
	return 77;
}

#endif
