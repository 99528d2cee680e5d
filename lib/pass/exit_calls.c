/*
 * _exit() and _Exit() of libc, replaced in the shared library only. Preloaded
 * by a command, it makes its check at the end there; otherwise these functions
 * do what libc's do. They have no symbol version, and so replace those of any
 * release: see lib/memunreachable.map.
 */
#include <stdlib.h>
#include <unistd.h>

#include "lib/pass/exit_check.h"
#include "mu/sys.h"

__attribute__((visibility("default"), noreturn)) void
_exit(int status)
{
	struct mu_caller caller;

	mu_caller_capture(&caller);
	mu_exit_check_calls(&caller, true);
	for (;;)
		mu_sys1(SYS_exit_group, status);
}

__attribute__((visibility("default"), noreturn)) void
_Exit(int status)
{
	_exit(status);
}
