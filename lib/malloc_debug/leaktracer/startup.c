/*
 * LeakTracer as the environment asks for it: see leaktracer.h.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "lib/malloc_debug/leaktracer/exit.h"
#include "lib/malloc_debug/leaktracer/jobs.h"
#include "lib/malloc_debug/leaktracer/leaktracer.h"
#include "lib/malloc_debug/leaktracer/reach.h"
#include "lib/malloc_debug/leaktracer/settings.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"
#include "mu/text.h"

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
