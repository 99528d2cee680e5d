#include "lib/writers/frame_line.h"

#include "mu/sys.h"

/* For a name; see lib/report/symbolizer.c. */
#define PATIENCE_NS (8 * MU_NS_PER_SEC)

#if UINTPTR_MAX > 0xffffffffu
#define PC "%016lx"
#else
#define PC "%08lx"
#endif

#define INDENT "          "

static void
put_place(FILE *out, const char *function, const char *file, unsigned line)
{
	if (function != NULL) {
		fputs(" (", out);
		mu_names_text(out, function);
		fputc(')', out);
	}
	if (file != NULL) {
		fputc(' ', out);
		mu_names_text(out, file);
		if (line > 0)
			fprintf(out, ":%u", line);
	}
	fputc('\n', out);
}

void
mu_frame_line_symbol(FILE *out, struct mu_frame_prefix prefix, size_t number,
    const struct mu_symbol *symbol)
{
	size_t i;

	fwrite(prefix.bytes, 1, prefix.length, out);
	fprintf(
	    out, "#%02zu  pc " PC "  ", number, (unsigned long)symbol->offset);
	mu_names_text(out, symbol->module);
	put_place(
	    out, mu_symbol_function(symbol, 0), symbol->file, symbol->line);
	for (i = 0; i < symbol->num_inlined; i++) {
		fwrite(prefix.bytes, 1, prefix.length, out);
		fputs("      inlined into", out);
		put_place(out, mu_symbol_function(symbol, i + 1),
		    symbol->inlined[i].file, symbol->inlined[i].line);
	}
}

void
mu_frame_line(
    FILE *out, size_t number, uintptr_t pc, const struct mu_names *names)
{
	const struct mu_frame_prefix prefix = { INDENT, sizeof(INDENT) - 1 };
	struct mu_symbol symbol;

	if (mu_names_find(names, pc, &symbol))
		mu_frame_line_symbol(out, prefix, number, &symbol);
	else
		fprintf(out, INDENT "#%02zu  pc " PC "  <unknown>\n", number,
		    (unsigned long)pc);
}

bool
mu_frame_line_file(FILE *out, struct mu_symbol_helper *helper,
    struct mu_frame_prefix prefix, size_t number, const char *path,
    uintptr_t offset)
{
	struct mu_symbol_question question = {
		.path = path, .address = offset, .call = true
	};
	struct mu_symbol_answer answer = { .given = false };

	mu_symbol_helper_ask(
	    helper, &question, &answer, 1, mu_sys_now_ns() + PATIENCE_NS);
	if (answer.symbol.module == NULL || answer.symbol.function == NULL)
		return false;
	mu_frame_line_symbol(out, prefix, number, &answer.symbol);
	return true;
}
