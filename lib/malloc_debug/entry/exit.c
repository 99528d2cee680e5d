/*
 * _exit() and _Exit(), by which shells and children of servers end without
 * calling functions of atexit(): work that a signal requested is waited for
 * here too. A child of vfork() also calls it, in the memory of its parent; its
 * PID differs.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/malloc_debug/dumps/watch.h"
#include "lib/malloc_debug/entry/exit_wait.h"
#include "mu/sys.h"

static void (*next)(int); /* the next one; NULL: no signal was set up */
static pid_t owner;       /* the process that has the watcher */

void
exit_wait_fork_child(void)
{
	owner = mu_sys_getpid();
}

static void
await_jobs(void)
{
	/* A sandbox may refuse every system call except the exit. */
	if (watch_asked() && mu_sys_getpid() == owner)
		watch_end();
}

/* quick_exit() calls libc's _exit() internally, which cannot be intercepted. */
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
