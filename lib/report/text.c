/*
 * Leaks in words: the last step of a pass that was asked for text. See
 * lib/report/text.h.
 *
 * The shape is Android's, which log readers already parse, with two deviations:
 * every count is decimal, and every byte of contents has two hex digits.
 * Android's stream is left in hex mode by the address before it, and widens a
 * char of 0x80 or more with its sign.
 *
 * Uses no malloc, no errno, no libc lock.
 */
#include "lib/report/text.h"

#include "lib/pipe/entries.h"
#include "lib/report/backtrace.h"
#include "mu/arch/cpu.h"
#include "mu/status.h"

#define ROW_BYTES 16

static const char *
plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void
add_row(struct mu_text *out, uintptr_t address, const unsigned char *bytes,
    size_t count)
{
	size_t i;

	mu_text_add(out, "   %lx: ", (unsigned long)address);
	for (i = 0; i < ROW_BYTES; i++) {
		if (i < count)
			mu_text_add(out, "%02x ", (unsigned)bytes[i]);
		else
			mu_text_add(out, "   ");
	}
	for (i = 0; i < count; i++)
		mu_text_add(out, "%c",
		    bytes[i] < 0x20 || bytes[i] >= 0x7f ? '.' : bytes[i]);
	mu_text_add(out, "\n");
}

static void
add_contents(struct mu_text *out, const struct Leak *leak)
{
	size_t shown = leak->size, i, row;

	if (shown <= sizeof(leak->contents)) {
		mu_text_add(out, "   contents:\n");
	} else {
		shown = sizeof(leak->contents);
		mu_text_add(out, "   first %zu bytes of contents:\n", shown);
	}
	for (i = 0; i < shown; i += ROW_BYTES) {
		row = shown - i < ROW_BYTES ? shown - i : ROW_BYTES;
		add_row(out, leak->begin + i, leak->contents + i, row);
	}
}

void
mu_report_cut(struct mu_text *out, const struct LeakBacktrace *backtrace)
{
	size_t count = mu_backtrace_count(backtrace);

	if (backtrace->num_more > 0 && backtrace->more == NULL)
		mu_text_add(out, "          and %zu more frames\n",
		    backtrace->num_more);
	else if (backtrace->cut != 0 && count > 0)
		mu_text_add(out,
		    "          only %zu frame%s recorded (backtrace=%zu)\n",
		    count, count == 1 ? " was" : "s were", count);
}

static void
add_backtrace(struct mu_text *out, const struct LeakBacktrace *backtrace,
    struct mu_frame_names *names)
{
	size_t i, count = mu_backtrace_count(backtrace);

	for (i = 0; i < count; i++)
		mu_frame_text(out, i,
		    mu_frame_find(names, mu_backtrace_frame(backtrace, i)));
	mu_report_cut(out, backtrace);
}

static void
add_referenced(struct mu_text *out, size_t size, size_t count)
{
	if (count > 0)
		mu_text_add(out,
		    "   referencing %zu unreachable bytes in %zu"
		    " allocation%s\n",
		    size, count, plural(count));
}

void
mu_report_block(struct mu_text *out, const struct Leak *leak, bool log_contents)
{
	mu_text_add(out, "  %zu bytes unreachable at %lx\n", leak->size,
	    (unsigned long)leak->begin);
	add_referenced(out, leak->referenced_size, leak->referenced_count);
	if (leak->similar_count > 0) {
		mu_text_add(out,
		    "   and %zu similar unreachable bytes in %zu"
		    " allocation%s\n",
		    leak->similar_size, leak->similar_count,
		    plural(leak->similar_count));
		add_referenced(out, leak->similar_referenced_size,
		    leak->similar_referenced_count);
	}
	if (log_contents)
		add_contents(out, leak);
}

void
mu_report_leak(struct mu_text *out, const struct Leak *leak, bool log_contents,
    struct mu_frame_names *names)
{
	mu_report_block(out, leak, log_contents);
	add_backtrace(out, &leak->backtrace, names);
}

/* Blocks that LEAK counts. */
static size_t
counted(const struct Leak *leak)
{
	return 1 + leak->referenced_count + leak->similar_count +
	    leak->similar_referenced_count;
}

/* Blocks that ENTRIES count, those of several entries each time. */
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

bool
mu_report_is_unsampled(
    const struct UnreachableMemoryInfo *info, const struct Leak *leak)
{
	return info->sample_bytes != 0 && leak->backtrace.num_frames == 0;
}

/*
 * Those without a stack are one entry, the largest mostly. Which share of the
 * bytes has a stack says what each of these stands for.
 */
static void
add_unsampled(struct mu_text *out, const struct UnreachableMemoryInfo *info,
    const struct mu_entries *entries)
{
	size_t unsampled = 0, count = 0, bytes = 0, sampled = 0;
	struct mu_entries_at at;
	const struct Leak *leak;

	if (info->sample_bytes == 0 || info->num_reported == 0)
		return;
	mu_entries_open(&at, entries);
	while ((leak = mu_entries_next(&at)) != NULL) {
		if (!mu_report_is_unsampled(info, leak))
			continue;
		unsampled++;
		count += counted(leak);
		bytes += leak->total_size;
	}
	mu_text_add(out, "  Stacks were sampled, one in about %zu bytes",
	    info->sample_bytes);
	if (count > 0)
		mu_text_add(out, ": %zu bytes in %zu allocation%s have none",
		    bytes, count, plural(count));
	if (unsampled == 1 && bytes < info->leak_bytes)
		sampled = info->leak_bytes - bytes;
	if (sampled > 0)
		mu_text_add(out,
		    "; each byte with a stack stands for about %zu.%zu",
		    info->leak_bytes / sampled,
		    info->leak_bytes % sampled * 10 / sampled);
	mu_text_add(out, "\n");
}

void
mu_report_rest(struct mu_text *out, const struct UnreachableMemoryInfo *info,
    const struct mu_entries *entries)
{
	size_t more = info->num_entries - info->num_reported;
	size_t distinct = info->num_leaks - info->unreported_leaks;

	add_unsampled(out, info, entries);
	/* With a limit of 0 no entries are made, and none are counted. */
	if (info->num_reported == 0 && info->unreported_leaks > 0)
		mu_text_add(out,
		    "  ... and %zu bytes in %zu allocation%s without an entry\n",
		    info->unreported_bytes, info->unreported_leaks,
		    plural(info->unreported_leaks));
	if (info->num_reported == 0 || info->num_entries < info->num_reported)
		return;
	if (counted_leaks(entries) > distinct)
		mu_text_add(out,
		    "  Several entries lead to the same blocks and each counts"
		    " them: together they have %zu bytes in %zu allocation%s\n",
		    info->leak_bytes - info->unreported_bytes, distinct,
		    plural(distinct));
	if (more > 0)
		mu_text_add(out,
		    "  ... and %zu more entr%s, %zu bytes in %zu"
		    " allocation%s\n",
		    more, more == 1 ? "y" : "ies", info->unreported_bytes,
		    info->unreported_leaks, plural(info->unreported_leaks));
}

void
mu_report_text(struct mu_text *out, const struct UnreachableMemoryInfo *info,
    const struct mu_entries *entries, bool log_contents,
    struct mu_frame_names *names)
{
	struct mu_entries_at at;
	const struct Leak *leak;

	mu_text_add(out,
	    "  %zu bytes in %zu unreachable allocation%s\n"
	    "  ABI: '%s'\n",
	    info->leak_bytes, info->num_leaks, plural(info->num_leaks), MU_ABI);
	if (info->status == MEMUNREACHABLE_PARTIAL)
		mu_text_add(out, "  Partial: %s\n", info->reason);
	else if (info->reason[0] != '\0')
		mu_text_add(out, "  Note: %s\n", info->reason);
	mu_text_add(out, "\n");
	mu_entries_open(&at, entries);
	while ((leak = mu_entries_next(&at)) != NULL) {
		if (mu_report_is_unsampled(info, leak))
			continue;
		mu_report_leak(out, leak, log_contents, names);
		mu_text_add(out, "\n");
	}
	mu_report_rest(out, info, entries);
}

void
mu_report_summary(struct mu_text *out, const struct UnreachableMemoryInfo *info)
{
	mu_text_add(out,
	    "%zu bytes in %zu allocation%s unreachable out of"
	    " %zu bytes in %zu allocation%s",
	    info->leak_bytes, info->num_leaks, plural(info->num_leaks),
	    info->allocation_bytes, info->num_allocations,
	    plural(info->num_allocations));
}

void
mu_report_failure(struct mu_text *out, const struct UnreachableMemoryInfo *info)
{
	const char *advice = mu_status_advice((enum mu_status)info->status);

	/* Android's first line; programs look for it. */
	mu_text_add(out, "Failed to get unreachable memory\n");
	mu_text_add(out, "Not checked: %s%s%s\n",
	    mu_status_name((enum mu_status)info->status),
	    info->reason[0] != '\0' ? ": " : "", info->reason);
	if (advice[0] != '\0')
		mu_text_add(out, "%s\n", advice);
}
