/*
 * The shape is Android's, which log readers already parse, with two deviations:
 * every count is decimal, and every byte of contents has two hex digits.
 * Android's stream is left in hex mode by the address before it, and widens a
 * char of 0x80 or more with its sign.
 */
#include "lib/writers/leaks_text.h"

#include <string.h>

#include "lib/report/backtrace.h"
#include "lib/writers/exit_status.h"
#include "lib/writers/frame_line.h"
#include "mu/arch/cpu.h"
#include "mu/status.h"

#define ROW_BYTES 16

static const char *
plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* "libfoo.so+0x1234" */
static void
put_address(const struct mu_out *out, const struct mu_symbol *symbol)
{
	const char *slash = strrchr(symbol->module, '/');

	mu_put_safe(out, slash != NULL ? slash + 1 : symbol->module);
	mu_put(out, "+0x%lx", (unsigned long)symbol->offset);
}

/*
 * Write, after the row of contents that begins at byte FROM, what its words
 * point to.
 */
static void
put_targets(const struct mu_out *out, const struct Leak *leak, size_t from,
    const struct mu_names *names)
{
	size_t i = from / sizeof(uintptr_t), count = mu_names_words(leak);
	struct mu_symbol symbol;

	if (count > i + ROW_BYTES / sizeof(uintptr_t))
		count = i + ROW_BYTES / sizeof(uintptr_t);
	for (; names->words && i < count; i++) {
		if (!mu_names_find(names, mu_names_word(leak, i), &symbol))
			continue;
		mu_put(out, "  -> ");
		put_address(out, &symbol);
		if (symbol.function != NULL) {
			mu_put(out, " ");
			mu_put_safe(out, symbol.function);
		}
	}
}

static void
put_row(const struct mu_out *out, uintptr_t address, const unsigned char *bytes,
    size_t count)
{
	size_t i;

	mu_put(out, "   %lx: ", (unsigned long)address);
	for (i = 0; i < ROW_BYTES; i++) {
		if (i < count)
			mu_put(out, "%02x ", (unsigned)bytes[i]);
		else
			mu_put(out, "   ");
	}
	for (i = 0; i < count; i++)
		mu_put(out, "%c",
		    bytes[i] < 0x20 || bytes[i] >= 0x7f ? '.' : bytes[i]);
}

/* A line of explanation, then a row for each 16 bytes. */
static void
put_contents(const struct mu_out *out, const struct Leak *leak,
    const struct mu_style *style, const struct mu_names *names)
{
	size_t shown = leak->size, i, row;

	mu_put(out, "%s", style->dim);
	if (shown <= sizeof(leak->contents)) {
		mu_put(out, "   contents:");
	} else {
		shown = sizeof(leak->contents);
		mu_put(out, "   first %zu bytes of contents:", shown);
	}
	mu_put(out, "%s\n", style->off);
	for (i = 0; i < shown; i += ROW_BYTES) {
		row = shown - i < ROW_BYTES ? shown - i : ROW_BYTES;
		mu_put(out, "%s", style->dim);
		put_row(out, leak->begin + i, leak->contents + i, row);
		mu_put(out, "%s", style->off);
		put_targets(out, leak, i, names);
		mu_put(out, "\n");
	}
}

/* "   probably shop::Order (at byte 16)" */
static bool
put_type(const struct mu_out *out, const struct Leak *leak, bool contents,
    const struct mu_names *names)
{
	struct mu_type type;

	if (!mu_names_find_type(names, leak->begin, &type))
		return false;
	/* "text" describes the bytes, so it is not called probable. */
	mu_put(out,
	    type.certain || type.source == MU_TYPE_CONTENT ? "   "
							   : "   probably ");
	mu_put_safe(out, type.name);
	if (contents && type.text != NULL) {
		mu_put(out, " \"");
		mu_put_safe(out, type.text);
		mu_put(out, "\"");
	}
	if (type.offset > 0)
		mu_put(out, " (at byte %zu)", type.offset);
	mu_put(out, "\n");
	return true;
}

/* What the first word that points into a module points to. */
static void
put_target(const struct mu_out *out, const struct Leak *leak,
    const struct mu_names *names)
{
	struct mu_symbol symbol;

	if (!names->words || !mu_names_type(names, leak, &symbol))
		return;
	mu_put(out, symbol.function != NULL ? "   " : "   pointing into ");
	if (symbol.function != NULL) {
		mu_put_safe(out, symbol.function);
		mu_put(out, " (");
	}
	put_address(out, &symbol);
	mu_put(out, symbol.function != NULL ? ")\n" : "\n");
}

/* A line that says that there are more frames. */
static void
put_cut(const struct mu_out *out, const struct LeakBacktrace *backtrace)
{
	size_t count = mu_backtrace_count(backtrace);

	if (backtrace->num_more > 0 && backtrace->more == NULL)
		mu_put(out, "          and %zu more frames\n",
		    backtrace->num_more);
	else if (backtrace->cut != 0 && count > 0)
		mu_put(out,
		    "          only %zu frame%s recorded (backtrace=%zu)\n",
		    count, count == 1 ? " was" : "s were", count);
}

static void
put_referenced(const struct mu_out *out, size_t size, size_t count)
{
	if (count > 0)
		mu_put(out,
		    "   referencing %zu unreachable bytes in %zu"
		    " allocation%s\n",
		    size, count, plural(count));
}

void
mu_leak_text(const struct mu_out *out, const struct Leak *leak,
    const struct mu_shown *shown, const struct mu_names *names)
{
	size_t i, count = mu_backtrace_count(&leak->backtrace);
	const char *site = mu_names_find_site(names, leak);
	bool typed;

	mu_put(out, "%s  %zu bytes unreachable at %lx%s\n", shown->style.bold,
	    leak->size, (unsigned long)leak->begin, shown->style.off);
	put_referenced(out, leak->referenced_size, leak->referenced_count);
	if (leak->similar_count > 0) {
		mu_put(out,
		    "   and %zu similar unreachable bytes in %zu"
		    " allocation%s\n",
		    leak->similar_size, leak->similar_count,
		    plural(leak->similar_count));
		put_referenced(out, leak->similar_referenced_size,
		    leak->similar_referenced_count);
	}
	typed = put_type(out, leak, shown->contents, names);
	if (shown->contents)
		put_contents(out, leak, &shown->style, names);
	else if (!typed)
		put_target(out, leak, names);
	if (site != NULL) {
		mu_put(out, "   probably allocated at ");
		mu_put_safe(out, site);
		mu_put(out, "\n");
	}
	for (i = 0; i < count; i++)
		mu_frame_line(
		    out, i, mu_backtrace_frame(&leak->backtrace, i), names);
	put_cut(out, &leak->backtrace);
}

/* The number of blocks that LEAK counts. */
static size_t
counted(const struct Leak *leak)
{
	return 1 + leak->referenced_count + leak->similar_count +
	    leak->similar_referenced_count;
}

/* The sum over ENTRIES; blocks of several entries count in each. */
static size_t
counted_leaks(const struct mu_entries *entries)
{
	struct mu_entries_at at;
	const struct Leak *leak;
	size_t count = 0;

	mu_entries_open(&at, entries);
	while ((leak = mu_entries_next(&at)) != NULL)
		count += counted(leak);
	return count;
}

/* True if LEAK has no stack only because stacks are sampled. */
static bool
is_unsampled(const struct UnreachableMemoryInfo *info, const struct Leak *leak)
{
	return info->sample_bytes != 0 && leak->backtrace.num_frames == 0;
}

/*
 * Blocks without a stack are one entry, usually the largest. The share of bytes
 * with a stack tells how many bytes each sampled one stands for.
 */
static bool
put_unsampled(const struct mu_out *out,
    const struct UnreachableMemoryInfo *info, const struct mu_entries *entries)
{
	size_t unsampled = 0, count = 0, bytes = 0, sampled = 0;
	struct mu_entries_at at;
	const struct Leak *leak;

	if (info->sample_bytes == 0 || info->num_reported == 0)
		return false;
	mu_entries_open(&at, entries);
	while ((leak = mu_entries_next(&at)) != NULL) {
		if (!is_unsampled(info, leak))
			continue;
		unsampled++;
		count += counted(leak);
		bytes += leak->total_size;
	}
	mu_put(out, "  Stacks were sampled, one in about %zu bytes",
	    info->sample_bytes);
	if (count > 0)
		mu_put(out, ": %zu bytes in %zu allocation%s have none", bytes,
		    count, plural(count));
	if (unsampled == 1 && bytes < info->leak_bytes)
		sampled = info->leak_bytes - bytes;
	if (sampled > 0)
		mu_put(out, "; each byte with a stack stands for about %zu.%zu",
		    info->leak_bytes / sampled,
		    info->leak_bytes % sampled * 10 / sampled);
	mu_put(out, "\n");
	return true;
}

bool
mu_leaks_text_sampled(const struct mu_out *out, const struct mu_report *report)
{
	return put_unsampled(out, &report->info, &report->entries);
}

bool
mu_leaks_text_rest(const struct mu_out *out, const struct mu_report *report)
{
	const struct UnreachableMemoryInfo *info = &report->info;
	size_t more = info->num_entries - info->num_reported;
	size_t distinct = info->num_leaks - info->unreported_leaks;
	bool any = put_unsampled(out, info, &report->entries), shared;

	/* With a limit of 0 no entries are made or counted. */
	if (info->num_reported == 0 && info->unreported_leaks > 0) {
		mu_put(out,
		    "  ... and %zu bytes in %zu allocation%s without an entry\n",
		    info->unreported_bytes, info->unreported_leaks,
		    plural(info->unreported_leaks));
		return true;
	}
	if (info->num_reported == 0 || info->num_entries < info->num_reported)
		return any;
	shared = counted_leaks(&report->entries) > distinct;
	if (shared)
		mu_put(out,
		    "  Several entries lead to the same blocks and each counts"
		    " them: together they have %zu bytes in %zu allocation%s\n",
		    info->leak_bytes - info->unreported_bytes, distinct,
		    plural(distinct));
	if (more > 0)
		mu_put(out,
		    "  ... and %zu more entr%s, %zu bytes in %zu"
		    " allocation%s\n",
		    more, more == 1 ? "y" : "ies", info->unreported_bytes,
		    info->unreported_leaks, plural(info->unreported_leaks));
	return any || shared || more > 0;
}

/* The text may contain names from the subject. */
static void
put_reason(const struct mu_out *out, const struct UnreachableMemoryInfo *info)
{
	char reason[sizeof(info->reason)];

	memcpy(reason, info->reason, sizeof(reason));
	reason[sizeof(reason) - 1] = '\0';
	mu_put_safe(out, reason);
}

void
mu_leaks_text_totals(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	const struct UnreachableMemoryInfo *info = &report->info;

	mu_put(out,
	    "%s  %zu bytes in %zu unreachable allocation%s%s\n"
	    "  ABI: '%s'\n",
	    shown->style.bold, info->leak_bytes, info->num_leaks,
	    plural(info->num_leaks), shown->style.off, MU_ABI);
	if (info->reason[0] != '\0') {
		mu_put(out,
		    info->status == MEMUNREACHABLE_PARTIAL ? "  Partial: "
							   : "  Note: ");
		put_reason(out, info);
		mu_put(out, "\n");
	}
	mu_put(out, "\n");
}

/* True if what is shown of A and B differs in nothing but their addresses. */
static bool
is_alike(
    const struct Leak *a, const struct Leak *b, const struct mu_shown *shown)
{
	return a->size == b->size &&
	    a->referenced_count == b->referenced_count &&
	    a->referenced_size == b->referenced_size && a->similar_count == 0 &&
	    b->similar_count == 0 && a->backtrace.num_frames == 0 &&
	    b->backtrace.num_frames == 0 &&
	    (!shown->contents ||
		memcmp(a->contents, b->contents, sizeof(a->contents)) == 0);
}

/* Entries like the last one that was written, if they are not written. */
struct folded {
	struct Leak last;
	size_t count;
	bool any; /* there is a last one */
};

static void
end_entry(const struct mu_out *out, struct folded *folded, const char *end)
{
	if (folded->any && folded->count > 0)
		mu_put(out, "   and %zu more like it\n", folded->count);
	if (folded->any)
		mu_put(out, "%s", end);
	if (folded->any && out->end_entry != NULL)
		out->end_entry(out->ctx);
	explicit_bzero(folded, sizeof(*folded));
}

static void
put_entries(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown, const char *end)
{
	struct folded folded = { .any = false };
	struct mu_entries_at at;
	const struct Leak *leak;

	mu_entries_open(&at, &report->entries);
	while ((leak = mu_entries_next(&at)) != NULL) {
		if (is_unsampled(&report->info, leak))
			continue;
		if (shown->fold && folded.any &&
		    is_alike(&folded.last, leak, shown)) {
			folded.count++;
			continue;
		}
		end_entry(out, &folded, end);
		mu_leak_text(out, leak, shown, &report->names);
		folded.last = *leak;
		folded.any = true;
	}
	end_entry(out, &folded, end);
}

void
mu_leaks_text_entries(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	put_entries(out, report, shown, "\n");
}

void
mu_leaks_text_summary(
    const struct mu_out *out, const struct UnreachableMemoryInfo *info)
{
	mu_put(out,
	    "%zu bytes in %zu allocation%s unreachable out of"
	    " %zu bytes in %zu allocation%s",
	    info->leak_bytes, info->num_leaks, plural(info->num_leaks),
	    info->allocation_bytes, info->num_allocations,
	    plural(info->num_allocations));
}

static void
put_failure(const struct mu_out *out, const struct UnreachableMemoryInfo *info)
{
	const char *advice = mu_status_advice((enum mu_status)info->status);

	/* Android's first line; programs search for it. */
	mu_put(out, "Failed to get unreachable memory\nNot checked: %s%s",
	    mu_status_name((enum mu_status)info->status),
	    info->reason[0] != '\0' ? ": " : "");
	put_reason(out, info);
	mu_put(out, "\n%s%s", advice, advice[0] != '\0' ? "\n" : "");
}

void
mu_leaks_text(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	mu_leaks_text_totals(out, report, shown);
	mu_leaks_text_entries(out, report, shown);
	mu_leaks_text_rest(out, report);
}

static bool
write_string(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	if (mu_exit_checked(&report->info))
		mu_leaks_text(out, report, shown);
	else
		put_failure(out, &report->info);
	return true;
}

static bool
write_log(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	put_entries(out, report, shown, "");
	if (mu_leaks_text_rest(out, report) && out->end_entry != NULL)
		out->end_entry(out->ctx);
	return true;
}

const struct mu_writer mu_writer_string = {
	.name = "string",
	.write = write_string,
};

const struct mu_writer mu_writer_log = {
	.name = "log",
	.write = write_log,
};
