/*
 * exit() runs handlers in the reverse order of their registration. The loader's
 * handler, which runs the destructors of all libraries, is registered by
 * __libc_start_main(). A handler that a constructor of a library registers
 * before that, for no object, runs after all destructors and before stdio is
 * flushed.
 *
 * There exit() may be called again: glibc continues with the remaining handlers
 * and uses the status of the last call (stdlib/exit.c says so). _exit() would
 * skip these handlers and lose the buffers of stdio.
 */
#include "lib/malloc_debug/leaktracer/exit.h"

#include <stdlib.h>

#include "lib/malloc_debug/leaktracer/jobs.h"
#include "lib/malloc_debug/leaktracer/leaktracer.h"
#include "lib/malloc_debug/leaktracer/report.h"
#include "lib/malloc_debug/leaktracer/settings.h"
#include "lib/malloc_debug/state/state.h"

int __cxa_atexit(void (*function)(void *), void *arg, void *dso);

static size_t leaks;

void
leaktracer_at_exit(void)
{
	const struct leaktracer_settings *settings = &leaktracer_settings;
	struct leaktracer_report report;
	static bool done;

	if (settings->exit_report == NULL && settings->exit_code == 0)
		return;
	if (__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		return;
	leaktracer_stop();
	leaktracer_report_begin(&report, settings->only_unreachable);
	leaks = report.rows.count;
	if (settings->exit_report != NULL)
		leaktracer_write(&report, settings->exit_report);
	leaktracer_report_end(&report);
}

static void
at_the_end(void *arg)
{
	(void)arg;
	leaktracer_at_exit();
	if (leaks > 0 && leaktracer_settings.exit_code != 0)
		exit(leaktracer_settings.exit_code);
}

void
leaktracer_exit_register(void)
{
	recorder_enter();
	if (__cxa_atexit(at_the_end, NULL, NULL) != 0)
		recorder_say("no LeakTracer report at exit: out of memory");
	recorder_leave();
}
