/*
 * _exit() and _Exit(), by which shells and children of servers end, and no
 * function of atexit() is called: what a signal has asked for is waited for all
 * the same.
 *
 * A child of vfork() ends by it, too, in the memory of its parent: it has
 * another number.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/malloc_debug/exit_wait.h"
#include "lib/malloc_debug/watch.h"
#include "mu/sys.h"

static void (*next)(int); /* of who comes behind; NULL: nothing was asked for */
static pid_t owner;       /* whose watcher it is */

void
exit_wait_fork_child(void)
{
	owner = mu_sys_getpid();
}

static void
await_jobs(void)
{
	/* A sandbox may refuse any other system call than that of the end. */
	if (watch_asked() && mu_sys_getpid() == owner)
		watch_end();
}

/* quick_exit() calls no _exit() that we see. */
void
exit_wait_start(void)
{
	void *found = dlsym(RTLD_NEXT, "_exit");

	*(void **)&next = found;
	owner = mu_sys_getpid();
	at_quick_exit(await_jobs);
}

__attribute__((visibility("default"), noreturn)) void
_exit(int status)
{
	await_jobs();
	if (next != NULL)
		next(status);
	for (;;)
		mu_sys1(SYS_exit_group, status);
}

__attribute__((visibility("default"), noreturn)) void
_Exit(int status)
{
	_exit(status);
}
