#include "lib/command/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
is_some(const char *text)
{
	return text != NULL && text[0] != '\0';
}

char *
mu_command_environment_preload(
    const char *earlier, const char *recorder, const char *library)
{
	char *text;

	if (asprintf(&text, "%s%s%s%s%s", is_some(earlier) ? earlier : "",
		is_some(earlier) ? ":" : "", recorder,
		is_some(recorder) ? ":" : "", library) < 0)
		return NULL;
	return text;
}

char *
mu_command_environment_recorder(
    const char *earlier, const struct mu_cli_options *options)
{
	char frames[32] = "backtrace", sizes[96] = "", *text;

	if (options->frames != 0)
		snprintf(
		    frames, sizeof(frames), "backtrace=%zu", options->frames);
	if (options->max_size != 0)
		snprintf(sizes, sizeof(sizes),
		    " backtrace_min_size=%zu backtrace_max_size=%zu",
		    options->min_size, options->max_size);
	if (asprintf(&text, "%s%s%s backtrace_python%s",
		is_some(earlier) ? earlier : "", is_some(earlier) ? " " : "",
		frames, sizes) < 0)
		return NULL;
	return text;
}

/* Pass only what was given; the library has defaults for the rest. */
static void
add_options(FILE *out, const struct mu_cli_options *options)
{
	fputs("at_exit=1:log_records=1", out);
	if (options->unchecked_ok)
		fputs(":unchecked=ok", out);
	if (options->signal != 0)
		fprintf(out, ":signal=%d", options->signal);
	if (options->timeout_given)
		fprintf(
		    out, ":timeout=%lums", (unsigned long)options->timeout_ms);
	if (options->max_pause_given)
		fprintf(out, ":max_pause=%lums",
		    (unsigned long)options->max_pause_ms);
	if (options->limit != options->library.max_leaks)
		fprintf(out, ":max_leaks=%zu", options->limit);
	if (options->contents)
		fputs(":log_contents=1", out);
	if (options->by != MU_BY_BLOCK)
		fprintf(out, ":answer_groups=%d", (int)options->by);
	if (options->max_memory != 0)
		fprintf(out, ":max_memory=%zu", options->max_memory);
	if (options->workers != 0)
		fprintf(out, ":workers=%zu", options->workers);
	if (options->only_program != NULL)
		fprintf(out, ":only_program='%s'", options->only_program);
	fputs(options->passed_on, out);
}

char *
mu_command_environment_options(const char *earlier,
    const struct mu_cli_options *options, const char *log_path,
    const char *answer_path, pid_t tracer, pid_t only_pid, size_t preloaded)
{
	char quote = strchr(log_path, '\'') == NULL ? '\'' : '"';
	size_t length = 0;
	char *text = NULL;
	FILE *out;
	bool failed;

	if (strchr(log_path, quote) != NULL)
		return NULL;
	out = open_memstream(&text, &length);
	if (out == NULL)
		return NULL;
	if (earlier != NULL && earlier[0] != '\0')
		fprintf(out, "%s:", earlier);
	add_options(out, options);
	fprintf(out, ":log_path=%c%s%c", quote, log_path, quote);
	/* Without this the library stops its threads itself. */
	if (answer_path != NULL)
		fprintf(out, ":answer_path=%c%s%c:tracer=%d", quote,
		    answer_path, quote, (int)tracer);
	if (answer_path != NULL && only_pid != 0)
		fprintf(out, ":preloaded=%zu", preloaded);
	fprintf(out, ":only_pid=%d", (int)only_pid);
	failed = ferror(out);
	if (fclose(out) != 0 || failed) {
		free(text);
		return NULL;
	}
	return text;
}
