#include "lib/term/fold.h"

#include <string.h>
#include <sys/ioctl.h>

#define LEAST_WIDTH 40 /* columns */
#define MOST_INDENT 24 /* of the first line; continuations have 4 more */
#define ESCAPE 0x1b

size_t
mu_fold_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col < LEAST_WIDTH)
		return 0;
	return size.ws_col;
}

/*
 * The columns of the byte at AT. Colours (ESC [ ... m) have none, and of a
 * character only its first byte has one.
 */
static size_t
columns_of(const struct mu_fold *fold, size_t at, bool *escape)
{
	char byte = fold->line[at];

	if (byte == ESCAPE)
		*escape = true;
	if (*escape) {
		*escape = byte != 'm';
		return 0;
	}
	return ((unsigned char)byte & 0xc0) != 0x80;
}

static bool
is_of_name(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	    (byte >= '0' && byte <= '9') || byte == '_';
}

/*
 * Where the arguments of a template end that begin at AT, as in "map<int,
 * Session>"; AT: there are none.
 */
static size_t
end_of_arguments(const struct mu_fold *fold, size_t at)
{
	size_t i, depth = 0;

	if (at == 0 || fold->line[at] != '<' || !is_of_name(fold->line[at - 1]))
		return at;
	for (i = at; i < fold->length; i++) {
		if (fold->line[i] == '<')
			depth++;
		else if (fold->line[i] == '>' && fold->line[i - 1] != '-' &&
		    --depth == 0)
			return i;
	}
	return at;
}

/*
 * Where the part of the line from BEGIN ends that fits in ROOM columns: before
 * a blank, or, without one, where the first word ends. A word stays whole, so
 * that it can be copied; so does a name with the arguments of its template.
 */
static size_t
end_of_part(const struct mu_fold *fold, size_t begin, size_t room)
{
	size_t i, columns = 0, end = 0, whole = begin;
	bool escape = false, word = false;

	for (i = begin; i < fold->length; i++) {
		if (i >= whole)
			whole = end_of_arguments(fold, i);
		if (fold->line[i] == ' ' && word && i >= whole)
			end = i;
		columns += columns_of(fold, i, &escape);
		if (end > 0 && columns > room)
			return end;
		word |= fold->line[i] != ' ';
	}
	return fold->length;
}

static void
put_line(struct mu_fold *fold)
{
	static const char blanks[MOST_INDENT + 4 + 1] =
	    "                            ";
	size_t begin = 0, end, indent = 0, room = fold->width;

	while (indent < fold->length && indent < MOST_INDENT &&
	    fold->line[indent] == ' ')
		indent++;
	indent += 4;
	for (;;) {
		end = fold->width == 0 ? fold->length
				       : end_of_part(fold, begin, room);
		fold->to.put(fold->to.ctx, fold->line + begin, end - begin);
		if (end == fold->length)
			break;
		while (end < fold->length && fold->line[end] == ' ')
			end++;
		fold->to.put(fold->to.ctx, "\n", 1);
		fold->to.put(fold->to.ctx, blanks, indent);
		begin = end;
		room = fold->width - indent;
	}
	fold->length = 0;
}

static void
put_folded(void *ctx, const char *bytes, size_t length)
{
	struct mu_fold *fold = ctx;
	size_t i;

	for (i = 0; i < length; i++) {
		if (bytes[i] != '\n' && fold->length < sizeof(fold->line)) {
			fold->line[fold->length++] = bytes[i];
			continue;
		}
		/* The rest of a line that is too long begins in no line. */
		put_line(fold);
		if (bytes[i] == '\n')
			fold->to.put(fold->to.ctx, "\n", 1);
		else
			fold->line[fold->length++] = bytes[i];
	}
}

struct mu_out
mu_fold_out(struct mu_fold *fold)
{
	return (struct mu_out) { .put = put_folded, .ctx = fold };
}

void
mu_fold_end(struct mu_fold *fold)
{
	put_line(fold);
}
