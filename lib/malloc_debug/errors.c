/*
 * The texts, and both stacks: that of the failure and that of the allocation
 * or of the release.
 */
#include "lib/malloc_debug/errors.h"

#include <stdlib.h>

#include "lib/malloc_debug/fill.h"
#include "lib/malloc_debug/guards.h"
#include "lib/malloc_debug/recorder.h"
#include "lib/malloc_debug/report.h"

#define DIVIDER                                            \
	"*** *** *** *** *** *** *** *** *** *** *** *** " \
	"*** *** *** ***"
#define BYTES_SHOWN 1024 /* bad ones of a block */

static void
begin(struct report *report)
{
	recorder_enter();
	report_begin(report);
	report_line(report, DIVIDER);
}

static void
add_failure(struct report *report, const struct call *call)
{
	uint64_t frames[MU_STACK_MAX_FRAMES];
	size_t count;

	if (call == NULL)
		return;
	count = stack_capture(call->start, recorder_options.backtrace_full,
	    frames, MU_STACK_MAX_FRAMES);
	report_line(report, "Backtrace at time of failure:");
	report_frames(report, frames, count);
}

static void
end(struct report *report)
{
	report_line(report, DIVIDER);
	report_end(report);
	recorder_leave();
	if (recorder_options.abort_on_error)
		abort();
}

static void
add_allocation(struct report *report, const struct error_block *block)
{
	report_stack(report, "Backtrace at time of allocation:", block->stack);
}

/* Bytes from FROM to TO that are not EXPECTED; the first one, or TO. */
static ptrdiff_t
first_bad(const void *base, ptrdiff_t from, ptrdiff_t to, unsigned expected)
{
	const unsigned char *bytes = base;

	while (from < to && bytes[from] == expected)
		from++;
	return from;
}

static void
add_bytes(struct report *report, const void *base, ptrdiff_t from, ptrdiff_t to,
    unsigned expected)
{
	const unsigned char *bytes = base;
	size_t bad = 0;

	for (; from < to; from++) {
		if (bytes[from] == expected || ++bad > BYTES_SHOWN)
			continue;
		report_line(report,
		    "  allocation[%td] = 0x%02x (expected 0x%02x)", from,
		    bytes[from], expected);
	}
	if (bad > BYTES_SHOWN)
		report_line(report, "  and %zu bytes more", bad - BYTES_SHOWN);
}

static bool
check_guard(const struct call *call, const struct error_block *block,
    const char *which, ptrdiff_t from, ptrdiff_t to, unsigned expected)
{
	struct report report;

	if (first_bad(block->begin, from, to, expected) == to)
		return true;
	begin(&report);
	report_line(&report,
	    "+++ ALLOCATION %p SIZE %zu HAS A CORRUPTED %s GUARD", block->begin,
	    block->size, which);
	add_bytes(&report, block->begin, from, to, expected);
	add_failure(&report, call);
	add_allocation(&report, block);
	end(&report);
	return false;
}

bool
error_check_guards(const struct call *call, const struct error_block *block)
{
	size_t front = recorder_options.front_guard;
	size_t rear = recorder_options.rear_guard;
	ptrdiff_t size = (ptrdiff_t)block->size;
	bool good;

	good = check_guard(
	    call, block, "FRONT", -(ptrdiff_t)front, 0, GUARDS_FRONT);
	return check_guard(call, block, "REAR", size, size + (ptrdiff_t)rear,
		   GUARDS_REAR) &&
	    good;
}

bool
error_check_freed(const struct error_block *block, size_t count)
{
	ptrdiff_t to = (ptrdiff_t)count;
	struct report report;

	if (first_bad(block->begin, 0, to, FILL_FREE) == to)
		return true;
	begin(&report);
	report_line(&report, "+++ ALLOCATION %p USED AFTER FREE", block->begin);
	add_bytes(&report, block->begin, 0, to, FILL_FREE);
	report_stack(&report, "Backtrace at time of free:", block->freed);
	add_allocation(&report, block);
	end(&report);
	return false;
}

void
error_used_after_free(const struct call *call, const struct error_block *block)
{
	struct report report;

	begin(&report);
	report_line(&report, "+++ ALLOCATION %p USED AFTER FREE (%s)",
	    block->begin, call->function);
	report_stack(&report, "Backtrace of original free:", block->freed);
	add_allocation(&report, block);
	add_failure(&report, call);
	end(&report);
}

void
error_tag(
    const struct call *call, const struct error_block *block, uint32_t tag)
{
	struct report report;

	begin(&report);
	report_line(&report, "+++ ALLOCATION %p HAS INVALID TAG %x (%s)",
	    block->begin, tag, call->function);
	add_failure(&report, call);
	add_allocation(&report, block);
	end(&report);
}

void
error_tag_after_free(const struct error_block *block, uint32_t tag)
{
	struct report report;

	begin(&report);
	report_line(&report,
	    "+++ ALLOCATION %p HAS CORRUPTED HEADER TAG 0x%x AFTER FREE",
	    block->begin, tag);
	report_stack(&report, "Backtrace at time of free:", block->freed);
	add_allocation(&report, block);
	end(&report);
}

void
error_unknown(const struct call *call, const void *pointer)
{
	struct report report;

	begin(&report);
	report_line(&report, "+++ ALLOCATION %p UNKNOWN POINTER (%s)", pointer,
	    call->function);
	add_failure(&report, call);
	end(&report);
}

void
error_mismatch(const struct call *call, const struct error_block *block,
    enum mu_block_kind kind)
{
	static const char *const by[] = { "malloc", "operator new",
		"operator new[]", "?" };
	struct report report;

	begin(&report);
	report_line(&report,
	    "+++ ALLOCATION %p SIZE %zu ALLOCATED BY %s RELEASED BY %s",
	    block->begin, block->size, by[kind & 3], call->function);
	add_failure(&report, call);
	add_allocation(&report, block);
	end(&report);
}
