#include "lib/writers/frame_line.h"

#if UINTPTR_MAX > 0xffffffffu
#define PC "%016lx"
#else
#define PC "%08lx"
#endif

static void
put_source(const struct mu_out *out, const char *file, unsigned line)
{
	if (file != NULL) {
		mu_put(out, " ");
		mu_put_safe(out, file);
		if (line > 0)
			mu_put(out, ":%u", line);
	}
	mu_put(out, "\n");
}

static void
put_function(
    const struct mu_out *out, const struct mu_symbol *symbol, size_t level)
{
	const char *function = mu_symbol_function(symbol, level);

	if (function == NULL)
		return;
	mu_put(out, " (");
	mu_put_safe(out, function);
	if (symbol->exported)
		mu_put(out, "+%zu", symbol->into);
	mu_put(out, ")");
}

/*
 * The program's own report is not for a terminal: only control characters are
 * replaced, because readers of the report open the file by this name.
 */
static void
put_module(const struct mu_out *out, const struct mu_symbol *symbol)
{
	const char *path = symbol->module;

	if (!symbol->exported) {
		mu_put_safe(out, path);
		return;
	}
	for (; *path != '\0'; path++)
		mu_put(out, "%c",
		    (unsigned char)*path < 0x20 || *path == 0x7f ? '?' : *path);
}

/* An interpreted function: there is no address. */
static void
put_script(
    const struct mu_out *out, size_t number, const struct mu_symbol *symbol)
{
	mu_put(out, "#%02zu  ", number);
	mu_put_safe(out, symbol->function);
	put_source(out, symbol->file, symbol->line);
}

void
mu_frame_line_prefixed(const struct mu_out *out, struct mu_frame_prefix prefix,
    size_t number, const struct mu_symbol *symbol)
{
	size_t i;

	out->put(out->ctx, prefix.bytes, prefix.length);
	if (symbol->script) {
		put_script(out, number, symbol);
		return;
	}
	mu_put(
	    out, "#%02zu  pc " PC "  ", number, (unsigned long)symbol->offset);
	put_module(out, symbol);
	put_function(out, symbol, 0);
	put_source(out, symbol->file, symbol->line);
	for (i = 0; i < symbol->num_inlined; i++) {
		out->put(out->ctx, prefix.bytes, prefix.length);
		mu_put(out, "      inlined into");
		put_function(out, symbol, i + 1);
		put_source(
		    out, symbol->inlined[i].file, symbol->inlined[i].line);
	}
}

void
mu_frame_line_symbol(const struct mu_out *out, size_t number, uintptr_t pc,
    const struct mu_symbol *symbol)
{
	const struct mu_frame_prefix prefix = { MU_FRAME_INDENT,
		sizeof(MU_FRAME_INDENT) - 1 };

	if (symbol != NULL)
		mu_frame_line_prefixed(out, prefix, number, symbol);
	else
		mu_put(out, MU_FRAME_INDENT "#%02zu  pc " PC "  <unknown>\n",
		    number, (unsigned long)pc);
}

void
mu_frame_line(const struct mu_out *out, size_t number, uintptr_t pc,
    const struct mu_names *names)
{
	struct mu_symbol symbol;
	bool known = mu_names_find(names, pc, &symbol);

	if (!known || out->frame == NULL ||
	    !out->frame(out->ctx, number, &symbol))
		mu_frame_line_symbol(out, number, pc, known ? &symbol : NULL);
}
