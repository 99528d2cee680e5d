/*
 * The check of a running process: see check.h.
 *
 * Malloc cannot be frozen from outside: a thread may be caught in the middle
 * of it. Then the heap contradicts itself, and another moment is tried.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/check/naming.h"
#include "lib/check/process_gaps.h"
#include "lib/check/process_look.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"

#define MAX_TRIES 50
#define MAX_TRIES_CALM 6     /* no thread can have been in malloc */
#define MAX_PEEKS 500        /* a stop without a copy */
#define MAX_TRIES_FOR_FULL 6 /* a partial answer is one */
#define MAX_TRIES_FOR_STOP 4 /* the process stood still each time */
#define NAP_NS (2 * 1000 * 1000ull)
#define NAP_MAX_NS (100 * 1000 * 1000ull)
#define PEEK_NAP_NS (1000 * 1000ull)
#define MAX_CONFIRMED 5
#define CONFIRM_NS (20 * 1000 * 1000ull)

/* The looks of one check. */
struct looking {
	struct mu_process_look last;
	unsigned tries;
	struct mu_report kept; /* of the last look that judged the heap */
	bool has_kept;
	struct mu_why doubt; /* why there is none, if it was the last */
};

static const enum mu_keeper_way ways[] = {
	[MU_CHECK_STOP_AUTO] = MU_KEEPER_AUTO,
	[MU_CHECK_STOP_FORK] = MU_KEEPER_FORK,
	[MU_CHECK_STOP_READ] = MU_KEEPER_READ,
};

/* TRIES: since the last time that the heap was judged, but for PEEKS. */
static bool
worth_another(struct mu_process_look *last, unsigned tries, unsigned peeks)
{
	if (mu_sys_now_ns() >= last->deadline_ns)
		return false;
	if (last->keeper.result.locked)
		return peeks < MAX_PEEKS;
	if (last->keeper.result.stopped_long) {
		if (last->keeper.result.copied_long &&
		    last->way == MU_KEEPER_AUTO)
			last->way = MU_KEEPER_READ;
		return tries < MAX_TRIES_FOR_STOP;
	}
	if (last->stacks_wanted) {
		last->ask_stacks = true;
		return true;
	}
	if (last->wiped_wanted) {
		last->ask_wiped = true;
		return true;
	}
	/* A second copy would be killed, too. */
	if (last->lost && last->way == MU_KEEPER_AUTO) {
		last->way = MU_KEEPER_READ;
		return true;
	}
	if (last->status == MU_PARTIAL)
		return last->judgement.search.heap.transient &&
		    tries < MAX_TRIES_FOR_FULL;
	return (last->status == MU_ERR_HEAP_INCONSISTENT ||
		   last->status == MU_ERR_UNKNOWN_GLIBC) &&
	    tries < (last->unsettled ? MAX_TRIES : MAX_TRIES_CALM);
}

/* The last look becomes ANSWER's. */
static enum mu_status
tell(const struct mu_process_look *last, struct mu_report *answer)
{
	const struct mu_keeper *keeper = &last->keeper;
	enum mu_status status;

	answer->stop = keeper->result.taken == MU_KEEPER_FORK ? "fork"
	    : keeper->result.taken == MU_KEEPER_READ          ? "read"
							      : "";
	answer->info.num_threads = keeper->snap.num_threads;
	answer->info.stop = MEMUNREACHABLE_STOP_PTRACE;
	status = mu_judgement_tell(
	    &last->judgement, last->status, &last->why, answer);
	if (status == MU_OK || status == MU_PARTIAL)
		mu_naming_open(answer, keeper->snap.mappings,
		    keeper->snap.num_mappings,
		    &last->judgement.search.recorder);
	return status;
}

/* Before another look, which may fail: then this one is the answer. */
static void
keep_judged(struct looking *looking)
{
	struct mu_process_look *last = &looking->last;
	struct mu_process_look judged = *last;

	if (!mu_process_look_judged(last))
		return;
	if (last->changing || last->stacks_wanted || last->wiped_wanted) {
		mu_process_gaps_doubt(last, &looking->doubt);
		return;
	}
	looking->doubt.words[0] = '\0';
	if (judged.status == MU_OK)
		judged.status = mu_why(&judged.why, MU_PARTIAL,
		    "some of these may be in use: they were looked at once"
		    " only");
	mu_check_release(&looking->kept);
	memset(&looking->kept, 0, sizeof(looking->kept));
	looking->has_kept = tell(&judged, &looking->kept) == MU_PARTIAL;
}

/* Of a look that failed, what the one before it found. */
static enum mu_status
tell_kept(struct looking *looking, struct mu_report *answer)
{
	struct UnreachableMemoryInfo *info = &looking->kept.info;
	size_t length = strlen(info->reason);

	mu_text_format(info->reason + length, sizeof(info->reason) - length,
	    "; another look failed: %s", looking->last.why.words);
	looking->kept.pid = answer->pid;
	memcpy(looking->kept.program, answer->program, sizeof(answer->program));
	*answer = looking->kept;
	memset(&looking->kept, 0, sizeof(looking->kept));
	return MU_PARTIAL;
}

/* Until the heap can be judged, or there is no hope of it. */
static void
look(struct looking *looking)
{
	struct mu_process_look *last = &looking->last;
	unsigned tries = 0, peeks = 0;
	uint64_t nap_ns;
	bool locked;

	for (;;) {
		looking->tries++;
		mu_process_look_take(last);
		locked = last->keeper.result.locked;
		*(locked ? &peeks : &tries) += 1;
		if (!worth_another(last, tries, peeks))
			return;
		keep_judged(looking);
		mu_process_look_forget(last);
		nap_ns = locked ? PEEK_NAP_NS : tries * NAP_NS;
		mu_sys_sleep_ns(nap_ns < NAP_MAX_NS ? nap_ns : NAP_MAX_NS);
	}
}

/* What was tried instead of a copy says only why that did not do. */
static void
explain_room(struct mu_process_look *last)
{
	if (last->no_room.words[0] != '\0' &&
	    (last->status == MU_ERR_TIMEOUT ||
		last->status == MU_ERR_NO_MEMORY) &&
	    strcmp(last->no_room.words, last->why.words) != 0) {
		mu_why_after(&last->why, &last->no_room, "; ");
		last->status = MU_ERR_NO_MEMORY;
	}
}

/* A block that is lost at two unrelated moments is a leak. */
static void
look_again(struct looking *looking)
{
	struct mu_process_look *last = &looking->last;
	bool changing = last->changing;
	enum mu_status first = last->status;
	struct mu_why why = last->why;

	if (!mu_judgement_confirm(&last->judgement)) {
		last->status = mu_why(&last->why, MU_PARTIAL,
		    "no memory for a second look: some of these may have been "
		    "in the hands of a thread inside malloc");
		return;
	}
	keep_judged(looking);
	mu_process_look_forget(last);
	mu_sys_sleep_ns(CONFIRM_NS);
	look(looking);
	/* If nothing changed the second time, that was exact. */
	if (last->status == MU_OK && first == MU_PARTIAL && !changing) {
		last->status = first;
		last->why = why;
	}
}

/*
 * While memory changes, a look that finds some of it in use after all is not
 * the last: what moves fast is missed twice, too.
 */
static void
confirm(struct looking *looking)
{
	struct mu_process_look *last = &looking->last;
	unsigned looks = 1;
	size_t before;

	do {
		looks++;
		before = last->judgement.search.leaks.num_leaks;
		look_again(looking);
	} while (looks < MAX_CONFIRMED && last->changing &&
	    mu_process_look_judged(last) &&
	    last->judgement.search.leaks.num_leaks < before &&
	    last->judgement.search.leaks.num_leaks > 0);
}

static void
explain_doubt(struct looking *looking)
{
	struct mu_process_look *last = &looking->last;

	if (!mu_process_look_judged(last) && looking->doubt.words[0] != '\0')
		mu_why_after(&last->why, &looking->doubt, ": ");
}

static void
name_program(pid_t pid, struct mu_report *answer)
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	length = readlink(path, answer->program, sizeof(answer->program) - 1);
	answer->program[length > 0 ? length : 0] = '\0';
}

/*
 * When all else is done: the process is left alone, and the memory that the
 * helper would have a copy of is given back.
 */
static void
name_addresses(const struct mu_process_look *last, struct mu_report *answer)
{
	const struct mu_check *check = last->check;
	pid_t tid = mu_proc_living(answer->pid);
	struct mu_rights rights = mu_rights_of_process(tid);
	struct mu_symbols_source source = { .pid = tid };

	if (check->progress != NULL)
		check->progress(check->progress_ctx, MU_CHECK_STEP_SYMBOLS);
	mu_naming_ask(answer, &source, &rights, last->deadline_ns);
}

enum mu_status
mu_check_process(const struct mu_check *check, struct mu_report *answer)
{
	struct looking looking = {
		.last = { .check = check, .way = ways[check->stop] },
	};
	struct mu_process_look *last = &looking.last;
	enum mu_status status;

	last->begin_ns = mu_sys_now_ns();
	last->deadline_ns = last->begin_ns + check->timeout_ns;
	memset(answer, 0, sizeof(*answer));
	answer->pid = check->pid;
	answer->stop = "";
	name_program(mu_proc_living(check->pid), answer);
	mu_judgement_open(&last->judgement, check);
	look(&looking);
	if (mu_process_look_doubtful(last))
		confirm(&looking);
	explain_room(last);
	if (looking.has_kept && !mu_process_look_judged(last))
		status = tell_kept(&looking, answer);
	else {
		explain_doubt(&looking);
		status = tell(last, answer);
	}
	answer->info.tries = looking.tries;
	answer->info.pause_ns = last->pause_ns;
	answer->info.total_ns = mu_sys_now_ns() - last->begin_ns;
	mu_process_look_forget(last);
	mu_judgement_close(&last->judgement);
	mu_check_release(&looking.kept);
	if (status == MU_OK || status == MU_PARTIAL)
		name_addresses(last, answer);
	return status;
}
