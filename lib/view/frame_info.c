#include "lib/view/frame_info.h"
#include "mu/bisect.h"

#include <stdlib.h>
#include <string.h>

static void
skip_blanks(struct mu_line *line)
{
	while (line->at < line->end && *line->at == ' ')
		line->at++;
}

/* Take the number at the start of LINE. */
static bool
take_hex(struct mu_line *line, uint64_t *value)
{
	struct mu_line number = { line->at, line->at };

	while (
	    number.end < line->end && *number.end != ' ' && *number.end != '}')
		number.end++;
	line->at = number.end;
	return mu_line_number(number, 16, value);
}

/* True if LINE continues as after the quotation mark that ends a name. */
static bool
is_behind(struct mu_line line, char last)
{
	uint64_t value;

	if (line.at == line.end || *line.at++ != ' ' ||
	    !take_hex(&line, &value) || line.at == line.end)
		return false;
	return *line.at == last;
}

/*
 * Take "NAME" HEX, followed by LAST. Names are not escaped: a quotation mark in
 * one (operator""_s) does not end it. Each mark and each number is parsed once,
 * so this takes linear time.
 */
static const char *
take_name(struct mu_line *line, uint64_t *value, char last)
{
	struct mu_line name;
	char *mark;

	skip_blanks(line);
	if (line->at == line->end || *line->at != '"')
		return NULL;
	name.at = mark = ++line->at;
	for (;; mark++) {
		mark = memchr(mark, '"', (size_t)(line->end - mark));
		if (mark == NULL)
			return NULL;
		line->at = mark + 1;
		if (is_behind(*line, last))
			break;
	}
	line->at++;
	take_hex(line, value);
	name.end = mark;
	return mu_line_has_nul(name) ? "" : mu_line_string(name);
}

bool
mu_frame_info_take(struct mu_line *line, struct mu_frame_info *info)
{
	struct mu_line rest = *line;
	uint64_t ahead;

	*info = (struct mu_frame_info) { 0 };
	skip_blanks(&rest);
	if (rest.at == rest.end || *rest.at++ != '{')
		return false;
	info->module = take_name(&rest, &info->offset, ' ');
	if (info->module == NULL)
		return false;
	info->function = take_name(&rest, &ahead, '}');
	if (info->function == NULL)
		return false;
	rest.at++;
	*line = rest;
	return true;
}

static int
compare(const void *a, const void *b)
{
	const struct mu_frame_info *x = a, *y = b;

	return (x->pc > y->pc) - (x->pc < y->pc);
}

void
mu_frame_infos_seal(struct mu_frame_info *infos, size_t count)
{
	if (count > 0)
		qsort(infos, count, sizeof(*infos), compare);
}

const struct mu_frame_info *
mu_frame_infos_find(
    const struct mu_frame_info *infos, size_t count, uintptr_t pc)
{
	size_t low = 0;

	mu_bisect(low, count, i, infos[i].pc < pc);
	return low < count && infos[low].pc == pc ? &infos[low] : NULL;
}
