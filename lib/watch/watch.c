#include "lib/watch/watch.h"

#include <bsd/string.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "lib/explain/stale.h"
#include "lib/term/human.h"
#include "lib/term/safe_text.h"
#include "lib/watch/await.h"
#include "lib/watch/outputs.h"
#include "lib/watch/plan.h"
#include "lib/watch/replay.h"
#include "lib/watch/start.h"
#include "lib/writers/exit_status.h"
#include "mu/sys.h"

#define GROUPS 500 /* of lost blocks, in one look */

/* A program that has just begun is not looked at, unless looks are faster. */
#define BEGIN_NS MU_NS_PER_SEC

/* How long another process of the name is waited for, at least, and how often
 * it is looked for. */
#define RESTART_NS (5 * MU_NS_PER_SEC)
#define SEARCH_NS (MU_NS_PER_SEC / 10)

/*
 * Types of live blocks take several times as long as all else. They are looked
 * for once the program has grown; in each look, if that takes less than a
 * quarter of the interval, or two seconds; else in one look of eight. If there
 * are to be few looks, the verdict needs each of them.
 */
#define GROWN ((uint64_t)4096)              /* bytes */
#define GROWN_OUTSIDE ((uint64_t)256 << 10) /* bytes that are not malloc's */
#define TYPED_NS (2 * MU_NS_PER_SEC)
#define TYPED_EVERY 8
#define TYPED_ALL ((size_t)3 * MU_GROWTH_LOOKS) /* of so many looks */

struct watch {
	const struct mu_cli_options *options;
	struct mu_check check;
	struct mu_watch_signals signals;
	struct mu_watch_subject subject;
	struct mu_watch_outputs outputs;
	struct mu_watch_plan plan;
	struct mu_series *series;       /* of the process that is watched now */
	struct mu_watch_look *look;     /* the latest one */
	struct mu_watch_result *result; /* the worst of all processes so far */
	pid_t command;                  /* which we started; 0: none */
	size_t looks;
	size_t untyped; /* looks since types were last looked for */
	bool grown;     /* live bytes are more than at first */
	bool slow;      /* that took long */
	bool restarted; /* the next look is the first of another process */
	size_t restarts;
	struct mu_rounds *rounds; /* NULL: none are wanted */
	uint64_t told_ns;         /* interval that was told last */
	struct mu_why why;
};

/* Say it on standard error, in one write. */
static void
tell(const struct watch *watch, const char *text)
{
	if (!watch->options->quiet)
		fprintf(stderr, "memunreachable: %s\n", text);
}

/* The process has ended, and no other one takes its place. */
static void
tell_end(struct watch *watch)
{
	char text[80];

	if (watch->looks == 0)
		strlcpy(watch->series->reason, "it ended before the first look",
		    sizeof(watch->series->reason));
	snprintf(
	    text, sizeof(text), "process %d has ended", watch->subject.pid);
	tell(watch, text);
}

/* Judge the process that is watched, before another one. */
static void
judge(struct watch *watch)
{
	struct mu_watch_result *now = calloc(1, sizeof(*now));

	if (now == NULL)
		return;
	mu_watch_judge(watch->series, now);
	if (now->verdict >= watch->result->verdict)
		*watch->result = *now;
	free(now);
}

static void
begin_anew(struct watch *watch)
{
	char text[256];

	judge(watch);
	memset(watch->series, 0, sizeof(*watch->series));
	mu_stale_forget(watch->check.explain.stale);
	watch->restarted = true;
	watch->restarts++;
	watch->grown = false;
	snprintf(text, sizeof(text), "restarted: process %d, %s",
	    watch->subject.pid, mu_safe_argument(watch->subject.program).text);
	tell(watch, text);
}

/* Another process of the same name. Returns false if none comes. */
static bool
await_restart(struct watch *watch)
{
	uint64_t now = mu_sys_now_ns(), wait = watch->plan.every_ns;
	pid_t before = watch->subject.pid;
	enum mu_watch_event event = MU_WATCH_TIME;
	uint64_t until = now + (wait > RESTART_NS ? wait : RESTART_NS);

	mu_watch_subject_close(&watch->subject);
	while (event != MU_WATCH_STOP && now < until) {
		if (mu_watch_subject_find(&watch->subject,
			&watch->options->watch.search, before)) {
			begin_anew(watch);
			return true;
		}
		mu_watch_subject_close(&watch->subject);
		event = mu_watch_await(&watch->signals, NULL, now + SEARCH_NS);
		now = mu_sys_now_ns();
	}
	return false;
}

/* How many looks there are to be; SIZE_MAX: there is no limit. */
static size_t
planned_looks(const struct watch *watch)
{
	uint64_t duration_ns = watch->options->watch.duration_ms * MU_NS_PER_MS;
	size_t count = watch->options->watch.count;

	if (count == 0)
		count = SIZE_MAX;
	return duration_ns > 0 && watch->plan.every_ns > 0 &&
		duration_ns / watch->plan.every_ns < count
	    ? duration_ns / watch->plan.every_ns + 1
	    : count;
}

/*
 * The verdict needs several looks that know types. If there are only few looks
 * it needs all of them, from the first one on.
 */
static bool
wants_types(struct watch *watch)
{
	size_t planned = planned_looks(watch);
	size_t every = planned / (2 * MU_GROWTH_LOOKS);

	if (watch->check.explain.stale != NULL)
		return true;
	if (!watch->grown && watch->rounds == NULL && planned > TYPED_ALL)
		return false;
	if (watch->slow && ++watch->untyped < TYPED_EVERY &&
	    watch->untyped < every)
		return false;
	watch->untyped = 0;
	return true;
}

/* Add the look to the series. */
static void
count_look(struct watch *watch, uint64_t lost_before)
{
	struct mu_watch_look *look = watch->look;

	watch->looks++;
	if (mu_watch_look_checked(look) && watch->series->kept.taken > 0 &&
	    look->lost > lost_before)
		look->new_lost = look->lost - lost_before;
	mu_series_add(watch->series, look);
	watch->restarted = false;
}

static void
note_look(struct watch *watch, uint64_t lost_before)
{
	struct mu_watch_look *look = watch->look;
	uint64_t typed = watch->plan.every_ns / 4;
	uint64_t took_ns = mu_sys_now_ns() - look->mono_ns;

	if (watch->looks == 0)
		watch->plan.begin_ns = look->mono_ns;
	/* Another user's child may say anything. */
	if (look->stop_ns > took_ns)
		look->stop_ns = took_ns;
	mu_watch_plan_stop(&watch->plan, look->stop_ns);
	if (watch->check.explain.in_use)
		watch->slow =
		    look->total_ns > (typed > TYPED_NS ? typed : TYPED_NS);
	count_look(watch, lost_before);
	watch->grown |= mu_watch_look_checked(look) &&
	    (look->live >= watch->series->first_live + GROWN ||
		mu_series_gained_outside(watch->series) >= GROWN_OUTSIDE);
}

/* Returns false if there was nothing to look at any more. */
static bool
take_look(struct watch *watch)
{
	struct mu_watch_look *look = watch->look;
	uint64_t lost_before = watch->series->last_lost;

	if (mu_watch_subject_execed(&watch->subject) && watch->looks > 0)
		begin_anew(watch);
	memset(look, 0, sizeof(*look));
	look->real_ns = mu_sys_real_ns();
	look->mono_ns = mu_sys_now_ns();
	look->restarted = watch->restarted;
	strlcpy(look->program, watch->subject.program, sizeof(look->program));
	mu_watch_subject_measure(&watch->subject, look);
	watch->check.pid = watch->subject.pid;
	watch->check.explain.in_use = wants_types(watch);
	watch->check.explain.collections = watch->check.explain.in_use;
	mu_watch_look_take(look, &watch->check);
	if (!mu_watch_look_checked(look) &&
	    mu_watch_subject_gone(&watch->subject))
		return false;
	note_look(watch, lost_before);
	return true;
}

/* When the next look is due; 0: there is none. */
static uint64_t
plan_next(struct watch *watch)
{
	uint64_t began = watch->look->mono_ns, next, interval;
	bool stretched;
	char text[160];

	if (watch->options->watch.count > 0 &&
	    watch->looks >= watch->options->watch.count)
		return 0;
	next = mu_watch_plan_next(&watch->plan, began, &stretched);
	if (next == 0 || !stretched)
		return next;
	interval = next - began;
	if (interval > 2 * watch->told_ns) {
		watch->told_ns = interval;
		snprintf(text, sizeof(text),
		    "the next look is in %s, not %s: stops are to be at most"
		    " 1 %% of the time",
		    mu_human_time(interval).text,
		    mu_human_time(watch->plan.every_ns).text);
		tell(watch, text);
	}
	return next;
}

/* NEXT_NS: until the next one; RESULT is the verdict so far. */
static bool
write_page(
    struct watch *watch, const struct mu_watch_result *result, uint64_t next_ns)
{
	const struct mu_watch_page page = {
		.series = watch->series,
		.result = result,
		.last = watch->look,
		.restarts = watch->restarts,
		.next_ns = next_ns,
	};

	return mu_watch_outputs_page(&watch->outputs, &page, &watch->why);
}

static bool
write_look(struct watch *watch, uint64_t next)
{
	uint64_t now = mu_sys_now_ns(), wait = next > now ? next - now : 0;
	struct mu_watch_result *result;
	bool written = mu_watch_outputs_look(
	    &watch->outputs, watch->look, watch->series, wait, &watch->why);

	if (!written || watch->outputs.html == NULL)
		return written;
	result = calloc(1, sizeof(*result));
	if (result == NULL) {
		mu_why(&watch->why, MU_ERR_NO_MEMORY, "no memory for a page");
		return false;
	}
	mu_watch_judge(watch->series, result);
	written = write_page(watch, result, wait);
	free(result);
	return written;
}

/* The first look of a program that may have just begun. */
static uint64_t
first_look(const struct watch *watch, bool fresh)
{
	uint64_t every = watch->plan.every_ns;

	if (!fresh)
		return mu_sys_now_ns();
	return mu_sys_now_ns() + (every < BEGIN_NS ? every : BEGIN_NS);
}

/* Look until the end. Returns false if a line could not be written. */
static bool
look_on(struct watch *watch)
{
	uint64_t next = first_look(watch, watch->command != 0);
	enum mu_watch_event event;

	while (next != 0) {
		event = mu_watch_await(&watch->signals, &watch->subject, next);
		if (event == MU_WATCH_STOP)
			return true;
		if (event == MU_WATCH_ENDED || !take_look(watch)) {
			if (watch->options->watch.search.name == NULL)
				tell_end(watch);
			if (watch->options->watch.search.name == NULL ||
			    !await_restart(watch))
				return true;
			next = first_look(watch, true);
			continue;
		}
		next = plan_next(watch);
		if (!write_look(watch, next))
			return false;
	}
	return true;
}

/* Returns false if the watch is to end. */
static bool
do_round(struct watch *watch, size_t number)
{
	uint64_t allowed = mu_watch_plan_allowed(&watch->plan);
	enum mu_watch_event event = MU_WATCH_NOW;
	char text[80];
	int status;

	status = mu_watch_round(watch->options->watch.round, &watch->signals);
	if (status == -1)
		return false;
	if (status != 0) {
		snprintf(text, sizeof(text), "round %zu ended by %s %d", number,
		    WIFSIGNALED(status) ? "signal" : "exit status",
		    WIFSIGNALED(status) ? WTERMSIG(status)
					: WEXITSTATUS(status));
		tell(watch, text);
	}
	while (event == MU_WATCH_NOW)
		event =
		    mu_watch_await(&watch->signals, &watch->subject, allowed);
	if (event == MU_WATCH_ENDED)
		tell_end(watch);
	return event == MU_WATCH_TIME;
}

/* One look, then one after each round. As look_on(). */
static bool
look_after_rounds(struct watch *watch)
{
	uint64_t first = first_look(watch, watch->command != 0);
	size_t number = 0;

	if (mu_watch_await(&watch->signals, &watch->subject, first) ==
	    MU_WATCH_STOP)
		return true;
	while (take_look(watch)) {
		if (!write_look(watch, 0))
			return false;
		if (number++ == watch->options->watch.rounds ||
		    !do_round(watch, number))
			return true;
	}
	tell_end(watch);
	return true;
}

/* By name: which one it is, if there are several. */
static bool
search_subject(struct watch *watch)
{
	const struct mu_watch_search *search = &watch->options->watch.search;
	struct mu_safe_argument name = mu_safe_argument(search->name);
	char text[256];

	if (!mu_watch_subject_find(&watch->subject, search, 0)) {
		mu_why(&watch->why, MU_ERR_TARGET_GONE,
		    search->unit ? "no process is in the control group of the"
				   " unit %s"
				 : "no process has the name %s",
		    name.text);
		return false;
	}
	if (watch->subject.same_name > 1) {
		snprintf(text, sizeof(text),
		    "%zu processes %s %s: the oldest one, %d, is watched",
		    watch->subject.same_name,
		    search->unit ? "are in the unit" : "have the name",
		    name.text, watch->subject.pid);
		tell(watch, text);
	}
	return true;
}

static bool
find_subject(struct watch *watch)
{
	const struct mu_cli_options *options = watch->options;
	pid_t pid = options->pid;

	if (options->watch.search.name != NULL)
		return search_subject(watch);
	if (options->command != NULL) {
		watch->command = pid = mu_watch_start(
		    options->command, &watch->signals, &watch->why);
		if (pid == 0)
			return false;
	}
	if (!mu_watch_subject_open(&watch->subject, pid) &&
	    watch->command == 0) {
		mu_why(&watch->why, MU_ERR_TARGET_GONE,
		    "there is no process %d", pid);
		return false;
	}
	return true;
}

/*
 * The status of a COMMAND that ended by itself, where the watch has nothing to
 * tell.
 */
static int
end_command(struct watch *watch, int status)
{
	bool ended;
	int end;

	if (watch->command == 0)
		return status;
	end = mu_watch_finish(watch->command, &watch->signals, &ended);
	if (end == -1)
		tell(watch, "the command still runs");
	if (!ended || end == -1 || status != MU_EXIT_CLEAN)
		return status;
	return WIFSIGNALED(end) ? 128 + WTERMSIG(end) : WEXITSTATUS(end);
}

/* Look at what another watch saw. As look_on(). */
static bool
look_back(struct watch *watch)
{
	struct mu_replay replay = { .file = NULL };
	bool found = true, written = true;
	uint64_t lost_before;
	enum mu_status status;

	status =
	    mu_replay_open(&replay, watch->options->watch.from, &watch->why);
	while (status == MU_OK && written) {
		lost_before = watch->series->last_lost;
		status =
		    mu_replay_next(&replay, watch->look, &found, &watch->why);
		if (status != MU_OK || !found)
			break;
		watch->subject.pid = watch->look->pid;
		strlcpy(watch->subject.program, watch->look->program,
		    sizeof(watch->subject.program));
		if (watch->look->restarted && watch->looks > 0) {
			begin_anew(watch);
			lost_before = UINT64_MAX;
		}
		count_look(watch, lost_before);
		written = mu_watch_outputs_look(&watch->outputs, watch->look,
		    watch->series, 0, &watch->why);
	}
	mu_replay_close(&replay);
	return status == MU_OK && written;
}

static int
conclude(struct watch *watch)
{
	judge(watch);
	if (watch->rounds != NULL) {
		mu_rounds_compare(watch->series, watch->rounds);
		mu_watch_judge_rounds(watch->result, watch->rounds->leak);
	}
	if (!mu_watch_outputs_verdict(&watch->outputs, watch->result,
		watch->series, watch->rounds, watch->look, &watch->why) ||
	    !write_page(watch, watch->result, 0))
		return -1;
	return mu_watch_exit_status(watch->result);
}

static int
run(struct watch *watch)
{
	const struct mu_cli_options *options = watch->options;
	int status = -1;

	if (!mu_watch_signals_open(&watch->signals)) {
		mu_why(&watch->why, MU_ERR_RESOURCES, "no descriptors");
		return -1;
	}
	/* Standard output belongs to a COMMAND. */
	if (mu_watch_outputs_open(&watch->outputs,
		options->command != NULL ? stderr : stdout, options->output,
		options->watch.csv, &watch->why) != MU_OK ||
	    (options->watch.from == NULL && !find_subject(watch)))
		return -1;
	if (options->watch.from != NULL)
		return look_back(watch) ? conclude(watch) : -1;
	watch->plan.begin_ns = mu_sys_now_ns();
	watch->plan.every_ns = options->watch.every_ms * MU_NS_PER_MS;
	if (options->watch.duration_ms > 0)
		watch->plan.end_ns = watch->plan.begin_ns +
		    options->watch.duration_ms * MU_NS_PER_MS;
	if (watch->rounds != NULL ? look_after_rounds(watch) : look_on(watch))
		status = conclude(watch);
	return end_command(watch, status);
}

/* A second at least: less is not told apart. */
static uint32_t
stale_seconds(const struct mu_cli_options *options)
{
	uint64_t seconds = (options->watch.stale_ms + 999) / 1000;

	return seconds > UINT32_MAX ? UINT32_MAX : (uint32_t)seconds;
}

int
mu_watch(const struct mu_cli_options *options, const struct mu_check *check)
{
	struct watch watch = {
		.options = options,
		.check = *check,
		.subject = { .fd = -1 },
		.signals = { .fd = -1 },
		.outputs = { .prometheus = options->watch.prometheus,
		    .html = options->html,
		    .json = options->writer == &mu_writer_json,
		    .syslog = options->watch.syslog },
		.why = { .text = "no memory for a watch" },
	};
	int status = -1;

	/* A reader that has gone is a line that cannot be written. */
	signal(SIGPIPE, SIG_IGN);
	watch.check.limit = GROUPS;
	watch.check.list = false;
	watch.check.progress = NULL;
	watch.series = calloc(1, sizeof(*watch.series));
	watch.look = calloc(1, sizeof(*watch.look));
	watch.result = calloc(1, sizeof(*watch.result));
	if (options->watch.round != NULL)
		watch.rounds = calloc(1, sizeof(*watch.rounds));
	if (options->watch.stale_ms > 0)
		watch.check.explain.stale = mu_stale_new();
	watch.check.explain.stale_seconds = stale_seconds(options);
	if (watch.series != NULL && watch.look != NULL &&
	    watch.result != NULL &&
	    (watch.check.explain.stale != NULL ||
		options->watch.stale_ms == 0) &&
	    (watch.rounds != NULL || options->watch.round == NULL))
		status = run(&watch);
	if (status < 0) {
		fprintf(stderr, "memunreachable: %s\n", watch.why.text);
		status = MU_EXIT_UNCHECKED;
	}
	mu_watch_subject_close(&watch.subject);
	mu_watch_outputs_close(&watch.outputs);
	mu_watch_signals_close(&watch.signals);
	mu_stale_free(watch.check.explain.stale);
	free(watch.series);
	free(watch.look);
	free(watch.result);
	free(watch.rounds);
	return status;
}
