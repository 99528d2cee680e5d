/*
 * lib/driver/driver.c: which operations of a subject are called, in which
 * order, and which look gives the answer.
 */
#include "lib/driver/driver.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "tests/support/suite.h"

/* What the looks end with, one after the other, and what was called. */
struct play {
	const struct mu_look *looks;
	unsigned count, agains; /* tries that are worth another */
	enum mu_status begins, remembers;
	uint64_t takes_ns; /* each look */
	uint64_t nap_ns;   /* before another try */
	char calls[64];
	unsigned next;
};

static void
called(struct play *play, const char *what)
{
	mu_text_format(play->calls + strlen(play->calls),
	    sizeof(play->calls) - strlen(play->calls), "%s", what);
}

static enum mu_status
begin(void *subject, struct mu_why *why)
{
	struct play *play = subject;

	called(play, "B");
	return play->begins == MU_OK ? MU_OK
				     : mu_why(why, play->begins, "begin");
}

static void
look(void *subject, struct mu_look *end)
{
	struct play *play = subject;

	ck_assert_uint_lt(play->next, play->count);
	ck_assert_int_eq(end->status, MU_OK);
	ck_assert_uint_eq(end->num_leaks, 0);
	called(play, "L");
	mu_sys_sleep_ns(play->takes_ns);
	*end = play->looks[play->next++];
}

static bool
again(void *subject, const struct mu_look *end, struct mu_tries *tries)
{
	struct play *play = subject;

	ck_assert_int_eq(end->status, play->looks[play->next - 1].status);
	if (++tries->tries > play->agains)
		return false;
	called(play, "A");
	tries->nap_ns = play->nap_ns;
	return true;
}

static enum mu_status
remember(void *subject, const struct mu_look *end, struct mu_why *why)
{
	struct play *play = subject;

	called(play, "R");
	ck_assert(end->doubtful || end->changing);
	return play->remembers == MU_OK
	    ? MU_OK
	    : mu_why(why, play->remembers, "remember");
}

static void
forget(void *subject)
{
	called(subject, "F");
}

static void
late(void *subject, struct mu_look *end)
{
	called(subject, "T");
	end->status = mu_why(&end->why, MU_ERR_TIMEOUT, "late");
}

static const struct mu_look_ops ops = { begin, look, again, remember, forget,
	late };

static struct mu_driver
run(struct play *play, const struct mu_look_ops *used, uint64_t timeout_ns)
{
	struct mu_driver driver = {
		.ops = used,
		.subject = play,
		.deadline_ns = mu_sys_now_ns() + timeout_ns,
		.confirm_ns = MU_NS_PER_MS,
	};

	mu_driver_run(&driver);
	return driver;
}

static void
expect(const struct mu_driver *driver, const struct play *play,
    const char *calls, enum mu_status status, const char *words)
{
	ck_assert_str_eq(play->calls, calls);
	ck_assert_int_eq(driver->look.status, status);
	ck_assert_str_eq(driver->look.why.text, words);
	ck_assert_uint_eq(driver->tries, play->next);
}

#define LOOK(state, leaks, ...)                                      \
	{                                                            \
		.status = (state), .num_leaks = (leaks), __VA_ARGS__ \
	}
#define WORDS(string) .why = { .text = string }

TEST(one_look_suffices)
{
	const struct mu_look looks[] = { LOOK(MU_OK, 3, .doubtful = false) };
	struct play play = { looks, 1, .agains = 0 };
	struct mu_driver driver = run(&play, &ops, MU_NS_PER_SEC);

	expect(&driver, &play, "BL", MU_OK, "");
}

TEST(tried_until_it_is_checked)
{
	const struct mu_look looks[] = { LOOK(MU_ERR_BUSY, 0, WORDS("1")),
		LOOK(MU_ERR_BUSY, 0, WORDS("2")), LOOK(MU_OK, 1, WORDS("")) };
	struct play play = { looks, 3, .agains = 2 };
	struct mu_driver driver = run(&play, &ops, 60 * MU_NS_PER_SEC);

	expect(&driver, &play, "BLAFLAFL", MU_OK, "");
}

TEST(the_time_is_over)
{
	const struct mu_look looks[] = { LOOK(MU_ERR_BUSY, 0, WORDS("1")) };
	struct play play = { looks, 1, .agains = 9 };
	struct mu_driver driver = run(&play, &ops, 0);

	expect(&driver, &play, "BL", MU_ERR_BUSY, "1");
}

TEST(no_try_that_would_be_late)
{
	const struct mu_look looks[] = { LOOK(MU_ERR_BUSY, 0, WORDS("1")),
		LOOK(MU_ERR_BUSY, 0, WORDS("2")) };
	struct play play = { looks, 2, .agains = 9,
		.takes_ns = 500 * MU_NS_PER_MS };
	struct mu_driver driver = run(&play, &ops, MU_NS_PER_SEC);

	expect(&driver, &play, "BL", MU_ERR_BUSY, "1");
}

/* Without an answer there is nothing to lose. */
TEST(a_try_that_may_end_in_time)
{
	const struct mu_look looks[] = { LOOK(MU_ERR_BUSY, 0, WORDS("1")),
		LOOK(MU_OK, 0, WORDS("")) };
	struct play play = { looks, 2, .agains = 1, .takes_ns = MU_NS_PER_SEC };
	struct mu_driver driver = run(&play, &ops, 2800 * MU_NS_PER_MS);

	expect(&driver, &play, "BLAFL", MU_OK, "");
}

/* A busy machine may need twice the time for the next. */
TEST(no_try_after_a_nap_that_is_too_long)
{
	const struct mu_look looks[] = { LOOK(MU_ERR_BUSY, 0, WORDS("1")) };
	struct play play = { looks, 1, .agains = 1,
		.nap_ns = 60 * MU_NS_PER_SEC };
	struct mu_driver driver = run(&play, &ops, 30 * MU_NS_PER_SEC);

	expect(&driver, &play, "BLA", MU_ERR_BUSY, "1");
}

TEST(no_look_that_would_be_late)
{
	const struct mu_look looks[] = { LOOK(MU_OK, 3, .doubtful = true),
		LOOK(MU_OK, 3, .doubtful = true) };
	struct play play = { looks, 2, .agains = 0,
		.takes_ns = 500 * MU_NS_PER_MS };
	struct mu_driver driver = run(&play, &ops, MU_NS_PER_SEC);

	expect(&driver, &play, "BLT", MU_ERR_TIMEOUT, "late");
}

/* A machine may stand still for a second or two. */
TEST(a_look_that_may_end_in_time)
{
	const struct mu_look looks[] = { LOOK(MU_OK, 3, .doubtful = true),
		LOOK(MU_OK, 3, .doubtful = true) };
	struct play play = { looks, 2, .agains = 0,
		.takes_ns = 3 * MU_NS_PER_SEC };
	struct mu_driver driver = run(&play, &ops, 8400 * MU_NS_PER_MS);

	expect(&driver, &play, "BLRFBL", MU_OK, "");
}

TEST(a_look_cannot_begin)
{
	struct play play = { NULL, 0, .begins = MU_ERR_NO_MEMORY };
	struct mu_driver driver = run(&play, &ops, MU_NS_PER_SEC);

	expect(&driver, &play, "B", MU_ERR_NO_MEMORY, "begin");
}

/* Each look has separate tries. */
TEST(what_is_doubtful_is_looked_at_again)
{
	const struct mu_look looks[] = {
		LOOK(MU_ERR_BUSY, 0, WORDS("busy")),
		LOOK(MU_OK, 3, .doubtful = true),
		LOOK(MU_ERR_BUSY, 0, WORDS("busy")),
		LOOK(MU_ERR_BUSY, 0, WORDS("still busy")),
	};
	struct play play = { looks, 4, .agains = 1 };
	struct mu_driver driver = run(&play, &ops, 60 * MU_NS_PER_SEC);

	expect(&driver, &play, "BLAFLRFBLAFL", MU_ERR_BUSY, "still busy");
}

/* What the first did not see the second may not have looked for. */
TEST(partial_first_stays_partial)
{
	const struct mu_look looks[] = { LOOK(MU_PARTIAL, 3, .doubtful = true,
					     WORDS("first")),
		LOOK(MU_OK, 1, .doubtful = true) };
	struct play play = { looks, 2, .agains = 0 };
	struct mu_driver driver = run(&play, &ops, 60 * MU_NS_PER_SEC);

	expect(&driver, &play, "BLRFBL", MU_PARTIAL, "first");
	ck_assert_uint_eq(driver.look.num_leaks, 1);
}

TEST(changing_then_exact)
{
	const struct mu_look looks[] = { LOOK(MU_PARTIAL, 3, .doubtful = true,
					     .changing = true, WORDS("first")),
		LOOK(MU_OK, 3, .doubtful = true) };
	struct play play = { looks, 2, .agains = 0 };
	struct mu_driver driver = run(&play, &ops, 60 * MU_NS_PER_SEC);

	expect(&driver, &play, "BLRFBL", MU_OK, "");
}

TEST(looked_at_while_fewer_are_lost)
{
	const struct mu_look looks[] = {
		LOOK(MU_PARTIAL, 9, .doubtful = true, .changing = true),
		LOOK(MU_PARTIAL, 8, .doubtful = true, .changing = true),
		LOOK(MU_PARTIAL, 7, .doubtful = true, .changing = true),
		LOOK(MU_PARTIAL, 6, .doubtful = true, .changing = true),
		LOOK(MU_PARTIAL, 5, .doubtful = true, .changing = true),
		LOOK(MU_PARTIAL, 4, .doubtful = true, .changing = true),
	};
	struct play play = { looks, 6, .agains = 0 };
	struct mu_driver driver = run(&play, &ops, 60 * MU_NS_PER_SEC);

	expect(&driver, &play, "BLRFBLRFBLRFBLRFBL", MU_PARTIAL, "");
	ck_assert_uint_eq(driver.look.num_leaks, 5);
}

/* What was lost in another program says nothing of this one. */
TEST(another_program_each_time)
{
	const struct mu_look looks[] = {
		LOOK(MU_OK, 3, .doubtful = true, .first = true),
		LOOK(MU_OK, 4, .doubtful = true, .first = true),
		LOOK(MU_OK, 4, .doubtful = true, .first = true),
		LOOK(MU_OK, 4, .doubtful = true, .first = true),
		LOOK(MU_OK, 4, .doubtful = true, .first = true),
	};
	struct play play = { looks, 5, .agains = 0 };
	struct mu_driver driver = run(&play, &ops, 60 * MU_NS_PER_SEC);

	expect(&driver, &play, "BLRFBLRFBLRFBLRFBL", MU_PARTIAL,
	    "the process executed another program before each look:"
	    " some of these may be in use");
}

TEST(another_program_then_the_same)
{
	const struct mu_look looks[] = {
		LOOK(MU_OK, 3, .doubtful = true, .first = true),
		LOOK(MU_OK, 4, .doubtful = true, .first = true),
		LOOK(MU_OK, 4, .doubtful = true),
	};
	struct play play = { looks, 3, .agains = 0 };
	struct mu_driver driver = run(&play, &ops, 60 * MU_NS_PER_SEC);

	expect(&driver, &play, "BLRFBLRFBL", MU_OK, "");
}

TEST(the_candidates_cannot_be_kept)
{
	const struct mu_look looks[] = { LOOK(
	    MU_OK, 3, .doubtful = true, .changing = true) };
	struct play play = { looks, 1, .agains = 0,
		.remembers = MU_ERR_TIMEOUT };
	struct mu_driver driver = run(&play, &ops, 60 * MU_NS_PER_SEC);

	expect(&driver, &play, "BLR", MU_ERR_TIMEOUT, "remember");
}

TEST(one_moment_is_looked_at_once)
{
	const struct mu_look_ops once = { .look = look };
	const struct mu_look looks[] = { LOOK(MU_OK, 3, .doubtful = true) };
	struct play play = { looks, 1, .agains = 9 };
	struct mu_driver driver = run(&play, &once, 60 * MU_NS_PER_SEC);

	expect(&driver, &play, "L", MU_OK, "");
}
