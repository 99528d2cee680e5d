/*
 * Names and numbers are separated by white space; spaces may stand around '=';
 * a value ends at white space.
 *
 * Uses no malloc.
 */
#include "lib/malloc_debug/state/options.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/malloc_debug/state/options_table.h"
#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"
#include "mu/text.h"

#define FRAMES 16
#define MANUAL "memunreachable-malloc-debug(7)"
#define DUMP_NAME "/backtrace_heap"
#define JOURNAL_NAME "/record_allocs.txt"

/* A name in the copy of the text, and its value. */
struct setting {
	const char *name; /* terminated when the value is known */
	char *value;      /* NULL: none, or an empty one */
};

enum number_error { NUMBER_GOOD, NUMBER_NONE, NUMBER_OVERFLOW, NUMBER_REST };

/*
 * Which options the environment gives.
 */

static const char *
not_empty(const char *text)
{
	if (text != NULL)
		text += strspn(text, " \t\n\v\f\r");
	return text != NULL && *text != '\0' ? text : NULL;
}

/* Our own variable obeys the filter, as Android's property did. */
static const char *
wanted_text(void)
{
	const char *text, *program;

	text = not_empty(secure_getenv("LIBC_DEBUG_MALLOC_OPTIONS"));
	if (text != NULL)
		return text;
	program =
	    not_empty(secure_getenv("MEMUNREACHABLE_MALLOC_DEBUG_PROGRAM"));
	if (program != NULL &&
	    strstr(program_invocation_short_name, program) == NULL)
		return NULL;
	return not_empty(secure_getenv("MEMUNREACHABLE_MALLOC_DEBUG"));
}

bool
debug_options_environment(struct debug_options *options)
{
	const char *hooks = secure_getenv("LIBC_HOOKS_ENABLE");
	const char *text = wanted_text();

	*options = (struct debug_options) {
		.hooks = hooks != NULL && *hooks != '\0' && *hooks != '0',
	};
	if (text == NULL)
		return options->hooks;
	if (debug_options_parse(options, text))
		return true;
	recorder_say("%s: none of these options is in force: nothing is "
		     "recorded or checked",
	    program_invocation_short_name);
	return options->hooks;
}

/* As isspace() in the C locale, in which the program starts. */
static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static char *
skip_space(char *p)
{
	while (is_space(*p))
		p++;
	return p;
}

/*
 * Read a decimal number; *REST is the text after it. The limit is LONG_MAX, as
 * for strtol().
 */
static enum number_error
read_number(const char *text, long *value, const char **rest)
{
	const char *p = text;
	bool negative = *p == '-', overflow = false;

	*value = 0;
	if (*p == '-' || *p == '+')
		p++;
	if (*p < '0' || *p > '9')
		return NUMBER_NONE;
	for (; *p >= '0' && *p <= '9'; p++)
		overflow |= __builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, *p - '0', value);
	*rest = p;
	if (overflow)
		return NUMBER_OVERFLOW;
	if (negative)
		*value = -*value;
	return *p == '\0' ? NUMBER_GOOD : NUMBER_REST;
}

static bool __attribute__((format(printf, 2, 3)))
bad_value(const char *name, const char *format, ...)
{
	char why[512];
	va_list args;

	va_start(args, format);
	mu_text_vformat(why, sizeof(why), format, args);
	va_end(args);
	recorder_say("%s: bad value for option '%s'%s",
	    program_invocation_short_name, name, why);
	return false;
}

static bool
check_number(
    const struct option_row *row, const struct setting *setting, size_t *number)
{
	const char *name = setting->name, *rest = "";
	long value;

	switch (read_number(setting->value, &value, &rest)) {
	case NUMBER_NONE:
		return bad_value(name, "%s", "");
	case NUMBER_OVERFLOW: /* strerror() may take the locale's lock */
		return bad_value(name, ": Numerical result out of range");
	case NUMBER_REST:
		return bad_value(
		    name, ", non space found after option: %s", rest);
	case NUMBER_GOOD:
		break;
	}
	if (value < 0)
		return bad_value(
		    name, ", value cannot be negative: %ld", value);
	*number = (size_t)value;
	if (*number < row->least)
		return bad_value(
		    name, ", value must be >= %zu: %ld", row->least, value);
	if (*number > row->most)
		return bad_value(
		    name, ", value must be <= %zu: %ld", row->most, value);
	return true;
}

static bool
apply(struct options_draft *draft, const struct setting *setting)
{
	const struct option_row *row =
	    options_table_find(setting->name, strlen(setting->name));
	size_t number;

	if (row == NULL) {
		recorder_say("%s: unknown option %s",
		    program_invocation_short_name, setting->name);
		return false;
	}
	if (row->kind == OPTION_TEXT) {
		row->text(draft, setting->value);
		return true;
	}
	if (row->kind == OPTION_PLAIN && setting->value != NULL) {
		recorder_say("%s: value set for option '%s' which does not "
			     "take a value",
		    program_invocation_short_name, setting->name);
		return false;
	}
	if (row->kind == OPTION_REQUIRED && setting->value == NULL)
		return bad_value(setting->name, "%s", "");
	number = row->bare;
	if (setting->value != NULL && !check_number(row, setting, &number))
		return false;
	row->number(draft, number);
	return true;
}

/*
 * P points to a name; name and value are terminated. Returns the text after
 * them.
 */
static char *
read_setting(char *p, struct setting *setting)
{
	char *name_end;

	*setting = (struct setting) { .name = p };
	while (*p != '\0' && *p != '=' && !is_space(*p))
		p++;
	name_end = p;
	p = skip_space(p);
	if (*p != '=') {
		*name_end = '\0';
		return p;
	}
	p = skip_space(p + 1);
	*name_end = '\0';
	if (*p != '\0')
		setting->value = p;
	while (*p != '\0' && !is_space(*p))
		p++;
	if (*p != '\0')
		*p++ = '\0';
	return p;
}

/* Derive the remaining settings. */
static bool
finish(struct options_draft *draft)
{
	struct debug_options *options = &draft->options;

	if (draft->exact_size != 0)
		options->min_size = options->max_size = draft->exact_size;
	if (options->min_size > options->max_size)
		return bad_value("backtrace_min_size",
		    ", value must be <= %zu: %ld", options->max_size,
		    (long)options->min_size);
	if (options->sample_bytes != 0 && !options->backtrace) {
		options->backtrace = options->backtrace_enabled = true;
		options->frames = FRAMES;
	}
	if (options->free_track != 0) {
		/* The whole block is checked when it is released. */
		options->fill_on_free = SIZE_MAX;
		if (!draft->has_free_frames)
			options->free_track_frames = FRAMES;
	}
	options->tracking = options->front_guard != 0 ||
	    options->rear_guard != 0 || options->backtrace ||
	    options->free_track != 0 || options->leak_track ||
	    options->verify_pointers;
	return true;
}

static const char *
place_name(char **at, const char *directory, const char *name)
{
	const char *result = *at;

	*at = stpcpy(stpcpy(*at, directory), name) + 1;
	return result;
}

/* Copy TEXT, and append the default names of files. */
static char *
keep(const char *text, struct options_draft *draft)
{
	const char *directory = secure_getenv("TMPDIR");
	size_t length = strlen(text) + 1;
	long address;
	char *at;

	if (directory == NULL || *directory == '\0')
		directory = "/tmp";
	address = mu_sys_mmap(NULL,
	    length + 2 * strlen(directory) + sizeof(DUMP_NAME) +
		sizeof(JOURNAL_NAME),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
	if (mu_sys_failed(address)) {
		recorder_say("no memory for the options");
		return NULL;
	}
	at = (char *)address + length;
	draft->default_prefix = place_name(&at, directory, DUMP_NAME);
	draft->default_file = place_name(&at, directory, JOURNAL_NAME);
	draft->options.dump_prefix = draft->default_prefix;
	draft->options.record_allocs_file = draft->default_file;
	return memcpy((char *)address, text, length);
}

static void
say_usage(void)
{
	recorder_say("For malloc debug option descriptions go to:");
	recorder_say("  %s", MANUAL);
}

bool
debug_options_parse(struct debug_options *options, const char *text)
{
	struct options_draft draft = {
		.options = { .frames = FRAMES, .max_size = SIZE_MAX },
	};
	struct setting setting;
	bool good = true;
	char *p;

	p = keep(text, &draft);
	if (p == NULL)
		return false;
	for (p = skip_space(p); good && *p != '\0'; p = skip_space(p)) {
		p = read_setting(p, &setting);
		good = apply(&draft, &setting);
	}
	if (!good || !finish(&draft)) {
		say_usage();
		return false;
	}
	draft.options.hooks = options->hooks;
	*options = draft.options;
	return true;
}
