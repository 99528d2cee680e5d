#include "lib/pass/startup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "lib/pass/exit_check.h"
#include "lib/state/library.h"
#include "lib/state/log_sink.h"
#include "lib/state/variables.h"
#include "mu/sys.h"

/*
 * How many threads may be between the call of a handler, which libc has removed
 * from its list then, and its own registration of another: one that finds the
 * list empty ends the program. libc has room for 32 of each kind without
 * malloc (stdlib/exit.h), and the program registers more for exit().
 */
#define EXIT_WAITS 4
#define QUICK_EXIT_WAITS 16

/* Of the program. */
extern __attribute__((weak)) const char *memunreachable_default_options(void);

static void
warn(const char *text, size_t length)
{
	struct mu_log log;

	mu_log_sink_open(&log, &mu_library.options, false);
	mu_log_text(&log, MU_LOG_WARNING, text, length);
	mu_log_sink_close(&log);
}

/* What is registered last is called first. */
static bool
check_at_end(void)
{
	int i;

	for (i = 0; i < EXIT_WAITS; i++)
		if (on_exit(mu_exit_check_status, NULL) != 0)
			return false;
	for (i = 0; i < QUICK_EXIT_WAITS; i++)
		if (at_quick_exit(mu_exit_check_quick_exit_waits) != 0)
			return false;
	return atexit(mu_exit_check_at_exit) == 0 &&
	    at_quick_exit(mu_exit_check_at_quick_exit) == 0;
}

/*
 * Programs that this one starts are not checked, and some would not start with
 * our libraries. If this process executes one memunreachable(1) puts the names
 * back, so these keep their length.
 */
static void
clear_preload(size_t length)
{
	char *value = getenv("LD_PRELOAD");

	if (value != NULL && strlen(value) >= length)
		memset(value + strlen(value) - length, ':', length);
}

static void
obey(struct mu_options *options, struct mu_text *words)
{
	int error = 0;

	if (options->preloaded != 0 && mu_exit_check_concerns(options))
		clear_preload(options->preloaded);
	if (options->help)
		mu_options_help(words);
	if (options->signal != 0 && mu_exit_check_concerns(options))
		error = mu_watch_signal(options->signal);
	if (error < 0)
		mu_text_add(words,
		    "libmemunreachable: cannot watch signal %d (errno %d)\n",
		    options->signal, -error);
	if (options->every != 0 && mu_exit_check_concerns(options))
		error = mu_looks_obey(options);
	if (error > 0)
		mu_text_add(words,
		    "libmemunreachable: every: no thread (errno %d)\n", error);
	if (options->symbolize && !mu_symbolizer_open(&mu_library.symbolizer))
		mu_text_add(words,
		    "libmemunreachable: symbolize=1: no command memunreachable"
		    " beside the library or in PATH\n");
	mu_library.filters.main = mu_arch_tp();
	if (mu_exit_check_answers(options))
		mu_filters_note(&mu_library.filters, (pid_t)options->tracer);
	if (options->at_exit &&
	    (!check_at_end() ||
		(options->only_pid != 0 && !mu_forked_end_note())))
		mu_text_add(
		    words, "libmemunreachable: no memory for at_exit\n");
}

void
mu_startup(void)
{
	/* AT_SECURE: a set-user-ID program ignores its user's environment. */
	const char *text = secure_getenv("MEMUNREACHABLE_OPTIONS");
	const char *own = memunreachable_default_options != NULL
	    ? memunreachable_default_options()
	    : NULL;
	char buffer[4096];
	struct mu_text words = { buffer, sizeof(buffer), 0 };

	if (getauxval(AT_SECURE) == 0)
		mu_variables_warn(environ, &words);
	if (text == NULL && own == NULL && words.length == 0)
		return;
	mu_options_read(&mu_library.options, own, &words);
	mu_options_read(&mu_library.options, text, &words);
	obey(&mu_library.options, &words);
	if (words.length > 0)
		warn(buffer,
		    words.length < sizeof(buffer) ? words.length
						  : sizeof(buffer) - 1);
}

__attribute__((constructor)) static void
construct(void)
{
	int saved = errno;

	mu_malloc_probe_try(&mu_library.malloc_probe);
	mu_exit_stack_note(&mu_library.exit_stack);
	mu_library.pid = mu_sys_getpid();
	mu_startup();
	errno = saved;
}
