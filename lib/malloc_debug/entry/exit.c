/*
 * _exit() and _Exit(), by which shells and children of servers end without
 * calling functions of atexit(), and abort(): work that a signal requested is
 * waited for here too. A child of vfork() also calls it, in the memory of its
 * parent; its PID differs.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/malloc_debug/dumps/watch.h"
#include "lib/malloc_debug/entry/exit_wait.h"
#include "mu/sys.h"

/* The next ones; NULL: no signal was set up. */
static void (*next)(int);
static void (*next_abort)(void);
static pid_t owner; /* the process that has the watcher */

void
exit_wait_fork_child(void)
{
	owner = mu_sys_getpid();
}

void
exit_wait(void)
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
	found = dlsym(RTLD_NEXT, "abort");
	*(void **)&next_abort = found;
	at_quick_exit(exit_wait);
}

__attribute__((visibility("default"), noreturn)) void
_exit(int status)
{
	exit_wait();
	if (next != NULL)
		next(status);
	for (;;)
		mu_sys1(SYS_exit_group, status);
}

/* One of libc's own, as by assert(), does not come here. */
__attribute__((visibility("default"), noreturn)) void
abort(void)
{
	void *found;

	exit_wait();
	if (next_abort == NULL) {
		found = dlsym(RTLD_NEXT, "abort");
		*(void **)&next_abort = found;
	}
	next_abort();
	__builtin_trap();
}

__attribute__((visibility("default"), noreturn)) void
_Exit(int status)
{
	_exit(status);
}
