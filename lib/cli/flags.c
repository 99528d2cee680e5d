/*
 * Convert the value of a command-line option to a member of struct
 * mu_cli_options. Numbers, times, sizes and signals are written as in
 * MEMUNREACHABLE_OPTIONS and use its parser. (strtonum(3) would accept "+1" and
 * " 1".)
 */
#include "lib/cli/values.h"

#include <stdlib.h>
#include <string.h>

#include "lib/state/options.h"
#include "lib/state/options_token.h"
#include "lib/term/safe_text.h"
#include "lib/watch/rounds.h"

#define PID_MAX 4194304 /* PID_MAX_LIMIT of Linux, on 64 bits */
#define FRAMES_MAX 256  /* the limit of malloc_debug */
#define RETAINED 10     /* holders that are shown by default */
#define RETAINED_MAX 1000
#define TIME_MAX_MS (10 * 366 * 86400000ull) /* ten years */
#define WHY 3        /* blocks of a type that are shown by default */
#define VALUE_MAX 40 /* longer texts are not numbers */
#define COMPLAINT_SIZE 512
#define MAX_WRITERS 16

static enum mu_status
expected(
    const struct mu_cli_value *value, const char *words, struct mu_why *why)
{
	return mu_why(why, MU_ERR_ARGUMENT, "--%s=%s: expected %s", value->name,
	    mu_safe_argument(value->text).text, words);
}

/*
 * Parse the value like that of KEY in MEMUNREACHABLE_OPTIONS. The error there
 * is "...: expected WORDS\n".
 */
static enum mu_status
read_shared(const struct mu_cli_value *value, const char *key,
    struct mu_options *shared, struct mu_why *why)
{
	char text[VALUE_MAX + 32], complaint[COMPLAINT_SIZE] = "";
	struct mu_text warnings = { complaint, sizeof(complaint), 0 };
	static const char mark[] = ": expected ";
	const char *given = value->text;
	char *words;

	/* These would be parsed as more than a value. */
	if (*given == '\0' || strlen(given) > VALUE_MAX ||
	    strpbrk(given, ":'\"") != NULL)
		given = "?";
	mu_text_format(text, sizeof(text), "%s=%s", key, given);
	mu_options_parse(shared, text, &warnings);
	if (warnings.length == 0)
		return MU_OK;
	complaint[strcspn(complaint, "\n")] = '\0';
	words = strstr(complaint, mark);
	return expected(value,
	    words != NULL ? words + strlen(mark) : "something else", why);
}

/*
 * An option that the library has by the same name, except for the dashes;
 * without a value it is "1".
 */
static enum mu_status
take_same(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	struct mu_cli_value given = *value;
	size_t i, length = strlen(options->passed_on);
	enum mu_status status;
	char key[32];

	mu_text_format(key, sizeof(key), "%s", value->name);
	for (i = 0; key[i] != '\0'; i++) {
		if (key[i] == '-')
			key[i] = '_';
	}
	if (given.text == NULL)
		given.text = "1";
	status = read_shared(&given, key, &options->library, why);
	if (status == MU_OK &&
	    length + strlen(key) + strlen(given.text) + 3 <
		sizeof(options->passed_on))
		mu_text_format(options->passed_on + length,
		    sizeof(options->passed_on) - length, ":%s=%s", key,
		    given.text);
	return status;
}

static enum mu_status
take_shared(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	struct mu_options shared;
	enum mu_status status;

	mu_options_default(&shared);
	switch (value->flag) {
	case MU_CLI_OPT_TIMEOUT:
		status = read_shared(value, "timeout", &shared, why);
		options->timeout_ms = shared.timeout;
		options->timeout_given = true;
		return status;
	case MU_CLI_OPT_MAX_PAUSE:
		status = read_shared(value, "max_pause", &shared, why);
		options->max_pause_ms = shared.max_pause;
		options->max_pause_given = true;
		return status;
	case MU_CLI_OPT_LIMIT:
		status = read_shared(value, "max_leaks", &shared, why);
		options->limit = shared.max_leaks;
		options->limit_given = true;
		return status;
	case MU_CLI_OPT_SIGNAL:
		status = read_shared(value, "signal", &shared, why);
		options->signal = shared.signal;
		return status;
	case MU_CLI_OPT_MAX_MEMORY:
		status = read_shared(value, "max_memory", &shared, why);
		options->max_memory = shared.max_memory;
		return status;
	default:
		status = read_shared(value, "workers", &shared, why);
		options->workers = shared.workers;
		return status;
	}
}

/* Accept one of the words at NAMES, which end with NULL. */
static enum mu_status
take_word(const struct mu_cli_value *value, const char *const *names,
    unsigned *choice, struct mu_why *why)
{
	char list[80] = "";
	struct mu_text text = { list, sizeof(list), 0 };
	unsigned i;

	for (i = 0; names[i] != NULL; i++) {
		if (strcmp(value->text, names[i]) == 0) {
			*choice = i;
			return MU_OK;
		}
		if (i > 0)
			mu_text_add(
			    &text, names[i + 1] != NULL ? ", " : " or ");
		mu_text_add(&text, "%s", names[i]);
	}
	return expected(value, list, why);
}

#define PAGE_HOLDERS 50 /* of --format=html, unless --retained says */

static enum mu_status
take_format(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	const char *names[MAX_WRITERS + 1] = { NULL };
	unsigned choice = 0, i;
	enum mu_status status;

	for (i = 0; i < MAX_WRITERS && mu_writers[i] != NULL; i++)
		names[i] = mu_writers[i]->name;
	status = take_word(value, names, &choice, why);
	options->writer = mu_writers[choice];
	/* The page shows what holds the rest. */
	if (options->writer == &mu_writer_html) {
		options->explain.in_use = true;
		if (options->explain.retained == 0)
			options->explain.retained = PAGE_HOLDERS;
	}
	return status;
}

static enum mu_status
take_choice(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	static const char *const stops[] = { "auto", "fork", "read", NULL };
	static const char *const colors[] = { "auto", "always", "never", NULL };
	static const char *const unchecked[] = { "fail", "ok", NULL };
	static const char *const by[] = { "block", "stack", "shape", "type",
		"module", NULL };
	enum mu_status status;
	unsigned choice = 0;

	if (value->flag == MU_CLI_OPT_UNCHECKED) {
		status = take_word(value, unchecked, &choice, why);
		options->unchecked_ok = choice == 1;
	} else if (value->flag == MU_CLI_OPT_BY) {
		status = take_word(value, by, &choice, why);
		options->by = (enum mu_by)choice;
	} else if (value->flag == MU_CLI_OPT_STOP) {
		status = take_word(value, stops, &choice, why);
		options->stop = (enum mu_check_stop)choice;
	} else {
		status = take_word(value, colors, &choice, why);
		options->color = (enum mu_style_when)choice;
	}
	return status;
}

static bool
is_number(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* A watch takes a name, or that of a UNIT, as well. */
static enum mu_status
take_name(struct mu_cli_options *options, const struct mu_cli_value *value,
    bool unit, struct mu_why *why)
{
	if (value->text[0] == '\0' || strchr(value->text, '/') != NULL)
		return expected(value,
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
take_pid(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	struct mu_token token = { value->text, strlen(value->text) };
	uint64_t pid;

	if (options->watch.wanted && !is_number(value->text))
		return take_name(options, value, false, why);
	if (!mu_token_number(token, PID_MAX, &pid) || pid == 0)
		return expected(
		    value, "the number of a process, such as 4711", why);
	if (options->watch.search.name != NULL)
		return mu_why(why, MU_ERR_ARGUMENT, "one process at a time");
	if (options->pid != 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%d and %d: one process at a time", options->pid, (int)pid);
	options->pid = (pid_t)pid;
	return MU_OK;
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
		return expected(value, "a number of frames, 1 to 256", why);
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
		return expected(value,
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
			return expected(value,
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

/* A type, after "N:" if so many of its blocks are wanted. */
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
	return expected(value,
	    "the address of a block, such as 55d0c8a02b0, or a type, such as"
	    " Session or 10:Session",
	    why);
}

static enum mu_status
take_file(
    const struct mu_cli_value *value, const char **file, struct mu_why *why)
{
	if (value->text[0] == '\0')
		return expected(value, "the name of a file", why);
	*file = value->text;
	return MU_OK;
}

/* 60, 60s, 500ms, 5m, 1h, 2d: milliseconds, at least one. */
static enum mu_status
take_time(const struct mu_cli_value *value, uint64_t *ms, struct mu_why *why)
{
	static const struct {
		const char *suffix;
		uint64_t ms;
	} units[] = {
		{ "", 1000 },
		{ "s", 1000 },
		{ "ms", 1 },
		{ "m", 60 * 1000 },
		{ "h", 60 * 60 * 1000 },
		{ "d", 24 * 60 * 60 * 1000 },
	};
	struct mu_token token = { value->text, strlen(value->text) };
	uint64_t number;
	size_t i;

	if (mu_token_take_number(&token, &number) && number > 0) {
		for (i = 0; i < sizeof(units) / sizeof(*units); i++)
			if (strcmp(token.text, units[i].suffix) == 0 &&
			    number <= TIME_MAX_MS / units[i].ms) {
				*ms = number * units[i].ms;
				return MU_OK;
			}
	}
	return expected(value, "a time, such as 60s, 500ms, 5m, 1h or 2d", why);
}

static enum mu_status
take_count(const struct mu_cli_value *value, size_t *count, struct mu_why *why)
{
	struct mu_token token = { value->text, strlen(value->text) };
	uint64_t number;

	if (!mu_token_number(token, SIZE_MAX, &number) || number == 0)
		return expected(value, "a number, 1 or more", why);
	*count = number;
	return MU_OK;
}

static enum mu_status
take_rounds(const struct mu_cli_value *value, size_t *count, struct mu_why *why)
{
	struct mu_token token = { value->text, strlen(value->text) };
	uint64_t number;

	if (!mu_token_number(token, MU_ROUNDS_MOST, &number) || number == 0)
		return expected(value, "a number of rounds, 1 to 95", why);
	*count = number;
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
	return take_file(value, &options->log, why);
}

/* The earlier dump comes first; the later one is the next word. */
static enum mu_status
take_diff(struct mu_cli_options *options, const struct mu_cli_value *value,
    struct mu_why *why)
{
	return take_file(value,
	    options->diff_before == NULL ? &options->diff_before
					 : &options->diff_after,
	    why);
}

enum mu_status
mu_cli_value_take(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why)
{
	switch (value->flag) {
	case MU_CLI_OPT_PID:
		return take_pid(options, value, why);
	case MU_CLI_OPT_DOCTOR:
		return value->text != NULL ? take_pid(options, value, why)
					   : MU_OK;
	case MU_CLI_OPT_CORE:
		return take_file(value, &options->core, why);
	case MU_CLI_OPT_EXE:
		return take_file(value, &options->exe, why);
	case MU_CLI_OPT_SYSROOT:
		return take_file(value, &options->sysroot, why);
	case MU_CLI_OPT_BASELINE:
		return take_file(value, &options->baseline, why);
	case MU_CLI_OPT_WRITE_BASELINE:
		return take_file(value, &options->write_baseline, why);
	case MU_CLI_OPT_CORE_OUT:
		return take_file(value, &options->core_out, why);
	case MU_CLI_OPT_SINCE:
		return take_file(value, &options->since, why);
	case MU_CLI_OPT_SAVE:
		return take_file(value, &options->save, why);
	case MU_CLI_OPT_OUTPUT:
		return take_file(value, &options->output, why);
	case MU_CLI_OPT_HEAP_DUMP:
		return take_file(value, &options->heap_dump, why);
	case MU_CLI_OPT_DIFF:
		return take_diff(options, value, why);
	case MU_CLI_OPT_LEAKTRACER:
		return take_file(value, &options->leaktracer, why);
	case MU_CLI_OPT_SYMBOLS:
		return take_file(value, &options->symbols, why);
	case MU_CLI_OPT_HTML:
		return take_file(value, &options->html, why);
	case MU_CLI_OPT_SYMBOLIZE:
		return take_log(options, value, why);
	case MU_CLI_OPT_FORMAT:
		return take_format(options, value, why);
	case MU_CLI_OPT_BY:
	case MU_CLI_OPT_STOP:
	case MU_CLI_OPT_COLOR:
	case MU_CLI_OPT_UNCHECKED:
		return take_choice(options, value, why);
	case MU_CLI_OPT_CONTENTS:
		options->contents = true;
		return MU_OK;
	case MU_CLI_OPT_RETAINED:
		return take_retained(options, value, why);
	case MU_CLI_OPT_WHY:
		return take_why(options, value, why);
	case MU_CLI_OPT_ALL:
		options->explain.all = true;
		return MU_OK;
	case MU_CLI_OPT_IN_USE:
		options->explain.in_use = true;
		return MU_OK;
	case MU_CLI_OPT_BACKTRACE:
		return take_frames(options, value, why);
	case MU_CLI_OPT_BACKTRACE_SIZE:
		return take_sizes(options, value, why);
	case MU_CLI_OPT_CHILDREN:
		options->children = true;
		return MU_OK;
	case MU_CLI_OPT_CONFIRM:
	case MU_CLI_OPT_POINTER_MASK:
	case MU_CLI_OPT_USE_UNALIGNED:
	case MU_CLI_OPT_USE_GLOBALS:
	case MU_CLI_OPT_USE_STACKS:
	case MU_CLI_OPT_USE_REGISTERS:
	case MU_CLI_OPT_USE_TLS:
	case MU_CLI_OPT_USE_ROOT_REGIONS:
		return take_same(options, value, why);
	case MU_CLI_OPT_UNIT:
		return take_name(options, value, true, why);
	case MU_CLI_OPT_EVERY:
		return take_time(value, &options->watch.every_ms, why);
	case MU_CLI_OPT_DURATION:
		return take_time(value, &options->watch.duration_ms, why);
	case MU_CLI_OPT_COUNT:
		return take_count(value, &options->watch.count, why);
	case MU_CLI_OPT_ROUND:
		options->watch.round = value->text;
		return value->text[0] != '\0'
		    ? MU_OK
		    : expected(value, "a command for the shell", why);
	case MU_CLI_OPT_ROUNDS:
		return take_rounds(value, &options->watch.rounds, why);
	case MU_CLI_OPT_CSV:
		return take_file(value, &options->watch.csv, why);
	case MU_CLI_OPT_PROMETHEUS:
		return take_file(value, &options->watch.prometheus, why);
	case MU_CLI_OPT_SYSLOG:
		options->watch.syslog = true;
		return MU_OK;
	case MU_CLI_OPT_QUIET:
		options->quiet = true;
		return MU_OK;
	case MU_CLI_OPT_HELP:
	case MU_CLI_OPT_VERSION:
		return MU_OK;
	default:
		return take_shared(options, value, why);
	}
}
