#include "lib/pass/startup.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/pass/pass.h"
#include "lib/state/answer_file.h"
#include "lib/state/library.h"
#include "lib/state/log_sink.h"
#include "mu/sys.h"

/* A child inherits the environment and, by fork(), the exit handler. */
static bool
concerns_us(const struct mu_options *options)
{
	return options->only_pid == 0 ||
	    options->only_pid == (size_t)mu_sys_getpid();
}

/* The exit status that INFO requires; 0: none. */
static int
wanted_status(
    const struct mu_options *options, const struct UnreachableMemoryInfo *info)
{
	bool ok = options->unchecked == MU_UNCHECKED_OK;

	/* A report that could not be written does not count. */
	if (__atomic_load_n(&mu_library.log_error, __ATOMIC_RELAXED) != 0 &&
	    info->num_leaks == 0)
		return ok ? 0 : MU_UNCHECKED_STATUS;
	switch (info->status) {
	case MEMUNREACHABLE_COMPLETE:
		return info->num_leaks > 0 ? options->exitcode : 0;
	case MEMUNREACHABLE_PARTIAL:
		if (ok)
			return info->num_leaks > 0 ? options->exitcode : 0;
		return MU_PARTIAL_STATUS;
	default:
		return ok ? 0 : MU_UNCHECKED_STATUS;
	}
}

/*
 * Tells the command, which cannot trace this process, that the check was made.
 */
static void
log_outcome(
    const struct mu_options *options, const struct UnreachableMemoryInfo *info)
{
	struct {
		struct mu_log_record head;
		struct mu_log_outcome outcome;
	} record = {
		.head = { .kind = MU_LOG_RECORD_OUTCOME,
		    .size = sizeof(record.outcome) },
		.outcome = { .status = info->status },
	};
	struct mu_log log;

	mu_log_sink_open(&log, options, false);
	if (log.records)
		mu_log_record(&log, MU_LOG_ERROR, &record.head, NULL, 0);
	mu_log_sink_close(&log);
}

/*
 * A second exit() in an exit handler runs the remaining handlers, flushes stdio
 * and ends with the new status (glibc removes each handler before calling it);
 * _exit() would lose the program's output.
 */
static void
at_exit(void)
{
	const struct mu_options *options = &mu_library.options;
	bool asked = options->answer_path[0] != '\0';
	struct mu_entries entries = { .count = 0 };
	struct mu_caller caller;
	struct mu_pipe_usage usage = { .glibc_major = 0 };
	size_t cure = 0;
	struct mu_request request = {
		.caller = &caller,
		.limit = options->max_leaks,
		.log_policy = asked ? MU_LOG_POLICY_QUIET : MU_LOG_POLICY_FULL,
		.contents = options->log_contents || asked,
		.at_end = asked,
		.usage = asked ? &usage : NULL,
		.entries = asked ? &entries : NULL,
		.cure = &cure,
	};
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t from;
	bool leaks;

	if (!concerns_us(options))
		return;
	mu_caller_capture(&caller);
	from = mu_exit_stack_find(&mu_library.exit_stack, caller.sp, caller.tp);
	/* A pass also takes the red zone below it for alive. */
	if (from != 0)
		caller.sp = from + MU_RED_ZONE;
	__atomic_store_n(&mu_library.log_error, 0, __ATOMIC_RELAXED);
	leaks = mu_pass_run(&request, &info) && info.num_leaks > 0;
	/*
	 * The command that asked decides; if this fails it checks the process
	 * itself.
	 */
	if (asked) {
		mu_answer_file_write(
		    options->answer_path, &info, cure, &entries, &usage);
		leaks = false;
	} else {
		mu_library.exit_status = wanted_status(options, &info);
		log_outcome(options, &info);
	}
	mu_results_drop(&mu_library.results, &entries);
	if (leaks)
		exit(mu_library.exit_status);
}

/*
 * Handlers of a library are called by _dl_fini(), which does not know the
 * program's exit status; those of on_exit() get it. "Not checked" changes the
 * status of a success only.
 */
static void
at_end(int status, void *unused)
{
	(void)unused;
	if ((status & 0xff) == 0 && mu_library.exit_status != 0)
		exit(mu_library.exit_status);
}

static void
warn(const char *text, size_t length)
{
	struct mu_log log;

	mu_log_sink_open(&log, &mu_library.options, false);
	mu_log_text(&log, MU_LOG_WARNING, text, length);
	mu_log_sink_close(&log);
}

static void
obey(struct mu_options *options, struct mu_text *words)
{
	int error = 0;

	if (options->help)
		mu_options_help(words);
	if (options->signal != 0 && concerns_us(options))
		error = mu_watch_signal(options->signal);
	if (error < 0)
		mu_text_add(words,
		    "libmemunreachable: cannot watch signal %d (errno %d)\n",
		    options->signal, -error);
	if (options->symbolize && !mu_symbolizer_open(&mu_library.symbolizer))
		mu_text_add(words,
		    "libmemunreachable: symbolize=1: no command memunreachable"
		    " beside the library or in PATH\n");
	/* What is registered last is called first. */
	if (options->at_exit &&
	    (on_exit(at_end, NULL) != 0 || atexit(at_exit) != 0))
		mu_text_add(
		    words, "libmemunreachable: no memory for at_exit\n");
}

void
mu_startup(void)
{
	/* AT_SECURE: a set-user-ID program ignores its user's environment. */
	const char *text = secure_getenv("MEMUNREACHABLE_OPTIONS");
	char buffer[4096];
	struct mu_text words = { buffer, sizeof(buffer), 0 };

	if (text == NULL)
		return;
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
	mu_startup();
	errno = saved;
}
