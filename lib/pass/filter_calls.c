/*
 * prctl() and syscall() of libc, replaced in the shared library only, as
 * _exit() is, to see the program add a seccomp filter. Under one that kills for
 * whatever the program itself does not call, there is no call left that would
 * tell of it.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/pass/exit_check.h"
#include "lib/state/library.h"
#include "mu/arch/cpu.h"
#include "mu/sys.h"

#define ARGUMENTS 6 /* of a system call, at most */

/* What syscall() jumps to. */
#define JUMPED_TO __attribute__((used, visibility("hidden")))

JUMPED_TO long mu_filter_calls_watched(
    long nr, long a, long b, long c, long d, long e, long f);
JUMPED_TO long mu_filter_calls_failed(long result);

long
mu_filter_calls_failed(long result)
{
	errno = (int)-result;
	return -1;
}

/* True if the call adds a filter. */
static bool
adds_filter(struct mu_filter_added *added, long nr, const long *arguments)
{
	long mode = arguments[1];

	*added = (struct mu_filter_added) {
		.program = (uintptr_t)arguments[2],
	};
	if (nr == SYS_prctl && arguments[0] == PR_SET_SECCOMP) {
		added->strict = mode == SECCOMP_MODE_STRICT;
		return added->strict || mode == SECCOMP_MODE_FILTER;
	}
	if (nr != SYS_seccomp)
		return false;
	added->strict = arguments[0] == SECCOMP_SET_MODE_STRICT;
	added->all = (arguments[1] & (long)SECCOMP_FILTER_FLAG_TSYNC) != 0;
	return added->strict || arguments[0] == SECCOMP_SET_MODE_FILTER;
}

static long
make_call(long nr, const long *arguments)
{
	struct mu_filters *filters = &mu_library.filters;
	struct mu_filter_added added;
	bool first = adds_filter(&added, nr, arguments) &&
	    mu_library.options.at_exit && mu_filters_add(filters, &added);
	long result;

	if (first)
		mu_exit_check_foresee();
	result = mu_syscall6(nr, arguments[0], arguments[1], arguments[2],
	    arguments[3], arguments[4], arguments[5]);
	if (!mu_sys_failed(result))
		return result;
	if (first)
		mu_filters_take_back(filters);
	return mu_filter_calls_failed(result);
}

__attribute__((visibility("default"))) int
prctl(int option, ...)
{
	long arguments[ARGUMENTS] = { option };
	va_list list;
	unsigned i;

	va_start(list, option);
	for (i = 1; i < 5; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	return (int)make_call(SYS_prctl, arguments);
}

long
mu_filter_calls_watched(long nr, long a, long b, long c, long d, long e, long f)
{
	const long arguments[ARGUMENTS] = { a, b, c, d, e, f };

	return make_call(nr, arguments);
}

/*
 * Any other call is made without a frame, as libc makes it: clone() may return
 * on another stack, which has no more than the address to return to.
 */
#define SYSCALL(...) MU_ARCH_SYSCALL(__VA_ARGS__)
SYSCALL(syscall, __NR_prctl, __NR_seccomp, mu_filter_calls_watched,
    mu_filter_calls_failed);
