#include "lib/writers/report_lines.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report/hint.h"
#include "lib/writers/frame_line.h"
#include "mu/sys.h"

#define PATIENCE_NS \
	(8 * MU_NS_PER_SEC) /* for a name; see lib/report/symbolizer.c */
#define DIGITS_MAX 3        /* of a frame's number */
#define HEX "0123456789abcdef"

/* "  #03  pc 0000000000001234  /path/file (name+12)" */
struct frame {
	struct mu_frame_prefix prefix; /* to the '#' */
	unsigned long number, offset;
	char path[PATH_MAX];
};

/* A path may have parentheses, too: it is the last ones that count. */
static bool
read_path(struct frame *frame, const char *path, size_t length)
{
	const char *name = path + length;

	if (length > 0 && name[-1] == ')') {
		while (name > path && *name != '(')
			name--;
		if (name > path && name[-1] == ' ' &&
		    memchr(name, '+', (size_t)(path + length - name)) != NULL)
			length = (size_t)(name - 1 - path);
	}
	if (length >= sizeof(frame->path))
		return false;
	memcpy(frame->path, path, length);
	frame->path[length] = '\0';
	return true;
}

/* AT is the first digit of what LENGTH bytes are left of. */
static bool
read_frame(struct frame *frame, const char *at, size_t length)
{
	static const char pc[] = "  pc ";
	const char *end = at + length;
	size_t digits = strspn(at, "0123456789");

	if (digits < 2 || digits > DIGITS_MAX ||
	    strncmp(at + digits, pc, strlen(pc)) != 0)
		return false;
	frame->number = strtoul(at, NULL, 10);
	at += digits + strlen(pc);
	digits = strspn(at, HEX);
	if ((digits != 8 && digits != 16) ||
	    strncmp(at + digits, "  /", 3) != 0)
		return false;
	frame->offset = strtoul(at, NULL, 16);
	at += digits + 2;
	/* What is behind a NUL would be lost. */
	length = strcspn(at, "\n");
	return at + length + (at[length] == '\n') == end &&
	    read_path(frame, at, length);
}

static bool
find_frame(struct frame *frame, const char *line, size_t length)
{
	const char *end = line + length, *at = line;

	while ((at = memchr(at, '#', (size_t)(end - at))) != NULL) {
		at++;
		frame->prefix =
		    (struct mu_frame_prefix) { line, (size_t)(at - 1 - line) };
		if (at - line > 2 && at[-2] == ' ' && at[-3] == ' ' &&
		    read_frame(frame, at, (size_t)(end - at)))
			return true;
	}
	return false;
}

static bool
find_symbol(struct mu_symbol_helper *helper, const struct frame *frame,
    struct mu_symbol *symbol)
{
	struct mu_symbol_question question = {
		.path = frame->path, .address = frame->offset, .call = true
	};
	struct mu_symbol_answer answer = { .given = false };

	mu_symbol_helper_ask(
	    helper, &question, &answer, 1, mu_sys_now_ns() + PATIENCE_NS);
	*symbol = answer.symbol;
	return symbol->module != NULL;
}

bool
mu_report_line_frame(
    FILE *out, struct mu_symbol_helper *helper, const char *line, size_t length)
{
	struct mu_symbol symbol;
	struct frame frame;

	if (!find_frame(&frame, line, length) ||
	    !find_symbol(helper, &frame, &symbol) || symbol.function == NULL)
		return false;
	mu_frame_line_symbol(out, frame.prefix, frame.number, &symbol);
	return true;
}

static bool
put_hint(FILE *out, const char *line)
{
	const char *hint = strstr(line, MU_HINT_BEGIN);
	const char *sizes =
	    hint != NULL ? strstr(hint, "backtrace_min_size=") : NULL;
	char buffer[256] = "";
	struct mu_text text = { buffer, sizeof(buffer), 0 };
	size_t least, most;

	if (sizes == NULL ||
	    strncmp(line, "libmemunreachable: ", hint - line) != 0 ||
	    sscanf(sizes, "backtrace_min_size=%zu backtrace_max_size=%zu",
		&least, &most) != 2)
		return false;
	mu_hint_command(&text, least, most);
	fprintf(out, "%.*s%s\n", (int)(hint - line), line, buffer);
	return true;
}

void
mu_report_line(
    FILE *out, struct mu_symbol_helper *helper, const char *line, size_t length)
{
	if (!mu_report_line_frame(out, helper, line, length) &&
	    !put_hint(out, line))
		fwrite(line, 1, length, out);
}
