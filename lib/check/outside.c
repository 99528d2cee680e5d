#include "lib/check/outside.h"

#include <string.h>

#include "heapwalk/subject/classify.h"
#include "heapwalk/subject/dynamic_symbols.h"
#include "lib/check/naming.h"
#include "lib/driver/driver.h"
#include "lib/look/core_out.h"
#include "lib/look/write.h"
#include "lib/since/since.h"
#include "mu/sys.h"
#include "mu/text.h"

#define CONFIRM_NS (20 * MU_NS_PER_MS)

/* The subject of the driver, and what is kept of its looks. */
struct outside {
	const struct mu_subject_ops *ops;
	void *subject;
	struct mu_check_look look; /* the latest one */
	struct mu_report kept;     /* of the last look that checked the heap */
	bool has_kept;
	struct mu_why doubt; /* why there is none */
};

bool
mu_check_doubtful(const struct mu_check_look *look)
{
	return (look->may_be_in_malloc || look->changing ||
		   look->check->confirm) &&
	    mu_check_look_checked(look) &&
	    look->analysis.search.leaks.num_leaks > 0;
}

/* The results of the search are invalid afterwards. */
static void
forget(void *subject)
{
	struct outside *outside = subject;

	mu_analysis_forget(&outside->look.analysis);
	if (outside->ops->drop != NULL)
		outside->ops->drop(outside->subject);
}

/* What was missing from the start is reported before what is found later. */
static void
search(struct outside *outside)
{
	struct mu_check_look *look = &outside->look;
	struct mu_analysis *analysis = &look->analysis;

	analysis->unlock = outside->ops->unlock;
	analysis->source = outside->ops->source;
	analysis->ctx = outside->subject;
	mu_analysis_run(
	    analysis, look->snap, look->begin_ns, look->deadline_ns);
	if (look->status == MU_OK || analysis->search.status != MU_OK) {
		look->status = analysis->search.status;
		look->why = analysis->search.why;
	}
	outside->ops->note(outside->subject, look);
}

/* This takes the time of the disk, which is none of the search. */
static void
write_core(const struct outside *outside, struct mu_check_look *look)
{
	uint64_t begin_ns = mu_sys_now_ns();

	mu_core_out_write(look->check->core_out, look->snap, look->check->pid,
	    outside->ops->unlock, outside->subject);
	look->deadline_ns += mu_sys_now_ns() - begin_ns;
}

/*
 * What is wrong with the image is asked for only if something is lost in it, as
 * it may be for a search with other options, or without a second look.
 */
static void
end_core(const struct mu_check_look *look)
{
	struct mu_why doubt = look->why;

	if (!mu_check_look_checked(look))
		mu_why(&doubt, MU_PARTIAL,
		    "the look that wrote this core did not check the heap (%s),"
		    " and so not what is missing here",
		    look->why.text);
	else if (look->analysis.search.leaks.num_leaks == 0)
		mu_why(&doubt, MU_PARTIAL,
		    "the look that wrote this core lost nothing: it had other"
		    " options, or looked twice; some of these may be in use");
	else if (look->status == MU_OK &&
	    look->analysis.search.graph.num_excused > 0)
		mu_why(&doubt, MU_PARTIAL,
		    "the look that wrote this core looked twice, and found"
		    " at least %zu of these in use",
		    look->analysis.search.graph.num_excused);
	else if (look->status == MU_OK)
		doubt = (struct mu_why) { .text = "" };
	mu_core_out_end(look->check->core_out, &doubt);
}

static void
look_once(void *subject, struct mu_look *end)
{
	struct outside *outside = subject;
	struct mu_check_look *look = &outside->look;
	bool writes;

	look->changing = look->execed = false;
	look->status = outside->ops->take(outside->subject, look);
	writes = mu_check_look_checked(look) && look->check->core_out != NULL;
	if (writes)
		write_core(outside, look);
	if (mu_check_look_checked(look) && look->execed)
		mu_analysis_start_over(&look->analysis);
	if (mu_check_look_checked(look))
		search(outside);
	if (writes)
		end_core(look);
	*end = (struct mu_look) {
		.status = look->status,
		.why = look->why,
		.num_leaks = look->analysis.search.leaks.num_leaks,
		.doubtful = mu_check_doubtful(look),
		.changing = look->changing,
		.first = !look->analysis.search.again,
	};
}

/* Fill the report with the latest look, STATUS and WHY. */
static enum mu_status
report_result(struct outside *outside, enum mu_status status,
    const struct mu_why *why, struct mu_report *report)
{
	struct mu_check_look *look = &outside->look;
	struct mu_analysis *analysis = &look->analysis;
	struct mu_why own = *why;

	memset(report, 0, sizeof(*report));
	outside->ops->describe(outside->subject, report);
	if (mu_status_usable(status) && look->check->since != NULL)
		status = mu_since_judge(
		    look->check->since, report->pid, status, &own);
	status = mu_analysis_fill_report(analysis, status, &own, report);
	if (mu_status_usable(status)) {
		report->no_recorder = mu_program_is_static(look->snap) ||
		    look->snap->glibc_major == 0;
		mu_naming_open(report, look->snap->mappings,
		    look->snap->num_mappings, &analysis->search.recorder);
	}
	return status;
}

/* Keep this answer before another look, which may fail. */
static void
keep_checked(struct outside *outside)
{
	const struct mu_check_look *look = &outside->look;
	enum mu_status status = look->status;
	struct mu_why why = look->why;

	if (!mu_check_look_checked(look) ||
	    outside->ops->misses(outside->subject, look, &outside->doubt))
		return;
	outside->doubt.text[0] = '\0';
	if (status == MU_OK)
		status = mu_why(&why, MU_PARTIAL,
		    "some of these may be in use: they were looked at once"
		    " only");
	mu_check_release(&outside->kept);
	outside->has_kept =
	    report_result(outside, status, &why, &outside->kept) == MU_PARTIAL;
}

static bool
again(void *subject, const struct mu_look *end, struct mu_tries *tries)
{
	struct outside *outside = subject;

	(void)end;
	if (!outside->ops->again(outside->subject, &outside->look, tries))
		return false;
	keep_checked(outside);
	return true;
}

static enum mu_status
remember(void *subject, const struct mu_look *end, struct mu_why *why)
{
	struct outside *outside = subject;

	(void)end;
	if (!mu_analysis_confirm(&outside->look.analysis))
		return mu_why(why, MU_PARTIAL,
		    "no memory for a second look: some of these may have been "
		    "held by a thread inside malloc");
	keep_checked(outside);
	return MU_OK;
}

static void
late(void *subject, struct mu_look *end)
{
	struct outside *outside = subject;
	uint64_t now = mu_sys_now_ns(), begin_ns = outside->look.begin_ns;

	keep_checked(outside);
	end->status = mu_why(&end->why, MU_ERR_TIMEOUT,
	    "it would have had no time, %u s after the beginning" MU_CURE
	    "give it more time (--timeout)",
	    (unsigned)((now - begin_ns) / MU_NS_PER_SEC));
}

/* Use the look before one that failed. */
static enum mu_status
report_kept(struct outside *outside, struct mu_report *report)
{
	struct UnreachableMemoryInfo *info = &outside->kept.info;
	size_t length = strlen(info->reason);

	mu_text_format(info->reason + length, sizeof(info->reason) - length,
	    "; another look failed: %s", outside->look.why.text);
	*report = outside->kept;
	memset(&outside->kept, 0, sizeof(outside->kept));
	return MU_PARTIAL;
}

static enum mu_status
answer(struct outside *outside, struct mu_report *report)
{
	struct mu_check_look *look = &outside->look;

	if (!mu_check_look_checked(look) && outside->ops->explain != NULL)
		outside->ops->explain(outside->subject, look);
	if (!mu_check_look_checked(look) && outside->has_kept)
		return report_kept(outside, report);
	if (!mu_check_look_checked(look) && outside->doubt.text[0] != '\0')
		mu_why_after(&look->why, &outside->doubt, ": ");
	return report_result(outside, look->status, &look->why, report);
}

static enum mu_status
look_and_answer(struct outside *outside, struct mu_report *report)
{
	static const struct mu_look_ops often = {
		.look = look_once,
		.again = again,
		.remember = remember,
		.late = late,
		.forget = forget,
	};
	static const struct mu_look_ops once = { .look = look_once };
	struct mu_check_look *look = &outside->look;
	struct mu_driver driver = {
		.ops = outside->ops->again == NULL ? &once : &often,
		.subject = outside,
		.deadline_ns = look->deadline_ns,
		.confirm_ns = CONFIRM_NS,
	};
	enum mu_status status;

	mu_driver_run(&driver);
	look->status = driver.look.status;
	look->why = driver.look.why;
	status = answer(outside, report);
	report->info.tries = driver.tries;
	return status;
}

enum mu_status
mu_check_run(const struct mu_check *check, void *subject,
    const struct mu_subject_ops *ops, struct mu_report *report)
{
	struct outside outside = {
		.ops = ops,
		.subject = subject,
		.look = { .check = check, .begin_ns = mu_sys_now_ns() },
	};
	struct mu_check_look *look = &outside.look;
	enum mu_status status;

	look->deadline_ns = look->begin_ns + check->timeout_ns;
	mu_analysis_open(&look->analysis, check);
	status = look_and_answer(&outside, report);
	report->info.pause_ns = look->pause_ns;
	report->info.total_ns = mu_sys_now_ns() - look->begin_ns;
	forget(&outside);
	mu_analysis_close(&look->analysis);
	mu_check_release(&outside.kept);
	if (mu_status_usable(status)) {
		mu_check_progress(check, MU_CHECK_STEP_SYMBOLS);
		report->kept = check->explain.save == NULL
		    ? NULL
		    : &check->explain.save->names;
		ops->name(subject, report, look->deadline_ns);
		if (check->explain.save != NULL)
			mu_look_write_end(check->explain.save, report);
	}
	return status;
}
