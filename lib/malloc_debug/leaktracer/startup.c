/*
 * LeakTracer as the environment asks for it: see leaktracer.h.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "lib/malloc_debug/leaktracer/jobs.h"
#include "lib/malloc_debug/leaktracer/leaktracer.h"
#include "lib/malloc_debug/leaktracer/reach.h"
#include "lib/malloc_debug/leaktracer/report.h"
#include "lib/malloc_debug/leaktracer/settings.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"
#include "mu/text.h"

int __cxa_atexit(void (*function)(void *), void *arg, void *dso);

static size_t leaks;

/*
 * LeakTracer's work at the end of the program.
 *
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

/*
 * Arrange the call of leaktracer_at_exit() and the change of the exit status.
 */
static void
leaktracer_exit_register(void)
{
	recorder_enter();
	if (__cxa_atexit(at_the_end, NULL, NULL) != 0)
		recorder_say("no LeakTracer report at exit: out of memory");
	recorder_leave();
}

static const char *
look_up(const char *name)
{
	return getenv(name);
}

static void
say_wrong(const char *name, const char *value, const char *expected)
{
	recorder_say("%s=%s is not used: expected %s", name, value, expected);
}

/* Copy it: programs overwrite their environment (setproctitle(3)). */
static const char *
keep(char *copy, const char *name)
{
	if (name == NULL)
		return NULL;
	if (mu_text_format(copy, PATH_MAX, "%s", name) < PATH_MAX)
		return copy;
	recorder_say("no LeakTracer report: the file's name is too long");
	return NULL;
}

void
leaktracer_startup(void)
{
	static char signal_report[PATH_MAX], exit_report[PATH_MAX];
	struct leaktracer_settings *settings = &leaktracer_settings;

	if (getauxval(AT_SECURE) != 0)
		return;
	leaktracer_settings_read(settings, look_up, say_wrong);
	if (!settings->given)
		return;
	settings->signal_report = keep(signal_report, settings->signal_report);
	settings->exit_report = keep(exit_report, settings->exit_report);
	if (settings->frames != 0)
		leaktracer_frames = settings->frames;
	if (settings->start)
		leaktracer_start_all();
	leaktracer_active = true;
}

/* The program headers follow the ELF header, within its first page. */
static bool
in_the_program(void)
{
	uintptr_t headers = getauxval(AT_PHDR);
	Dl_info info;

	return dladdr(&leaktracer_settings, &info) == 0 ||
	    headers - (uintptr_t)info.dli_fbase < 4096;
}

static void
print_banner(void)
{
	char line[128];
	size_t length = mu_text_format(line, sizeof(line),
	    "LeakTracer 3.0.0 (%s library) -- memunreachable's, by its"
	    " interface\n",
	    in_the_program() ? "static" : "shared");

	mu_sys_write(STDERR_FILENO, line, length);
}

void
leaktracer_constructor(void)
{
	const struct leaktracer_settings *settings = &leaktracer_settings;

	if (!settings->given)
		return;
	if (settings->banner)
		print_banner();
	leaktracer_jobs();
	if (settings->only_unreachable)
		leaktracer_reach_load();
	if (settings->exit_report != NULL || settings->exit_code != 0)
		leaktracer_exit_register();
}
