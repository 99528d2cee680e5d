#include "lib/writers/leak_text.h"

#include <string.h>

#include "lib/report/backtrace.h"
#include "lib/report/text.h"
#include "lib/writers/frame_line.h"

#define BLOCK_SIZE 2048 /* mu_report_block() writes 700 bytes at most */
#define WORDS_PER_ROW 2 /* 16 bytes */

/* Behind a row of contents: where its words point to. */
static void
put_targets(FILE *out, const struct Leak *leak, size_t row,
    const struct mu_names *names)
{
	size_t i, count = mu_names_words(leak);
	struct mu_symbol symbol;

	for (i = row * WORDS_PER_ROW;
	     i < count && i < (row + 1) * WORDS_PER_ROW; i++) {
		if (!mu_names_find(names, mu_names_word(leak, i), &symbol))
			continue;
		fputs("  -> ", out);
		mu_names_address(out, &symbol);
		if (symbol.function != NULL) {
			fputc(' ', out);
			mu_names_text(out, symbol.function);
		}
	}
}

/* One line of TEXT without its newline, in a style; the result is behind it. */
static const char *
put_line(FILE *out, const char *text, const char *begin, const char *end)
{
	size_t length = strcspn(text, "\n");

	fprintf(out, "%s%.*s%s", begin, (int)length, text, end);
	text += length;
	return *text == '\n' ? text + 1 : text;
}

/* What is lost, and below it how much hangs on it. */
static void
put_heading(FILE *out, const char *text, const struct mu_style *style)
{
	text = put_line(out, text, style->bold, style->off);
	fputc('\n', out);
	while (*text != '\0') {
		text = put_line(out, text, "", "");
		fputc('\n', out);
	}
}

/* A line of explanation, then a row for each 16 bytes. */
static void
put_contents(FILE *out, const char *text, const struct Leak *leak,
    const struct mu_names *names, const struct mu_style *style)
{
	size_t row;

	text = put_line(out, text, style->dim, style->off);
	fputc('\n', out);
	for (row = 0; *text != '\0'; row++) {
		text = put_line(out, text, style->dim, style->off);
		put_targets(out, leak, row, names);
		fputc('\n', out);
	}
}

static void
put_type(FILE *out, const struct Leak *leak, const struct mu_names *names)
{
	struct mu_symbol symbol;

	if (!mu_names_type(names, leak, &symbol))
		return;
	if (symbol.function != NULL) {
		fputs("   ", out);
		mu_names_text(out, symbol.function);
		fputs(" (", out);
		mu_names_address(out, &symbol);
		fputs(")\n", out);
	} else {
		fputs("   pointing into ", out);
		mu_names_address(out, &symbol);
		fputc('\n', out);
	}
}

void
mu_leak_text(FILE *out, const struct Leak *leak, bool contents,
    const struct mu_names *names, const struct mu_style *style)
{
	size_t i, count = mu_backtrace_count(&leak->backtrace);
	char block[BLOCK_SIZE] = "";
	struct mu_text heading = { block, sizeof(block), 0 };
	struct mu_text whole = heading;
	char line[128] = "";
	struct mu_text cut = { line, sizeof(line), 0 };

	mu_report_block(&heading, leak, false);
	put_heading(out, block, style);
	if (contents) {
		mu_report_block(&whole, leak, true);
		put_contents(out, block + heading.length, leak, names, style);
	} else {
		put_type(out, leak, names);
	}
	for (i = 0; i < count; i++)
		mu_frame_line(
		    out, i, mu_backtrace_frame(&leak->backtrace, i), names);
	mu_report_cut(&cut, &leak->backtrace);
	fputs(line, out);
}
