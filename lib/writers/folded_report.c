/*
 * Folded stacks, which flamegraph.pl, speedscope and others read: the program,
 * its frames from the outermost one, and the bytes that are lost. Without a
 * stack the type, or what is known of it, is the only frame.
 */
#include <string.h>

#include "lib/report/backtrace.h"
#include "lib/term/safe_text.h"
#include "lib/writers/findings.h"
#include "lib/writers/writer.h"

#define NAME 1024

/* ";" and line ends would be read as more frames. */
static void
put_name(const struct mu_out *out, const char *name)
{
	char safe[NAME], *c;

	mu_safe_for_terminal(name, safe, sizeof(safe));
	for (c = safe; *c != '\0'; c++)
		if (*c == ';')
			*c = ',';
	mu_put_safe(out, safe);
}

static void
put_frame(const struct mu_out *out, uintptr_t pc, const struct mu_names *names)
{
	struct mu_symbol symbol;
	const char *slash;
	size_t level;

	if (!mu_names_find(names, pc, &symbol)) {
		mu_put(out, ";?");
		return;
	}
	for (level = symbol.num_inlined + 1; level-- > 0;) {
		mu_put(out, ";");
		if (mu_symbol_function(&symbol, level) != NULL) {
			put_name(out, mu_symbol_function(&symbol, level));
			continue;
		}
		slash = strrchr(symbol.module, '/');
		put_name(out, slash == NULL ? symbol.module : slash + 1);
		mu_put(out, "+0x%zx", (size_t)symbol.offset);
	}
}

static bool
write_stacks(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	struct mu_findings findings;
	const struct mu_finding *finding;
	size_t i;

	mu_findings_open(&findings, report, shown->source_root);
	while ((finding = mu_findings_next(&findings)) != NULL) {
		put_name(out, mu_report_name(report));
		i = mu_backtrace_count(&finding->example->backtrace);
		if (i == 0) {
			mu_put(out, ";");
			put_name(out, finding->key);
		}
		while (i-- > 0)
			put_frame(out,
			    mu_backtrace_frame(&finding->example->backtrace, i),
			    &report->names);
		mu_put(out, " %zu\n", finding->bytes);
	}
	return true;
}

const struct mu_writer mu_writer_folded = {
	.name = "folded",
	.write = write_stacks,
};
