#include "lib/view/line.h"

#include <string.h>

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool
mu_line_take(struct mu_line *rest, struct mu_line *line, bool *whole)
{
	char *end;

	if (rest->at >= rest->end)
		return false;
	end = memchr(rest->at, '\n', (size_t)(rest->end - rest->at));
	*whole = end != NULL;
	*line = (struct mu_line) { rest->at, end != NULL ? end : rest->end };
	rest->at = end != NULL ? end + 1 : rest->end;
	if (line->end > line->at && line->end[-1] == '\r')
		line->end--;
	return true;
}

bool
mu_line_skip(struct mu_line *line, const char *text)
{
	size_t length = strlen(text);

	if ((size_t)(line->end - line->at) < length ||
	    memcmp(line->at, text, length) != 0)
		return false;
	line->at += length;
	return true;
}

bool
mu_line_field(struct mu_line *line, struct mu_line *word)
{
	while (line->at < line->end && is_blank(*line->at))
		line->at++;
	word->at = line->at;
	while (line->at < line->end && !is_blank(*line->at))
		line->at++;
	word->end = line->at;
	return word->end > word->at;
}

bool
mu_line_is(struct mu_line word, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(word.end - word.at) == length &&
	    memcmp(word.at, text, length) == 0;
}

static unsigned
digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 16;
}

bool
mu_line_number(struct mu_line word, unsigned base, uint64_t *value)
{
	uint64_t sum = 0;

	if (word.at >= word.end)
		return false;
	for (; word.at < word.end; word.at++) {
		if (digit(*word.at) >= base ||
		    __builtin_mul_overflow(sum, base, &sum) ||
		    __builtin_add_overflow(sum, digit(*word.at), &sum))
			return false;
	}
	*value = sum;
	return true;
}

char *
mu_line_string(struct mu_line line)
{
	*line.end = '\0';
	return line.at;
}

bool
mu_line_keep(struct mu_line *line, struct mu_arena *arena)
{
	size_t length = (size_t)(line->end - line->at);
	char *copy = mu_arena_alloc(arena, length + 1, 1);

	if (copy == NULL)
		return false;
	memcpy(copy, line->at, length);
	*line = (struct mu_line) { copy, copy + length };
	return true;
}

bool
mu_line_has_nul(struct mu_line line)
{
	return memchr(line.at, '\0', (size_t)(line.end - line.at)) != NULL;
}

enum mu_status
mu_why_bad_lines(struct mu_why *why, size_t count, size_t first_number)
{
	return mu_why(why, MU_PARTIAL,
	    "%zu line%s of the file cannot be read and %s left out,"
	    " the first is line %zu",
	    count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
	    first_number);
}
