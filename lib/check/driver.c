#include "lib/check/driver.h"

#include <string.h>

#include "lib/check/naming.h"
#include "mu/sys.h"
#include "mu/text.h"

#define MAX_CONFIRMED 5
#define CONFIRM_NS (20 * MU_NS_PER_MS)

/* The looks of one check. */
struct driver {
	const struct mu_subject_ops *ops;
	void *subject;
	struct mu_check_look look; /* the last one */
	unsigned tries;
	struct mu_report kept; /* of the last look that judged the heap */
	bool has_kept;
	struct mu_why doubt; /* why there is none, if it was the last */
};

bool
mu_check_doubtful(const struct mu_check_look *look)
{
	return (look->unsettled || look->changing || look->check->confirm) &&
	    mu_check_judged(look) && look->judgement.search.leaks.num_leaks > 0;
}

/* Nothing of a search may be in use any more. */
static void
forget(struct driver *driver)
{
	mu_judgement_forget(&driver->look.judgement);
	if (driver->ops->drop != NULL)
		driver->ops->drop(driver->subject);
}

/* Report what was missing from the start before what is found later. */
static void
look_once(struct driver *driver)
{
	struct mu_check_look *look = &driver->look;
	struct mu_judgement *judgement = &look->judgement;

	driver->tries++;
	look->changing = look->renewed = false;
	look->status = driver->ops->take(driver->subject, look);
	if (!mu_check_judged(look))
		return;
	if (look->renewed)
		mu_judgement_start_over(judgement);
	judgement->unlock = driver->ops->unlock;
	judgement->ctx = driver->subject;
	mu_judgement_run(
	    judgement, look->snap, look->begin_ns, look->deadline_ns);
	if (look->status == MU_OK || judgement->search.status != MU_OK) {
		look->status = judgement->search.status;
		look->why = judgement->search.why;
	}
	driver->ops->note(driver->subject, look);
}

/* The last look becomes a report's, with STATUS and WHY. */
static enum mu_status
tell(const struct driver *driver, enum mu_status status,
    const struct mu_why *why, struct mu_report *report)
{
	const struct mu_check_look *look = &driver->look;
	const struct mu_judgement *judgement = &look->judgement;

	memset(report, 0, sizeof(*report));
	driver->ops->describe(driver->subject, report);
	status = mu_judgement_tell(judgement, status, why, report);
	if (status == MU_OK || status == MU_PARTIAL)
		mu_naming_open(report, look->snap->mappings,
		    look->snap->num_mappings, &judgement->search.recorder);
	return status;
}

/* Keep this answer before another look, which may fail. */
static void
keep_judged(struct driver *driver)
{
	const struct mu_check_look *look = &driver->look;
	enum mu_status status = look->status;
	struct mu_why why = look->why;

	if (!mu_check_judged(look) ||
	    driver->ops->misses(driver->subject, look, &driver->doubt))
		return;
	driver->doubt.words[0] = '\0';
	if (status == MU_OK)
		status = mu_why(&why, MU_PARTIAL,
		    "some of these may be in use: they were looked at once"
		    " only");
	mu_check_release(&driver->kept);
	driver->has_kept =
	    tell(driver, status, &why, &driver->kept) == MU_PARTIAL;
}

/* Until the heap can be judged, or there is no hope of it. */
static void
look_until_judged(struct driver *driver)
{
	struct mu_check_tries tries = { 0 };

	for (;;) {
		look_once(driver);
		if (driver->ops->again == NULL ||
		    mu_sys_now_ns() >= driver->look.deadline_ns ||
		    !driver->ops->again(driver->subject, &driver->look, &tries))
			return;
		keep_judged(driver);
		forget(driver);
		mu_sys_sleep_ns(tries.nap_ns);
	}
}

/* A block that is lost at two unrelated moments is a leak. */
static void
look_again(struct driver *driver)
{
	struct mu_check_look *look = &driver->look;
	bool changing = look->changing;
	enum mu_status first = look->status;
	struct mu_why why = look->why;

	if (!mu_judgement_confirm(&look->judgement)) {
		look->status = mu_why(&look->why, MU_PARTIAL,
		    "no memory for a second look: some of these may have been "
		    "in the hands of a thread inside malloc");
		return;
	}
	keep_judged(driver);
	forget(driver);
	mu_sys_sleep_ns(CONFIRM_NS);
	look_until_judged(driver);
	/* If nothing changed the second time, that was exact. */
	if (look->status == MU_OK && first == MU_PARTIAL && !changing) {
		look->status = first;
		look->why = why;
	}
}

/* The subject has executed another program: nothing was lost before, too. */
static bool
is_first(const struct mu_check_look *look)
{
	return mu_check_doubtful(look) && !look->judgement.search.again;
}

/*
 * While memory changes, a look that refutes a candidate is not the last: a
 * pointer that moves fast can be missed twice.
 */
static void
confirm(struct driver *driver)
{
	struct mu_check_look *look = &driver->look;
	unsigned looks = 1;
	size_t before;

	do {
		looks++;
		before = look->judgement.search.leaks.num_leaks;
		look_again(driver);
	} while (looks < MAX_CONFIRMED &&
	    (is_first(look) ||
		(look->changing && mu_check_judged(look) &&
		    look->judgement.search.leaks.num_leaks < before &&
		    look->judgement.search.leaks.num_leaks > 0)));
	if (is_first(look) && look->status == MU_OK)
		look->status = mu_why(&look->why, MU_PARTIAL,
		    "the process executed another program before each look:"
		    " some of these may be in use");
}

/* The result of the look before one that failed. */
static enum mu_status
tell_kept(struct driver *driver, struct mu_report *report)
{
	struct UnreachableMemoryInfo *info = &driver->kept.info;
	size_t length = strlen(info->reason);

	mu_text_format(info->reason + length, sizeof(info->reason) - length,
	    "; another look failed: %s", driver->look.why.words);
	*report = driver->kept;
	memset(&driver->kept, 0, sizeof(driver->kept));
	return MU_PARTIAL;
}

static enum mu_status
answer(struct driver *driver, struct mu_report *report)
{
	struct mu_check_look *look = &driver->look;

	if (!mu_check_judged(look) && driver->ops->explain != NULL)
		driver->ops->explain(driver->subject, look);
	if (!mu_check_judged(look) && driver->has_kept)
		return tell_kept(driver, report);
	if (!mu_check_judged(look) && driver->doubt.words[0] != '\0')
		mu_why_after(&look->why, &driver->doubt, ": ");
	return tell(driver, look->status, &look->why, report);
}

enum mu_status
mu_check_run(const struct mu_check *check, void *subject,
    const struct mu_subject_ops *ops, struct mu_report *report)
{
	struct driver driver = {
		.ops = ops,
		.subject = subject,
		.look = { .check = check, .begin_ns = mu_sys_now_ns() },
	};
	struct mu_check_look *look = &driver.look;
	enum mu_status status;

	look->deadline_ns = look->begin_ns + check->timeout_ns;
	mu_judgement_open(&look->judgement, check);
	look_until_judged(&driver);
	if (ops->again != NULL && mu_check_doubtful(look))
		confirm(&driver);
	status = answer(&driver, report);
	report->info.tries = driver.tries;
	report->info.pause_ns = look->pause_ns;
	report->info.total_ns = mu_sys_now_ns() - look->begin_ns;
	forget(&driver);
	mu_judgement_close(&look->judgement);
	mu_check_release(&driver.kept);
	if (status == MU_OK || status == MU_PARTIAL) {
		mu_check_progress(check, MU_CHECK_STEP_SYMBOLS);
		ops->name(subject, report, look->deadline_ns);
	}
	return status;
}
