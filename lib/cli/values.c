#include "lib/cli/values.h"

#include <string.h>

#include "lib/state/options_token.h"
#include "lib/term/safe_text.h"

#define TIME_MAX_MS (10 * 366 * 86400000ull) /* ten years */
#define VALUE_MAX 40                         /* longer texts are not numbers */
#define COMPLAINT_SIZE 512

/* What VALUE's option sets in OPTIONS. */
static void *
member(struct mu_cli_options *options, const struct mu_cli_value *value)
{
	return (char *)options + value->flag->at;
}

enum mu_status
mu_cli_expected(
    const struct mu_cli_value *value, const char *words, struct mu_why *why)
{
	return mu_why(why, MU_ERR_ARGUMENT, "--%s=%s: expected %s",
	    value->flag->name, mu_safe_argument(value->text).text, words);
}

/* The parser's error is "...: expected WORDS\n". */
enum mu_status
mu_cli_read_shared(const struct mu_cli_value *value, const char *key,
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
	return mu_cli_expected(value,
	    words != NULL ? words + strlen(mark) : "something else", why);
}

enum mu_status
mu_cli_take_same(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why)
{
	struct mu_cli_value given = *value;
	size_t i, length = strlen(options->passed_on);
	enum mu_status status;
	char key[32];

	mu_text_format(key, sizeof(key), "%s", value->flag->name);
	for (i = 0; key[i] != '\0'; i++) {
		if (key[i] == '-')
			key[i] = '_';
	}
	if (given.text == NULL)
		given.text = "1";
	status = mu_cli_read_shared(&given, key, &options->library, why);
	if (status == MU_OK &&
	    length + strlen(key) + strlen(given.text) + 3 <
		sizeof(options->passed_on))
		mu_text_format(options->passed_on + length,
		    sizeof(options->passed_on) - length, ":%s=%s", key,
		    given.text);
	return status;
}

enum mu_status
mu_cli_take_word(const struct mu_cli_value *value, const char *const *names,
    unsigned *choice, struct mu_why *why)
{
	char list[160] = "";
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
	return mu_cli_expected(value, list, why);
}

enum mu_status
mu_cli_take_choice(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why)
{
	return mu_cli_take_word(
	    value, value->flag->words, member(options, value), why);
}

enum mu_status
mu_cli_take_true(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why)
{
	(void)why;
	*(bool *)member(options, value) = true;
	return MU_OK;
}

enum mu_status
mu_cli_read_file_name(
    const struct mu_cli_value *value, const char **file, struct mu_why *why)
{
	if (value->text[0] == '\0')
		return mu_cli_expected(value, "the name of a file", why);
	*file = value->text;
	return MU_OK;
}

enum mu_status
mu_cli_take_file(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why)
{
	return mu_cli_read_file_name(value, member(options, value), why);
}

/* 60, 60s, 500ms, 5m, 1h, 2d: milliseconds, at least one. */
enum mu_status
mu_cli_take_time(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why)
{
	uint64_t *ms = member(options, value);
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
	return mu_cli_expected(
	    value, "a time, such as 60s, 500ms, 5m, 1h or 2d", why);
}

enum mu_status
mu_cli_take_count(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why)
{
	size_t *count = member(options, value);
	struct mu_token token = { value->text, strlen(value->text) };
	uint64_t number;

	if (!mu_token_number(token, SIZE_MAX, &number) || number == 0)
		return mu_cli_expected(value, "a number, 1 or more", why);
	*count = number;
	return MU_OK;
}
