/*
 * LeakSanitizer's text, for programs that read that. A group is a direct leak,
 * what hangs on it an indirect one.
 */
#include "lib/report/backtrace.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/findings.h"
#include "lib/writers/writer.h"

static void
put_source(const struct mu_out *out, const struct mu_symbol *symbol)
{
	if (symbol->file != NULL) {
		mu_put(out, " ");
		mu_put_safe(out, symbol->file);
		mu_put(out, ":%u", symbol->line);
	} else if (symbol->module != NULL) {
		mu_put(out, " (");
		mu_put_safe(out, symbol->module);
		mu_put(out, "+0x%zx)", (size_t)symbol->offset);
	}
}

static void
put_stack(const struct mu_out *out, const struct mu_finding *finding,
    const struct mu_names *names)
{
	const struct LeakBacktrace *backtrace = &finding->example->backtrace;
	size_t i, count = mu_backtrace_count(backtrace);
	struct mu_symbol symbol;

	for (i = 0; i < count; i++) {
		uintptr_t pc = mu_backtrace_frame(backtrace, i);

		mu_names_find(names, pc, &symbol);
		mu_put(out, "    #%zu 0x%lx", i,
		    symbol.script ? 0 : (unsigned long)pc);
		if (mu_symbol_function(&symbol, 0) != NULL) {
			mu_put(out, " in ");
			mu_put_safe(out, mu_symbol_function(&symbol, 0));
		}
		put_source(out, &symbol);
		mu_put(out, "\n");
	}
	if (count == 0) {
		mu_put(out, "    #0 0x%lx in ",
		    (unsigned long)finding->example->begin);
		mu_put_safe(out, finding->key);
		if (finding->source.file[0] != '\0') {
			mu_put(out, " ");
			mu_put_safe(out, finding->source.file);
			mu_put(out, ":%u", finding->source.line);
		}
		mu_put(out, "\n");
	}
	mu_put(out, "\n");
}

/* The entries of the group, and what hangs on them. */
static void
put_finding(const struct mu_out *out, const struct mu_finding *finding,
    const struct mu_names *names)
{
	size_t own = finding->count * finding->example->size;
	size_t rest = finding->blocks > finding->count
	    ? finding->blocks - finding->count
	    : 0;

	if (own > finding->bytes || rest == 0)
		own = finding->bytes;
	mu_put(out,
	    "Direct leak of %zu byte(s) in %zu object(s) allocated from:\n",
	    own, finding->count);
	put_stack(out, finding, names);
	if (rest == 0)
		return;
	mu_put(out,
	    "Indirect leak of %zu byte(s) in %zu object(s) allocated from:\n",
	    finding->bytes - own, rest);
	put_stack(out, finding, names);
}

static bool
write_leaks(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	const struct UnreachableMemoryInfo *info = &report->info;
	struct mu_findings findings;
	const struct mu_finding *finding;
	size_t bytes = 0, blocks = 0;

	if (info->status != MEMUNREACHABLE_COMPLETE) {
		mu_put(out, "==%d==LeakSanitizer: %s: ", (int)report->pid,
		    mu_exit_checked(info) ? "partial answer" : "not checked");
		mu_put_safe(out, info->reason);
		mu_put(out, "\n");
	}
	mu_findings_open(&findings, report, shown->source_root);
	while ((finding = mu_findings_next(&findings)) != NULL) {
		if (finding->known)
			continue;
		if (blocks == 0)
			mu_put(out,
			    "\n================================================="
			    "================\n==%d==ERROR: LeakSanitizer:"
			    " detected memory leaks\n\n",
			    (int)report->pid);
		put_finding(out, finding, &report->names);
		bytes += finding->bytes;
		blocks += finding->blocks;
	}
	if (blocks > 0)
		mu_put(out,
		    "SUMMARY: LeakSanitizer: %zu byte(s) leaked in %zu"
		    " allocation(s).\n",
		    bytes, blocks);
	return true;
}

const struct mu_writer mu_writer_lsan = {
	.name = "lsan",
	.write = write_leaks,
};
