/*
 * The first stack is captured in a handler, on an alternate stack of 8 KiB
 * (SIGSTKSZ until glibc 2.34) with no page below it, then in a thread with a
 * stack of minimum size. Exit status 77: handlers need more room here.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* Bound before main(): the linker's lazy binding needs 3 KiB of stack. */
static void *(*volatile allocate)(size_t) = malloc;
static void *(*volatile resize)(void *, size_t) = realloc;
static void (*volatile release)(void *) = free;
static volatile int handled;

static void
handler(int number)
{
	void *block = allocate(100);

	(void)number;
	release(resize(block, 3000));
	handled++;
}

static void *
least(void *unused)
{
	(void)unused;
	release(resize(allocate(10), 1000));
	return NULL;
}

static int
in_handler(void)
{
	char *pages = mmap(
	    NULL, 16 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = { .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = 2 * PAGE };
	int i;

	if (pages == MAP_FAILED ||
	    mprotect(pages + 8 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE) != 0)
		return 2;
	stack.ss_sp = pages + 8 * PAGE;
	action.sa_handler = handler;
	if (getauxval(AT_MINSIGSTKSZ) > PAGE || sigaltstack(&stack, NULL) != 0)
		return 77;
	if (sigaction(SIGUSR1, &action, NULL) != 0)
		return 2;
	for (i = 0; i < 5; i++)
		raise(SIGUSR1);
	return handled == 5 ? 0 : 1;
}

int
main(void)
{
	int status = in_handler();
	pthread_attr_t attributes;
	pthread_t thread;

	if (pthread_attr_init(&attributes) != 0 ||
	    pthread_attr_setstacksize(
		&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) != 0 ||
	    pthread_create(&thread, &attributes, least, NULL) != 0)
		return 2;
	pthread_join(thread, NULL);
	return status;
}
