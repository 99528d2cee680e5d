/*
 * A part of an explanation that runs out of time: the others are there, and the
 * report says what is missing. The parts are made late by the linker's --wrap.
 */
#include <sys/wait.h>

#include "lib/check/check.h"
#include "lib/explain/explaining.h"
#include "tests/support/built.h"
#include "tests/support/suite.h"

enum part { NO_PART, HELD, TYPES, IN_USE, OWNERS, WHY, RETAINED };

static enum part late;
static bool python; /* there may be objects of CPython */
static struct mu_report report;
static uint64_t types_ns, end_ns; /* deadlines */
static uintptr_t session;
static FILE *output;
static int input;
static pid_t victim;

/* As if all time of PART were over. */
static void
lose_time(enum part part, struct mu_deadline *deadline)
{
	if (late == part)
		*deadline = (struct mu_deadline) { .ns = 1 };
}

#define WRAPPED(name, part)                                             \
	enum mu_status __real_##name(struct mu_explaining *explaining); \
	enum mu_status __wrap_##name(struct mu_explaining *explaining); \
                                                                        \
	enum mu_status __wrap_##name(struct mu_explaining *explaining)  \
	{                                                               \
		end_ns = explaining->end_ns;                            \
		lose_time(part, &explaining->deadline);                 \
		return __real_##name(explaining);                       \
	}

WRAPPED(mu_in_use_explain, IN_USE)
WRAPPED(mu_python_owners_find, OWNERS)
WRAPPED(mu_why_explain, WHY)
WRAPPED(mu_retained_explain, RETAINED)

enum mu_status __real_mu_held_find(struct mu_held *held,
    const struct mu_graph *graph, const struct mu_roots *roots,
    const struct mu_snapshot *snap, struct mu_arena *arena,
    struct mu_deadline *deadline);
enum mu_status __wrap_mu_held_find(struct mu_held *held,
    const struct mu_graph *graph, const struct mu_roots *roots,
    const struct mu_snapshot *snap, struct mu_arena *arena,
    struct mu_deadline *deadline);

enum mu_status
__wrap_mu_held_find(struct mu_held *held, const struct mu_graph *graph,
    const struct mu_roots *roots, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_deadline *deadline)
{
	lose_time(HELD, deadline);
	return __real_mu_held_find(held, graph, roots, snap, arena, deadline);
}

enum mu_status __real_mu_live_types_find(struct mu_live_types *live,
    struct mu_places *places, struct mu_typed *typed,
    const struct mu_held *held, struct mu_deadline *deadline);
enum mu_status __wrap_mu_live_types_find(struct mu_live_types *live,
    struct mu_places *places, struct mu_typed *typed,
    const struct mu_held *held, struct mu_deadline *deadline);

enum mu_status
__wrap_mu_live_types_find(struct mu_live_types *live, struct mu_places *places,
    struct mu_typed *typed, const struct mu_held *held,
    struct mu_deadline *deadline)
{
	enum mu_status status;

	types_ns = deadline->ns;
	lose_time(TYPES, deadline);
	status = __real_mu_live_types_find(live, places, typed, held, deadline);
	live->python |= python;
	return status;
}

static void
start_victim(void)
{
	int in[2], out[2];
	char path[PATH_MAX], line[512];

	built_path("tests/live/victims/victim_held", path);
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	victim = fork();
	if (victim == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execl(path, path, (char *)NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	input = in[1];
	output = fdopen(out[0], "r");
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), output));
	ck_assert_msg(
	    sscanf(strstr(line, "session"), "session %zx", &session) == 1, "%s",
	    line);
}

static void
end_victim(void)
{
	int status;

	mu_check_release(&report);
	close(input);
	fclose(output);
	ck_assert_int_eq(waitpid(victim, &status, 0), victim);
	ck_assert_int_eq(status, 0);
}

static const struct mu_explained *
explain(enum part part)
{
	struct mu_check check = {
		.timeout_ns = 400 * MU_NS_PER_SEC,
		.max_pause_ns = 20 * MU_NS_PER_SEC,
		.explain = { .retained = 3, .why = true, .in_use = true },
	};

	start_victim();
	late = part;
	check.pid = victim;
	check.explain.address = session;
	mu_check_process(&check, &report);
	ck_assert_msg(report.explained != NULL, "%s", report.info.reason);
	return report.explained;
}

/* WORDS are said to be missing; NULL: nothing is. */
static void
must_miss(const struct mu_explained *explained, const char *words)
{
	ck_assert_msg((words != NULL) ==
		(strstr(explained->note, "there was no time for ") != NULL),
	    "%s", explained->note);
	ck_assert_int_eq(explained->cut, words != NULL);
	if (words != NULL)
		ck_assert_msg(strstr(explained->note, words) != NULL, "%s",
		    explained->note);
}

static void
must_have(const struct mu_explained *explained, bool why, bool retained)
{
	ck_assert_int_eq(explained->why.known, why);
	ck_assert_int_eq(explained->why.num_steps > 0, why);
	ck_assert_int_eq(explained->num_retained > 0, retained);
}

TEST(nothing_is_late)
{
	const struct mu_explained *explained = explain(NO_PART);

	must_miss(explained, NULL);
	must_have(explained, true, true);
	ck_assert_uint_gt(explained->num_in_use, 0);
	/* Types never have all of the time. */
	ck_assert_uint_lt(types_ns, end_ns);
	end_victim();
}

TEST(types_are_late)
{
	const struct mu_explained *explained = explain(TYPES);

	must_miss(explained, " the types of all blocks; --timeout");
	must_have(explained, true, true);
	ck_assert_uint_gt(explained->num_in_use, 0);
	ck_assert_str_eq(explained->retained[0].holder.name, "cache");
	end_victim();
}

/* The links of objects that are not known are no path. */
TEST(types_of_python_are_late)
{
	const struct mu_explained *explained;

	python = true;
	explained = explain(TYPES);
	must_miss(explained,
	    " the types of all blocks, why blocks live, what holds the heap;"
	    " --timeout");
	must_have(explained, false, false);
	ck_assert_uint_gt(explained->num_in_use, 0);
	end_victim();
}

TEST(in_use_is_late)
{
	const struct mu_explained *explained = explain(IN_USE);

	must_miss(explained, " what is in use; --timeout");
	must_have(explained, true, true);
	ck_assert_uint_eq(explained->num_in_use, 0);
	end_victim();
}

TEST(why_is_late)
{
	const struct mu_explained *explained = explain(WHY);

	must_miss(explained, " why blocks live; --timeout");
	must_have(explained, false, true);
	end_victim();
}

TEST(retained_is_late)
{
	const struct mu_explained *explained = explain(RETAINED);

	must_miss(explained, " what holds the heap; --timeout");
	must_have(explained, true, false);
	end_victim();
}

/* Nothing can be said without the words that hold blocks. */
TEST(held_words_are_late)
{
	const struct mu_explained *explained = explain(HELD);

	must_miss(explained,
	    " the types of all blocks, what is in use, why blocks"
	    " live, what holds the heap; --timeout");
	must_have(explained, false, false);
	ck_assert_uint_eq(explained->num_in_use, 0);
	end_victim();
}

SUITE();
