/*
 * lib/check/outside.c: which operations of a subject are called, and when, if
 * no look can be taken. The live tests of processes and cores test the rest.
 */
#include "lib/check/outside.h"
#include "mu/sys.h"
#include "tests/support/suite.h"

struct subject {
	unsigned takes, drops, agains, wanted, explained, named;
	enum mu_status status;
};

static enum mu_status
take(void *ctx, struct mu_check_look *look)
{
	struct subject *subject = ctx;

	subject->takes++;
	return mu_why(&look->why, subject->status, "take %u" MU_CURE "wait",
	    subject->takes);
}

static void
note(void *ctx, struct mu_check_look *look)
{
	(void)ctx;
	(void)look;
	ck_abort_msg("nothing was searched");
}

static void
drop(void *ctx)
{
	((struct subject *)ctx)->drops++;
}

static bool
again(void *ctx, struct mu_check_look *look, struct mu_tries *tries)
{
	struct subject *subject = ctx;

	ck_assert(!mu_check_look_checked(look));
	ck_assert_uint_eq(tries->tries, subject->agains);
	tries->tries++;
	return ++subject->agains < subject->wanted;
}

static bool
misses(const void *ctx, const struct mu_check_look *look, struct mu_why *why)
{
	(void)ctx;
	(void)look;
	(void)why;
	ck_abort_msg("nothing was found");
}

static void
explain(const void *ctx, struct mu_check_look *look)
{
	const struct mu_why room = { .text = "no room" };

	(void)ctx;
	mu_why_after(&look->why, &room, ": ");
}

static void
describe(const void *ctx, struct mu_report *report)
{
	(void)ctx;
	report->pid = 4711;
	report->stop = "test";
}

static void
name(void *ctx, struct mu_report *report, uint64_t deadline_ns)
{
	(void)report;
	(void)deadline_ns;
	((struct subject *)ctx)->named++;
}

static const struct mu_subject_ops once = {
	.take = take,
	.note = note,
	.describe = describe,
	.name = name,
};

static const struct mu_subject_ops often = {
	.take = take,
	.note = note,
	.drop = drop,
	.again = again,
	.misses = misses,
	.explain = explain,
	.describe = describe,
	.name = name,
};

static const struct mu_check plenty = {
	.timeout_ns = 60 * MU_NS_PER_SEC,
	.confirm = true,
	.workers = 1,
};

static void
expect(const struct mu_report *report, unsigned tries, const char *reason)
{
	ck_assert_int_eq(report->info.status, MEMUNREACHABLE_TARGET_GONE);
	ck_assert_str_eq(report->info.reason, reason);
	ck_assert_str_eq(report->info.reason + report->cure, "wait");
	ck_assert_uint_eq(report->info.tries, tries);
	ck_assert_int_eq(report->pid, 4711);
	ck_assert_str_eq(report->stop, "test");
	ck_assert_uint_eq(report->entries.count, 0);
}

TEST(one_moment)
{
	struct subject subject = { .status = MU_ERR_TARGET_GONE };
	struct mu_report report;

	ck_assert_int_eq(mu_check_run(&plenty, &subject, &once, &report),
	    MU_ERR_TARGET_GONE);
	expect(&report, 1, "take 1; wait");
	ck_assert_uint_eq(subject.takes, 1);
	ck_assert_uint_eq(subject.named, 0);
	mu_check_release(&report);
}

TEST(until_there_is_no_hope)
{
	struct subject subject = { .status = MU_ERR_TARGET_GONE, .wanted = 3 };
	struct mu_report report;

	ck_assert_int_eq(mu_check_run(&plenty, &subject, &often, &report),
	    MU_ERR_TARGET_GONE);
	expect(&report, 3, "no room: take 3; wait");
	ck_assert_uint_eq(subject.takes, 3);
	ck_assert_uint_eq(subject.drops, 3);
	ck_assert_uint_eq(subject.named, 0);
	mu_check_release(&report);
}

TEST(until_the_time_is_over)
{
	const struct mu_check none = { .timeout_ns = 0, .workers = 1 };
	struct subject subject = { .status = MU_ERR_TARGET_GONE, .wanted = 9 };
	struct mu_report report;

	mu_check_run(&none, &subject, &often, &report);
	expect(&report, 1, "no room: take 1; wait");
	ck_assert_uint_eq(subject.agains, 0);
	ck_assert_uint_eq(subject.drops, 1);
	mu_check_release(&report);
}
