/*
 * Read once, when the library is loaded.
 */
#include "lib/state/options.h"

#include <string.h>

#include "heapwalk/subject/workers.h"
#include "lib/state/options_token.h"

#define SHOWN_SIZE 48 /* part of a bad value that a warning shows */
#define DURATION_MAX_MS 1000000000u /* 11 days: no deadline overflows */
#define LEVEL_MAX 2
#define STATUS_MAX 255 /* exit statuses have 8 bits */

struct entry {
	size_t where; /* position of its first character, from 1 */
	struct mu_token key, value;
	const char *flaw; /* NULL, or what is wrong with its syntax */
};

/*
 * One parser per kind: set OUT and return NULL, or leave it unchanged and
 * return what was expected.
 */
static const char *
read_interval_ms(struct mu_token token, uint64_t *out)
{
	static const char expected[] =
	    "a time from 0 to 1000000s, such as 0, 30, 30s or 500ms";
	uint64_t value, unit = 1000;

	if (!mu_token_take_number(&token, &value))
		return expected;
	if (mu_token_is(token, "ms"))
		unit = 1;
	else if (token.length > 0 && !mu_token_is(token, "s"))
		return expected;
	if (value > DURATION_MAX_MS / unit)
		return expected;
	*out = value * unit;
	return NULL;
}

static const char *
read_duration_ms(struct mu_token token, uint64_t *out)
{
	uint64_t value;

	if (read_interval_ms(token, &value) != NULL || value == 0)
		return "a time from 1ms to 1000000s, such as 30, 30s or 500ms";
	*out = value;
	return NULL;
}

static const char *
read_bytes(struct mu_token token, size_t *out)
{
	static const char expected[] =
	    "a number of bytes, such as 65536, 512k, 64m or 2g, or none";
	uint64_t value = 0;
	unsigned shift = 0;

	if (mu_token_is(token, "none")) {
		*out = 0;
		return NULL;
	}
	if (!mu_token_take_number(&token, &value))
		return expected;
	if (mu_token_is(token, "k"))
		shift = 10;
	else if (mu_token_is(token, "m"))
		shift = 20;
	else if (mu_token_is(token, "g"))
		shift = 30;
	else if (token.length > 0)
		return expected;
	if (value > SIZE_MAX >> shift)
		return expected;
	*out = (size_t)value << shift;
	return NULL;
}

static const char *
read_level(struct mu_token token, unsigned *out)
{
	uint64_t value;

	if (!mu_token_number(token, LEVEL_MAX, &value))
		return "0, 1 or 2";
	*out = (unsigned)value;
	return NULL;
}

static const char *
read_path(struct mu_token token, char (*out)[MU_PATH_MAX])
{
	if (token.length == 0 || token.length >= sizeof(*out))
		return "a file name of 1 to 4095 bytes";
	memcpy(*out, token.text, token.length);
	(*out)[token.length] = '\0';
	return NULL;
}

static const char *
read_flag(struct mu_token token, bool *out)
{
	if (mu_token_is(token, "1") || mu_token_is(token, "true") ||
	    mu_token_is(token, "yes"))
		*out = true;
	else if (mu_token_is(token, "0") || mu_token_is(token, "false") ||
	    mu_token_is(token, "no"))
		*out = false;
	else
		return "1, true, yes, 0, false or no";
	return NULL;
}

static const char *
read_signal(struct mu_token token, int *out)
{
	int number = mu_options_signal_token(token);

	if (number == 0)
		return "a signal that can be caught, such as RTMIN+5, USR2"
		       " or 40";
	*out = number;
	return NULL;
}

static const char *
read_status(struct mu_token token, int *out)
{
	uint64_t value;

	if (!mu_token_number(token, STATUS_MAX, &value))
		return "an exit status from 0 to 255";
	*out = (int)value;
	return NULL;
}

static const char *
read_count(struct mu_token token, size_t *out)
{
	uint64_t value;

	if (!mu_token_number(token, SIZE_MAX, &value))
		return "a number";
	*out = (size_t)value;
	return NULL;
}

static const char *
read_workers(struct mu_token token, size_t *out)
{
	uint64_t value;

	_Static_assert(MU_WORKERS_MAX == 64, "the words below");
	if (!mu_token_number(token, MU_WORKERS_MAX, &value))
		return "a number of threads from 0 to 64";
	*out = (size_t)value;
	return NULL;
}

static const char *
read_mask(struct mu_token token, uint64_t *out)
{
	uint64_t value;

	if (!mu_token_mask(token, &value) ||
	    (value & MU_OPTION_MASK_MIN) != MU_OPTION_MASK_MIN)
		return "a mask that has bits 12 to 46, such as"
		       " 0x00ffffffffffffff";
	*out = value;
	return NULL;
}

static const char *const stop_names[] = { "auto", "ptrace", "signal" };

static const char *
read_stop(struct mu_token token, enum mu_stop_option *out)
{
	unsigned i;

	for (i = 0; i < sizeof(stop_names) / sizeof(*stop_names); i++) {
		if (mu_token_is(token, stop_names[i])) {
			*out = (enum mu_stop_option)i;
			return NULL;
		}
	}
	return "auto, ptrace or signal";
}

static const char *const unchecked_names[] = { "fail", "ok" };

static const char *
read_unchecked(struct mu_token token, enum mu_unchecked *out)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		if (mu_token_is(token, unchecked_names[i])) {
			*out = (enum mu_unchecked)i;
			return NULL;
		}
	}
	return "fail or ok";
}

/* TOKEN as a string of at most SIZE - 1 characters, safe for a terminal. */
static const char *
shown(struct mu_token token, char *buffer, size_t size)
{
	static const char dots[] = "...";
	size_t i, length = token.length;

	if (length > size - 1)
		length = size - sizeof(dots);
	for (i = 0; i < length; i++)
		buffer[i] = token.text[i] < 0x20 || token.text[i] > 0x7e
		    ? '?'
		    : token.text[i];
	buffer[length] = '\0';
	if (length < token.length)
		memcpy(buffer + length, dots, sizeof(dots));
	return buffer;
}

static void
warn(struct mu_text *warnings, const struct entry *entry, const char *what,
    const char *words)
{
	char key[SHOWN_SIZE], value[SHOWN_SIZE];

	mu_text_add(warnings,
	    "MEMUNREACHABLE_OPTIONS, character %zu: %s%s%s: %s%s\n",
	    entry->where, shown(entry->key, key, sizeof(key)),
	    entry->value.text != NULL ? "=" : "",
	    shown(entry->value, value, sizeof(value)), what, words);
}

/* True if VALUE goes on with another option: "1,exitcode=3". */
static bool
has_more(struct mu_token value)
{
	size_t i = 0;

	if (value.text == NULL)
		return false;
	while (i < value.length && strchr(",; |&", value.text[i]) == NULL)
		i++;
	return i < value.length &&
	    memchr(value.text + i, '=', value.length - i) != NULL;
}

/* Returns false after a warning. */
static bool
apply(struct mu_options *options, const struct entry *entry,
    struct mu_text *warnings)
{
	const char *expected = NULL;

	if (entry->flaw != NULL) {
		warn(warnings, entry, entry->flaw, "");
		return false;
	}
#define APPLY(kind, field, fallback, words)                            \
	if (mu_token_is(entry->key, #field))                           \
		expected = read_##kind(entry->value, &options->field); \
	else
	MU_OPTIONS(APPLY)
	{
		warn(warnings, entry, "no such option; help=1 lists them", "");
		return false;
	}
#undef APPLY
	if (expected != NULL && has_more(entry->value))
		warn(warnings, entry, "options are separated by ':'; expected ",
		    expected);
	else if (expected != NULL)
		warn(warnings, entry, "expected ", expected);
	return expected == NULL;
}

/* Parse the value at P; returns the position after it. */
static const char *
take_value(const char *p, struct entry *entry)
{
	const char *end;
	char quote = *p;

	if (quote != '\'' && quote != '"') {
		end = p + strcspn(p, ":");
		entry->value = (struct mu_token) { p, (size_t)(end - p) };
		if (end == p)
			entry->flaw = "the value is empty";
		return end;
	}
	end = strchr(++p, quote);
	if (end == NULL) {
		entry->flaw = "the closing quote is missing";
		end = p + strlen(p);
	}
	entry->value = (struct mu_token) { p, (size_t)(end - p) };
	if (*end == quote)
		end++;
	if (*end != '\0' && *end != ':') {
		entry->flaw = "expected ':' after the closing quote";
		end += strcspn(end, ":");
	}
	return end;
}

static const char *
take_entry(const char *p, struct entry *entry)
{
	size_t length = strcspn(p, "=:");

	entry->key = (struct mu_token) { p, length };
	if (p[length] == '=')
		return take_value(p + length + 1, entry);
	entry->flaw = "expected key=value";
	return p + length;
}

void
mu_options_default(struct mu_options *options)
{
	static const struct mu_options fallback = MU_OPTIONS_DEFAULT;

	*options = fallback;
}

/* Keys of refused options are appended to REFUSED. */
static void
parse(struct mu_options *options, const char *text, struct mu_text *warnings,
    struct mu_text *refused)
{
	const char *p = text;
	char key[SHOWN_SIZE];

	while (p != NULL && *p != '\0') {
		struct entry entry = { .where = (size_t)(p - text) + 1 };

		if (*p == ':') {
			p++;
			continue;
		}
		p = take_entry(p, &entry);
		if (!apply(options, &entry, warnings))
			mu_text_add(refused, "%s%s",
			    refused->length > 0 ? ", " : "",
			    shown(entry.key, key, sizeof(key)));
	}
}

void
mu_options_parse(
    struct mu_options *options, const char *text, struct mu_text *warnings)
{
	struct mu_text refused = { NULL, 0, 0 };

	parse(options, text, warnings, &refused);
}

void
mu_options_read(
    struct mu_options *options, const char *text, struct mu_text *warnings)
{
	char keys[256] = "";
	struct mu_text refused = { keys, sizeof(keys), 0 };

	parse(options, text, warnings, &refused);
	if (refused.length > 0)
		mu_text_add(warnings,
		    "MEMUNREACHABLE_OPTIONS: ignored: %s; the other options"
		    " apply\n",
		    keys);
}

void
mu_options_help(struct mu_text *out)
{
	mu_text_add(out, "MEMUNREACHABLE_OPTIONS=key=value:key=value, with\n");
#define HELP(kind, field, fallback, words)                           \
	mu_text_add(out, "  %-16s %s (default %s)\n", #field, words, \
	    DEFAULT_##kind(fallback));
#define DEFAULT_text(fallback) #fallback
#define DEFAULT_path(fallback) fallback[0] != '\0' ? fallback : "none"
#define DEFAULT_signal(fallback) fallback != 0 ? #fallback : "none"
#define DEFAULT_duration_ms(fallback) #fallback "ms"
#define DEFAULT_interval_ms DEFAULT_duration_ms
#define DEFAULT_bytes(fallback) fallback != 0 ? #fallback : "none"
#define DEFAULT_level DEFAULT_text
#define DEFAULT_flag DEFAULT_text
#define DEFAULT_status DEFAULT_text
#define DEFAULT_count DEFAULT_text
#define DEFAULT_mask DEFAULT_text
#define DEFAULT_workers DEFAULT_text
#define DEFAULT_stop(fallback) stop_names[fallback]
#define DEFAULT_unchecked(fallback) unchecked_names[fallback]
	MU_OPTIONS(HELP)
#undef HELP
}
