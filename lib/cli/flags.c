#include "lib/cli/flags.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli/values.h"
#include "lib/state/options.h"
#include "lib/state/options_token.h"
#include "lib/watch/rounds.h"

#define PID_MAX 4194304 /* PID_MAX_LIMIT of Linux, on 64 bits */
#define FRAMES_MAX 256  /* the limit of malloc_debug */
#define RETAINED 10     /* holders that are shown by default */
#define RETAINED_MAX 1000
#define WHY 3 /* blocks of a type that are shown by default */
#define PROBABLY "probably "
#define MAX_WRITERS 16

/* take_KEY() reads an option that has another name there, into options->TO. */
#define TAKE_SHARED(key, to)                                             \
	static enum mu_status take_##key(struct mu_cli_options *options, \
	    const struct mu_cli_value *value, struct mu_why *why)        \
	{                                                                \
		struct mu_options shared;                                \
		enum mu_status status;                                   \
                                                                         \
		mu_options_default(&shared);                             \
		status = mu_cli_read_shared(value, #key, &shared, why);  \
		options->to = shared.key;                                \
		return status;                                           \
	}

TAKE_SHARED(timeout, timeout_ms)
TAKE_SHARED(max_pause, max_pause_ms)
TAKE_SHARED(max_leaks, limit)
TAKE_SHARED(max_memory, max_memory)
TAKE_SHARED(signal, signal)
TAKE_SHARED(workers, workers)

#define PAGE_HOLDERS 50 /* of --format=html, unless --retained says */

/* What WRITER shows beside what is lost. */
static void
ask_for(struct mu_cli_options *options, const struct mu_writer *writer)
{
	if (writer == &mu_writer_html || writer == &mu_writer_pprof)
		options->explain.in_use = true;
	if (writer == &mu_writer_html && options->explain.retained == 0)
		options->explain.retained = PAGE_HOLDERS;
}

static enum mu_status
take_format(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	const char *names[MAX_WRITERS + 1] = { NULL };
	unsigned choice = 0, i;
	enum mu_status status;

	for (i = 0; i < MAX_WRITERS && mu_writers[i] != NULL; i++)
		names[i] = mu_writers[i]->name;
	status = mu_cli_take_word(value, names, &choice, why);
	options->writer = mu_writers[choice];
	ask_for(options, options->writer);
	return status;
}

/* FORMAT:FILE */
static enum mu_status
take_report(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	struct mu_cli_reports *reports = options->reports;
	size_t i, length = strcspn(value->text, ":");
	const struct mu_writer *writer;

	if (reports->count == MU_CLI_REPORTS)
		return mu_why(why, MU_ERR_ARGUMENT, "--report: at most %d",
		    MU_CLI_REPORTS);
	for (i = 0; mu_writers[i] != NULL; i++) {
		writer = mu_writers[i];
		if (strlen(writer->name) != length ||
		    strncmp(writer->name, value->text, length) != 0 ||
		    value->text[length] == '\0' ||
		    value->text[length + 1] == '\0')
			continue;
		ask_for(options, writer);
		reports->items[reports->count++] = (struct mu_cli_report) {
			.path = value->text + length + 1,
			.document = { .writer = writer },
		};
		return MU_OK;
	}
	return mu_cli_expected(value,
	    "a format as of --format and a file, such as sarif:leaks.sarif",
	    why);
}

static enum mu_status
take_unchecked(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	unsigned choice = 0;
	enum mu_status status =
	    mu_cli_take_word(value, value->flag->words, &choice, why);

	options->unchecked_ok = choice == 1;
	return status;
}

static bool
is_number(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* Certainly no mistyped number. */
static bool
is_name(const char *text)
{
	return (text[0] >= 'a' && text[0] <= 'z') ||
	    (text[0] >= 'A' && text[0] <= 'Z') || text[0] == '_';
}

/* A watch takes that of a UNIT as well. */
static enum mu_status
take_name(struct mu_cli_options *options, const struct mu_cli_value *value,
    bool unit, struct mu_why *why)
{
	if (value->text[0] == '\0' || strchr(value->text, '/') != NULL)
		return mu_cli_expected(value,
		    unit ? "the name of a unit of systemd, such as"
			   " served.service"
			 : "the number or the name of a process, such as 4711"
			   " or served",
		    why);
	if (options->pid != 0 || options->watch.search.name != NULL)
		return mu_why(why, MU_ERR_ARGUMENT, "one process at a time");
	options->watch.search =
	    (struct mu_watch_search) { .name = value->text, .unit = unit };
	return MU_OK;
}

static enum mu_status
take_unit(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	return take_name(options, value, true, why);
}

static enum mu_status
take_pid(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	struct mu_token token = { value->text, strlen(value->text) };
	uint64_t pid;

	if (options->watch.wanted ? !is_number(value->text)
				  : is_name(value->text))
		return take_name(options, value, false, why);
	if (!mu_token_number(token, PID_MAX, &pid) || pid == 0)
		return mu_cli_expected(
		    value, "the number of a process, such as 4711", why);
	if (options->watch.search.name != NULL)
		return mu_why(why, MU_ERR_ARGUMENT, "one process at a time");
	if (options->pid != 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%d and %d: one process at a time", options->pid, (int)pid);
	options->pid = (pid_t)pid;
	return MU_OK;
}

/* The word behind it is optional, too, and then another value. */
static enum mu_status
take_doctor(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	return value->text != NULL ? take_pid(options, value, why) : MU_OK;
}

static enum mu_status
take_frames(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	struct mu_token token;
	uint64_t frames;

	options->backtrace = true;
	if (value->text == NULL)
		return MU_OK;
	token = (struct mu_token) { value->text, strlen(value->text) };
	if (!mu_token_number(token, FRAMES_MAX, &frames) || frames == 0)
		return mu_cli_expected(
		    value, "a number of frames, 1 to 256", why);
	options->frames = frames;
	return MU_OK;
}

/* "24" or "24-4096": requested sizes in bytes. */
static enum mu_status
take_sizes(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	size_t length = strcspn(value->text, "-");
	struct mu_token least = { value->text, length }, most = least;
	uint64_t min, max;

	if (value->text[length] == '-')
		most = (struct mu_token) { value->text + length + 1,
			strlen(value->text + length + 1) };
	if (!mu_token_number(least, SIZE_MAX, &min) ||
	    !mu_token_number(most, SIZE_MAX, &max) || min == 0 || max < min)
		return mu_cli_expected(value,
		    "bytes, such as 24, or from least to most, such as"
		    " 24-4096",
		    why);
	options->backtrace = true;
	options->min_size = min;
	options->max_size = max;
	return MU_OK;
}

static enum mu_status
take_retained(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	struct mu_token token;
	uint64_t count = RETAINED;

	if (value->text != NULL) {
		token = (struct mu_token) { value->text, strlen(value->text) };
		if (!mu_token_number(token, RETAINED_MAX, &count) || count == 0)
			return mu_cli_expected(value,
			    "how many of the largest holders, 1 to 1000", why);
	}
	options->explain.retained = count;
	return MU_OK;
}

/* An address as reports have it, with or without 0x. */
static bool
is_address(const char *text, uintptr_t *address)
{
	size_t length;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	length = strspn(text, "0123456789abcdefABCDEF");
	if (length == 0 || length > 2 * sizeof(uintptr_t) ||
	    text[length] != '\0')
		return false;
	*address = (uintptr_t)strtoull(text, NULL, 16);
	return true;
}

/*
 * A type, after "N:" if so many of its blocks are wanted; or as reports have
 * it, with "probably".
 */
static bool
is_type(const char *text, const char **type, size_t *count)
{
	size_t length = strspn(text, "0123456789");
	struct mu_token token = { text, length };
	uint64_t number = WHY;

	if (length > 0 &&
	    (text[length] != ':' ||
		!mu_token_number(token, RETAINED_MAX, &number) || number == 0))
		return false;
	*type = length > 0 ? text + length + 1 : text;
	if (strncmp(*type, PROBABLY, sizeof(PROBABLY) - 1) == 0)
		*type += sizeof(PROBABLY) - 1;
	*count = (size_t)number;
	return (*type)[0] != '\0';
}

static enum mu_status
take_why(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	struct mu_explain *explain = &options->explain;
	uintptr_t address;

	if (is_address(value->text, &address)) {
		explain->why = true;
		explain->address = address;
		return MU_OK;
	}
	if (is_type(value->text, &explain->why_type, &explain->why_count))
		return MU_OK;
	return mu_cli_expected(value,
	    "the address of a block, such as 55d0c8a02b0, or a type, such as"
	    " Session or 10:Session",
	    why);
}

static enum mu_status
take_rounds(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	struct mu_token token = { value->text, strlen(value->text) };
	uint64_t number;

	if (!mu_token_number(token, MU_ROUNDS_MOST, &number) || number == 0)
		return mu_cli_expected(
		    value, "a number of rounds, 1 to 95", why);
	options->watch.rounds = number;
	return MU_OK;
}

/* "-" is standard input, like a missing name. */
static enum mu_status
take_log(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	options->symbolize = true;
	if (value->text == NULL || strcmp(value->text, "-") == 0)
		return MU_OK;
	if (options->log != NULL)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "--symbolize takes one file at a time");
	return mu_cli_read_file_name(value, &options->log, why);
}

/* It implies --children. */
static enum mu_status
take_program(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	/* It is passed on in the library's options. */
	if (value->text[0] == '\0' || strpbrk(value->text, "'/") != NULL)
		return mu_cli_expected(value,
		    "the name of a program, or a pattern such as 'test_*'",
		    why);
	options->only_program = value->text;
	options->children = true;
	return MU_OK;
}

/* The earlier dump comes first; the later one is the next word. */
static enum mu_status
take_diff(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	return mu_cli_read_file_name(value,
	    options->diff_before == NULL ? &options->diff_before
					 : &options->diff_after,
	    why);
}

static enum mu_status
take_round(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	options->watch.round = value->text;
	return value->text[0] != '\0'
	    ? MU_OK
	    : mu_cli_expected(value, "a command for the shell", why);
}

static const char *const stops[] = { "auto", "fork", "read", NULL };
static const char *const colors[] = { "auto", "always", "never", NULL };
static const char *const unchecked[] = { "fail", "ok", NULL };
static const char *const by[] = { "block", "stack", "shape", "type", "module",
	NULL };

#define P (1u << MU_CLI_PROCESS)
#define C (1u << MU_CLI_CORE)
#define X (1u << MU_CLI_COMMAND)
#define D (1u << MU_CLI_DOCTOR)
#define H (1u << MU_CLI_HEAP_DUMP)
#define F (1u << MU_CLI_DIFF)
#define L (1u << MU_CLI_LEAKTRACER)
#define S (1u << MU_CLI_SYMBOLIZE)
#define W (1u << MU_CLI_WATCH)
#define K (1u << MU_CLI_LOOK)
#define CHECKED (P | C | X | K)
#define REACH (P | C | X | W)
#define ALL (CHECKED | D | H | F | L)

#define AT(member) .at = offsetof(struct mu_cli_options, member)
#define NO no_argument
#define REQ required_argument
#define OPT optional_argument

/* In the order in which messages name them. */
const struct mu_cli_flag mu_cli_flags[] = {
	{ "pid", REQ, P | D | W, .take = take_pid, .letter = 'p' },
	{ "unit", REQ, W, .take = take_unit },
	{ "core", REQ, C, .take = mu_cli_take_file, AT(core) },
	{ "exe", REQ, C | L, .take = mu_cli_take_file, AT(exe) },
	{ "sysroot", REQ, C, .take = mu_cli_take_file, AT(sysroot) },
	{ "doctor", OPT, D, .take = take_doctor },
	{ "stop", REQ, P | W, .take = mu_cli_take_choice, AT(stop),
	    .words = stops },
	{ "timeout", REQ, CHECKED | W, .take = take_timeout },
	{ "max-pause", REQ, P | X | D | W, .take = take_max_pause },
	{ "limit", REQ, CHECKED | H | F | L, .take = take_max_leaks },
	{ "by", REQ, CHECKED | W, .take = mu_cli_take_choice, AT(by),
	    .words = by },
	{ "contents", NO, CHECKED, .take = mu_cli_take_true, AT(contents) },
	{ "format", REQ, CHECKED | W, .take = take_format },
	{ "report", REQ, CHECKED, .take = take_report },
	{ "source-root", REQ, CHECKED, .take = mu_cli_take_file,
	    AT(source_root) },
	{ "output", REQ, ALL | W, .take = mu_cli_take_file, AT(output),
	    .letter = 'o' },
	{ "quiet", NO, ALL | S | W, .take = mu_cli_take_true, AT(quiet),
	    .letter = 'q' },
	{ "color", REQ, ALL | S | W, .take = mu_cli_take_choice, AT(color),
	    .words = colors },
	{ "signal", REQ, X, .take = take_signal },
	{ "children", NO, X, .take = mu_cli_take_true, AT(children) },
	{ "only-program", REQ, X, .take = take_program },
	{ "unchecked", REQ, X, .take = take_unchecked, .words = unchecked },
	{ "backtrace", OPT, X, .take = take_frames },
	{ "backtrace-size", REQ, X, .take = take_sizes },
	{ "retained", OPT, CHECKED, .take = take_retained },
	{ "why", REQ, CHECKED, .take = take_why },
	{ "all", NO, CHECKED, .take = mu_cli_take_true, AT(explain.all) },
	{ "in-use", NO, CHECKED, .take = mu_cli_take_true, AT(explain.in_use) },
	{ "since", REQ, P | C | K, .take = mu_cli_take_file, AT(since) },
	{ "baseline", REQ, CHECKED, .take = mu_cli_take_file, AT(baseline) },
	{ "write-baseline", REQ, CHECKED, .take = mu_cli_take_file,
	    AT(write_baseline) },
	{ "suppressions", REQ, CHECKED, .take = mu_cli_take_file,
	    AT(suppressions) },
	{ "write-suppressions", REQ, CHECKED, .take = mu_cli_take_file,
	    AT(write_suppressions) },
	{ "only-module", REQ, CHECKED, .take = mu_cli_take_file,
	    AT(only_module) },
	{ "only-function", REQ, CHECKED, .take = mu_cli_take_file,
	    AT(only_function) },
	{ "core-out", REQ, P | X, .take = mu_cli_take_file, AT(core_out) },
	{ "save", REQ, P | C | X, .take = mu_cli_take_file, AT(save) },
	{ "max-memory", REQ, CHECKED | W, .take = take_max_memory },
	{ "workers", REQ, CHECKED | W, .take = take_workers },
	{ "confirm", NO, P | X | W, .take = mu_cli_take_same },
	{ "pointer-mask", REQ, REACH, .take = mu_cli_take_same },
	{ "use-unaligned", OPT, REACH, .take = mu_cli_take_same },
	{ "use-globals", OPT, REACH, .take = mu_cli_take_same },
	{ "use-stacks", OPT, REACH, .take = mu_cli_take_same },
	{ "use-registers", OPT, REACH, .take = mu_cli_take_same },
	{ "use-tls", OPT, REACH, .take = mu_cli_take_same },
	{ "use-root-regions", OPT, REACH, .take = mu_cli_take_same },
	{ "heap-dump", REQ, H, .take = mu_cli_take_file, AT(heap_dump) },
	{ "diff", REQ, F, .take = take_diff },
	{ "leaktracer", REQ, L, .take = mu_cli_take_file, AT(leaktracer) },
	{ "symbols", REQ, P | C | X | H | F | L | S | W,
	    .take = mu_cli_take_file, AT(symbols) },
	{ "symbolize", OPT, S, .take = take_log },
	{ "html", REQ, H | F | W, .take = mu_cli_take_file, AT(html) },
	{ "every", REQ, W, .take = mu_cli_take_time, AT(watch.every_ms) },
	{ "duration", REQ, W, .take = mu_cli_take_time, AT(watch.duration_ms) },
	{ "count", REQ, W, .take = mu_cli_take_count, AT(watch.count) },
	{ "round", REQ, W, .take = take_round },
	{ "rounds", REQ, W, .take = take_rounds },
	{ "csv", REQ, W, .take = mu_cli_take_file, AT(watch.csv) },
	{ "from", REQ, W, .take = mu_cli_take_file, AT(watch.from) },
	{ "prometheus", REQ, W, .take = mu_cli_take_file,
	    AT(watch.prometheus) },
	{ "stale", REQ, W, .take = mu_cli_take_time, AT(watch.stale_ms) },
	{ "syslog", NO, W, .take = mu_cli_take_true, AT(watch.syslog) },
	{ "help", OPT, ~0u, .letter = 'h' },
	{ "version", NO, ~0u, .letter = 'V' },
	{ .name = NULL },
};

_Static_assert(
    sizeof(mu_cli_flags) / sizeof(*mu_cli_flags) == MU_CLI_NUM_FLAGS + 1,
    "see there");
