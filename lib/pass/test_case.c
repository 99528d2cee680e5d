/*
 * Begin and end of a test: what became unreachable in between.
 *
 * Runs in: original.
 */
#include "memunreachable/test.h"

#include <stdlib.h>
#include <string.h>

#include "lib/pass/checkpoint.h"
#include "lib/pass/fill_memory.h"
#include "lib/pass/pass.h"
#include "lib/pass/report_string.h"
#include "lib/state/library.h"
#include "lib/writers/leaks_text.h"
#include "mu/sys.h"

/* entries in a failure's message */
#define LIMIT 10

#define MAX_REGISTERS                                           \
	(sizeof(((struct MemunreachableFrame *)0)->registers) / \
	    sizeof(uintptr_t))

static bool
lock(struct mu_test_case *test)
{
	return mu_lock_take(&test->lock,
		   mu_sys_now_ns() +
		       mu_library.options.timeout * MU_NS_PER_MS) == MU_OK;
}

static void
set_known(struct mu_test_case *test, struct mu_checkpoint *known)
{
	if (test->known != NULL)
		mu_results_free(&mu_library.results, test->known);
	test->known = known;
	test->begun = known != NULL;
}

/*
 * What one test has lost stays known, even if a stale word on the stack refers
 * to it when the next one begins: it would be that one's loss when the word is
 * gone.
 */
static void
note(struct mu_test_case *test, const struct mu_caller *caller)
{
	struct UnreachableMemoryInfo info = { 0 };

	set_known(test, mu_checkpoint_ask(caller, test->known, &info));
	test->reason[0] = '\0';
	if (!test->begun)
		mu_text_format(test->reason, sizeof(test->reason), "%s: %s",
		    memunreachable_status_name(info.status), info.reason);
}

static __attribute__((noinline)) bool
begin(const char *name, bool next, const struct mu_caller *caller)
{
	struct mu_test_case *test = &mu_library.test_case;
	bool begun;

	if (!lock(test))
		return false;
	mu_text_format(test->name, sizeof(test->name), "%s",
	    name != NULL ? name : "the test");
	if (mu_library.options.fill_memory)
		mu_fill_memory();
	if (!next || !test->begun)
		note(test, caller);
	begun = test->begun;
	mu_lock_release(&test->lock);
	return begun;
}

/* The name of the test is where that of a program would be. */
static bool
write_test(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	const struct UnreachableMemoryInfo *info = &report->info;

	mu_put_safe(out, report->program);
	if (info->num_leaks > 0) {
		mu_put(out, " lost %zu bytes in %zu allocation%s",
		    info->leak_bytes, info->num_leaks,
		    info->num_leaks == 1 ? "" : "s");
		if (info->status == MEMUNREACHABLE_COMPLETE)
			mu_put(out, "\n");
		else
			mu_put(out, "; ");
	} else {
		mu_put(out, " may have lost memory: ");
	}
	if (info->status != MEMUNREACHABLE_COMPLETE) {
		mu_put(out, "%s: ", memunreachable_status_name(info->status));
		mu_put_safe(out, info->reason);
		mu_put(out, "\n");
	}
	return mu_writer_log.write(out, report, shown);
}

static const struct mu_writer writer = { .name = "test", .write = write_test };

static bool
is_clean(const struct UnreachableMemoryInfo *info)
{
	return info->status == MEMUNREACHABLE_COMPLETE && info->num_leaks == 0;
}

/* What was lost since TEST began, by one look, or CONFIRMed by two. */
static void
look(const struct mu_test_case *test, const struct mu_caller *caller,
    bool confirm, struct mu_report *report)
{
	struct mu_request request = {
		.caller = caller,
		.since = test->known,
		.limit = LIMIT,
		.confirm = confirm,
		.entries = &report->entries,
	};

	mu_results_drop(&mu_library.results, &report->entries);
	memset(&report->info, 0, sizeof(report->info));
	mu_pass_run(&request, &report->info);
}

static char *
describe(const struct mu_test_case *test, struct mu_report *report)
{
	char *text;
	size_t length;

	memcpy(report->program, test->name, sizeof(report->program));
	text = mu_report_string(&writer, report, false);
	if (text == NULL)
		return NULL;
	for (length = strlen(text); length > 0 && text[length - 1] == '\n';)
		text[--length] = '\0';
	return text;
}

static const char *
end_locked(struct mu_test_case *test, const struct mu_caller *caller)
{
	struct mu_report report = { .pid = 0 };

	free(test->text);
	test->text = NULL;
	test->lost = 0;
	if (test->reason[0] != '\0') {
		report.info.status = MEMUNREACHABLE_PARTIAL;
		mu_text_format(report.info.reason, sizeof(report.info.reason),
		    "its begin was not checked: %s", test->reason);
	} else {
		look(test, caller, false, &report);
		if (!is_clean(&report.info))
			look(test, caller, true, &report);
		if (is_clean(&report.info))
			return NULL;
	}
	test->lost = report.info.leak_bytes;
	test->text = describe(test, &report);
	mu_results_drop(&mu_library.results, &report.entries);
	note(test, caller);
	return test->text != NULL
	    ? test->text
	    : "memory was lost, and there is none to say what";
}

static __attribute__((noinline)) const char *
end(const struct mu_caller *caller)
{
	struct mu_test_case *test = &mu_library.test_case;
	const char *text;

	if (!lock(test))
		return "not checked: another thread begins or ends a test";
	text = end_locked(test, caller);
	mu_lock_release(&test->lock);
	return text;
}

/* CALLER as it is in FRAME. A pass also takes the red zone for alive. */
static void
move_to(struct mu_caller *caller, const struct MemunreachableFrame *frame)
{
	size_t i;

	if (frame == NULL || frame->sp <= caller->sp)
		return;
	caller->sp = frame->sp + MU_RED_ZONE;
	for (i = 0; i < MU_CALLEE_SAVED; i++)
		caller->saved[i] = i < frame->count && i < MAX_REGISTERS
		    ? frame->registers[i]
		    : 0;
}

bool
memunreachable_test_begin(const char *name)
{
	struct mu_caller caller;

	mu_caller_capture(&caller);
	return begin(name, false, &caller);
}

const char *
memunreachable_test_end(void)
{
	struct mu_caller caller;

	mu_caller_capture(&caller);
	return end(&caller);
}

size_t
memunreachable_test_lost(void)
{
	return mu_library.test_case.lost;
}

bool
memunreachable_test_begin_at(
    const char *name, const struct MemunreachableFrame *frame, bool next)
{
	struct mu_caller caller;

	mu_caller_capture(&caller);
	move_to(&caller, frame);
	return begin(name, next, &caller);
}

const char *
memunreachable_test_end_at(const struct MemunreachableFrame *frame)
{
	struct mu_caller caller;

	mu_caller_capture(&caller);
	move_to(&caller, frame);
	return end(&caller);
}
