/*
 * The texts, and both stacks: that of the error, and that of the allocation or
 * the release.
 */
#include "lib/malloc_debug/checks/errors.h"

#include <stdlib.h>

#include "lib/malloc_debug/checks/fill.h"
#include "lib/malloc_debug/checks/guards.h"
#include "lib/malloc_debug/checks/report.h"
#include "lib/malloc_debug/state/state.h"
#include "lib/malloc_debug/unwind/gone_modules.h"
#include "mu/text.h"

#define DIVIDER                                            \
	"*** *** *** *** *** *** *** *** *** *** *** *** " \
	"*** *** *** ***"
#define BYTES_SHOWN 1024 /* damaged bytes of a block */

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
	gone_modules_mark(frames, count);
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

/*
 * Find the first of the bytes FROM to TO that is not EXPECTED; TO if there is
 * none.
 */
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

/* Bytes of BLOCK that must be EXPECTED. */
struct guard {
	const char *which;
	ptrdiff_t from, to;
	unsigned expected;
	size_t size; /* requested size */
};

#define GUARDS 3

/* For 0 bytes one byte is recorded, which the program must not write either. */
static void
list_guards(struct guard guards[GUARDS], const struct error_block *block)
{
	static const unsigned char first[] = { 0, GUARDS_REAR, FILL_ALLOC, 0 };
	enum guards_empty empty = guards_empty(block->begin, block->size);
	ptrdiff_t front = (ptrdiff_t)recorder_options.front_guard;
	ptrdiff_t rear = (ptrdiff_t)recorder_options.rear_guard;
	ptrdiff_t size = (ptrdiff_t)block->size;

	guards[0] =
	    (struct guard) { "FRONT", -front, 0, GUARDS_FRONT, block->size };
	guards[1] = (struct guard) { "REAR", 0,
		empty == GUARDS_NOT_EMPTY ? 0 : size, first[empty & 3], 0 };
	guards[2] = (struct guard) { "REAR", size, size + rear, GUARDS_REAR,
		block->size };
}

static bool
is_good(const struct guard *guard, const struct error_block *block)
{
	return first_bad(block->begin, guard->from, guard->to,
		   guard->expected) == guard->to;
}

static void
report_guard(const struct call *call, const struct error_block *block,
    const struct guard *guard)
{
	struct report report;

	begin(&report);
	report_line(&report,
	    "+++ ALLOCATION %p SIZE %zu HAS A CORRUPTED %s GUARD", block->begin,
	    guard->size, guard->which);
	add_bytes(
	    &report, block->begin, guard->from, guard->to, guard->expected);
	add_failure(&report, call);
	add_allocation(&report, block);
	end(&report);
}

bool
error_guards_good(const struct error_block *block)
{
	struct guard guards[GUARDS];
	bool good = true;
	size_t i;

	list_guards(guards, block);
	for (i = 0; i < GUARDS; i++)
		good = good && is_good(&guards[i], block);
	return good;
}

bool
error_check_guards(const struct call *call, const struct error_block *block)
{
	struct guard guards[GUARDS];
	bool good = true;
	size_t i;

	list_guards(guards, block);
	for (i = 0; i < GUARDS; i++) {
		if (is_good(&guards[i], block))
			continue;
		good = false;
		report_guard(call, block, &guards[i]);
	}
	return good;
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
	    block->begin, tag,
	    call != NULL ? call->function : "still allocated");
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
    enum mu_block_kind kind, size_t alignment)
{
	static const char *const by[] = { "malloc", "operator new",
		"operator new[]", "?" };
	char allocated[40] = "", released[80] = "";
	struct mu_text text = { released, sizeof(released), 0 };
	struct report report;

	if (call->sized && call->size + (call->size == 0) != block->size)
		mu_text_add(&text, " WITH SIZE %zu", call->size);
	if (alignment != call->alignment && call->alignment == 0)
		mu_text_add(&text, " WITHOUT ALIGNMENT");
	else if (alignment != call->alignment)
		mu_text_add(&text, " WITH ALIGNMENT %zu", call->alignment);
	if (alignment != call->alignment && alignment != 0)
		mu_text_format(allocated, sizeof(allocated),
		    " WITH ALIGNMENT %zu", alignment);
	begin(&report);
	report_line(&report,
	    "+++ ALLOCATION %p SIZE %zu ALLOCATED BY %s%s RELEASED BY %s%s",
	    block->begin, block->size, by[kind & 3], allocated, call->function,
	    released);
	add_failure(&report, call);
	add_allocation(&report, block);
	end(&report);
}
