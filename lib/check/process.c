/*
 * The check of a running process: see check.h.
 *
 * Malloc cannot be frozen from outside: a thread may be caught in the middle
 * of it. Then the heap contradicts itself, and another moment is tried.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "heapwalk/memory/wiped.h"
#include "heapwalk/subject/dynamic_symbols.h"
#include "lib/check/judgement.h"
#include "lib/check/naming.h"
#include "lib/check/unsettled.h"
#include "lib/helpers/keeper.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/alternate_stacks.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/sharer.h"

#define MAX_TRIES 50
#define MAX_TRIES_CALM 6     /* no thread can have been in malloc */
#define MAX_PEEKS 500        /* a stop without a copy */
#define MAX_TRIES_FOR_FULL 6 /* a partial answer is one */
#define MAX_TRIES_FOR_STOP 4 /* the process stood still each time */
#define MAX_PAUSE_NS (200 * 1000 * 1000ull)
#define STACK_TRIES 3 /* with threads asked for alternate stacks */
#define NAP_NS (2 * 1000 * 1000ull)
#define NAP_MAX_NS (100 * 1000 * 1000ull)
#define PEEK_NAP_NS (1000 * 1000ull)
#define LOCKS_MAX 256
#define MAX_CONFIRMED 5
#define MEASURED ((size_t)16 << 20) /* of this size a rate is known */
#define CONFIRM_NS (20 * 1000 * 1000ull)

struct looking {
	const struct mu_check *check;
	struct mu_judgement judgement;
	struct mu_keeper keeper;
	uint64_t begin_ns, deadline_ns;
	enum mu_keeper_way way; /* of the next try */
	bool ask_wiped;         /* of the next try; see note_wiped() */
	bool wiped_wanted;      /* the last one ought to have asked */
	bool lost;              /* the last copy was killed while it was read */
	bool unsettled;         /* a thread may have been in malloc */
	bool changing;          /* so was memory that is not in the copy */
	size_t expected;        /* bytes of that to be read in the next stop */
	bool ask_stacks;        /* of the next try; see note_stacks() */
	bool stacks_wanted;     /* the last one ought to have asked */
	unsigned stack_tries;
	uint64_t pause_ns;  /* the longest */
	uint64_t copied_ns; /* the longest that a late copy took */
	unsigned tries;
	uintptr_t locks[LOCKS_MAX]; /* that the last search saw */
	size_t num_locks;
	enum mu_status status;
	struct mu_why why;
	struct mu_why no_room; /* for a copy; or no words */
	struct mu_answer kept; /* of the last look that judged the heap */
	bool has_kept;
	struct mu_why doubt; /* why there is none, if it was the last */
};

static const enum mu_keeper_way ways[] = {
	[MU_CHECK_STOP_AUTO] = MU_KEEPER_AUTO,
	[MU_CHECK_STOP_FORK] = MU_KEEPER_FORK,
	[MU_CHECK_STOP_READ] = MU_KEEPER_READ,
};

static void
unlock(void *ctx)
{
	struct mu_snapshot *snap = &((struct mu_keeper *)ctx)->snap;

	mu_memory_mirror_unlock(
	    &snap->memory, snap->mappings, snap->num_mappings);
}

/* Nothing of a search may be in use any more. */
static void
forget(struct looking *looking)
{
	mu_judgement_forget(&looking->judgement);
	mu_keeper_end(&looking->keeper);
}

static bool
is_judged(const struct looking *looking)
{
	return looking->status == MU_OK || looking->status == MU_PARTIAL;
}

/*
 * Memory that a fork empties (MADV_WIPEONFORK): what it referred to looks lost
 * in a copy. It is read during the stop of another try. The kernel goes through
 * all page tables for smaps: it is asked only where something is lost.
 */
static void
note_wiped(struct looking *looking)
{
	const struct mu_keeper *keeper = &looking->keeper;

	looking->wiped_wanted = keeper->result.taken == MU_KEEPER_FORK &&
	    !keeper->ask_wiped &&
	    (!is_judged(looking) ||
		looking->judgement.search.leaks.num_leaks > 0) &&
	    mu_wiped_of(keeper->target, NULL, 0) > 0;
}

/* What the reading of CHANGING would have taken, at the rate of the rest. */
static uint64_t
rest_ns(const struct mu_shared_pages *shared)
{
	uint64_t ns = mu_pause_ns(shared->changing), measured;

	if (shared->taken < MEASURED)
		return ns;
	measured = (uint64_t)((double)shared->taken_ns / (double)shared->taken *
	    (double)shared->changing);
	return measured > ns ? measured : ns;
}

/* How all of what changed could have been read during the stop. */
static void
advise_all(const struct mu_keeper *keeper, char *advice, size_t size)
{
	const struct mu_shared_pages *shared = &keeper->result.shared;
	uint64_t ns = keeper->result.pause_ns + rest_ns(shared);
	bool fits = shared->taken + shared->changing <= shared->limit;

	if (!fits)
		ns = 2 * mu_pause_ns(mu_pause_bytes(keeper->target));
	mu_text_format(advice, size, "%s--max-pause=%us",
	    fits ? "" : "--stop=read ", mu_pause_advice(ns));
}

/*
 * Memory that a copy shares with the process, or does not have, and that could
 * not be read during the stop, goes on changing: a pointer that is moved within
 * it may be seen nowhere. Of what the process has
 * not touched it may be impossible to tell whether it holds anything.
 */
static void
note_shared(struct looking *looking)
{
	const struct mu_keeper *keeper = &looking->keeper;
	size_t changing = keeper->result.shared.changing;
	size_t unasked = keeper->result.shared.unasked + keeper->mirror.unasked;
	char advice[64];

	looking->changing = changing > 0;
	looking->expected = keeper->result.shared.taken + changing;
	if (looking->status != MU_OK ||
	    looking->judgement.search.leaks.num_leaks == 0)
		return;
	if (changing > 0) {
		advise_all(keeper, advice, sizeof(advice));
		looking->status = mu_why(&looking->why, MU_PARTIAL,
		    "%zu MiB that a fork does not copy (MAP_SHARED,"
		    " MADV_DONTFORK) were read while they changed: what only"
		    " they refer to may be among these; %s reads them in the"
		    " stop",
		    (changing + 0xfffff) >> 20, advice);
	} else if (unasked > 0)
		looking->status = mu_why(&looking->why, MU_PARTIAL,
		    "%zu MiB of shared memory that the process has not touched"
		    " were not searched: what only they refer to may be among"
		    " these",
		    (unasked + 0xfffff) >> 20);
}

/*
 * A large block that is lost may be the alternate signal stack of a thread:
 * the kernel alone knows. Each thread is made to ask for its own in the stop of
 * another try.
 */
static void
note_stacks(struct looking *looking)
{
	const struct mu_keeper *keeper = &looking->keeper;
	size_t unasked = looking->ask_stacks ? keeper->result.unasked
					     : keeper->snap.num_threads;

	if (!is_judged(looking) ||
	    looking->judgement.search.leaks.num_leaks == 0 ||
	    !mu_blocks_unmarked_of(&looking->judgement.search.heap.blocks,
		MU_ALTERNATE_STACK_MIN) ||
	    !mu_may_import(&keeper->snap, "sigaltstack"))
		return;
	looking->stacks_wanted =
	    unasked > 0 && looking->stack_tries++ < STACK_TRIES;
	if (looking->status == MU_OK && unasked > 0)
		looking->status = mu_why(&looking->why, MU_PARTIAL,
		    "%zu threads could not be asked for their alternate signal"
		    " stacks, which may be among these",
		    unasked);
}

static void
note_sharer(struct looking *looking)
{
	pid_t sharer;

	if (looking->status != MU_OK ||
	    looking->judgement.search.leaks.num_leaks == 0)
		return;
	sharer = mu_sharer_find(looking->check->pid, 0);
	if (sharer != 0)
		looking->status =
		    mu_why(&looking->why, MU_PARTIAL, MU_SHARER_WORDS, sharer);
}

/* A program that has just begun is the dynamic linker's. */
static bool
is_linker(const struct mu_mapping *mapping)
{
	const char *slash = strrchr(mapping->name, '/');

	return mapping->inode != 0 && slash != NULL &&
	    (strncmp(slash, "/ld-", 4) == 0 || strncmp(slash, "/ld.", 4) == 0 ||
		strncmp(slash, "/ld64.", 6) == 0);
}

/*
 * Before libc is mapped and relocated nothing tells whose malloc it is; after
 * an execve() each look may come too early.
 */
static void
note_start(struct looking *looking)
{
	const struct mu_snapshot *snap = &looking->keeper.snap;
	const struct mu_mapping *mapping = NULL;

	if (is_judged(looking) || snap->num_threads != 1)
		return;
	mapping = mu_snapshot_mapping(snap, snap->threads[0].pc);
	if (mapping != NULL && is_linker(mapping))
		looking->status =
		    mu_why(&looking->why, MU_ERR_HEAP_INCONSISTENT,
			"the program has only begun, or became another one: its"
			" dynamic linker is still at work; ask again");
}

static void
remember_locks(struct looking *looking)
{
	const struct mu_heap *heap = &looking->judgement.search.heap;

	if (heap->num_locks > LOCKS_MAX)
		return;
	looking->num_locks = heap->num_locks;
	memcpy(looking->locks, heap->locks,
	    heap->num_locks * sizeof(*heap->locks));
}

/* A copy could not be made, or did not last, as there was no room for it. */
static void
note_room(struct looking *looking)
{
	const struct mu_keeper *keeper = &looking->keeper;

	looking->lost = keeper->lost != MU_OK;
	if (keeper->result.no_room.words[0] != '\0')
		looking->no_room = keeper->result.no_room;
	else if (keeper->lost == MU_ERR_NO_MEMORY)
		looking->no_room = looking->why;
}

static bool
is_doubtful(const struct looking *looking)
{
	return (looking->unsettled || looking->changing ||
		   looking->check->confirm) &&
	    is_judged(looking) && looking->judgement.search.leaks.num_leaks > 0;
}

/*
 * What else the last search means. Blocks are read for it, so that the copy
 * goes only then.
 */
static void
note_all(struct looking *looking)
{
	struct mu_keeper *keeper = &looking->keeper;

	note_start(looking);
	remember_locks(looking);
	note_wiped(looking);
	note_shared(looking);
	note_stacks(looking);
	if (is_doubtful(looking))
		mu_judgement_note_lost(&looking->judgement);
	mu_keeper_let_go(keeper);
	if (keeper->lost == MU_OK) {
		note_sharer(looking);
		return;
	}
	looking->wiped_wanted = looking->stacks_wanted = false;
	looking->changing = false;
	looking->num_locks = 0;
	looking->status = keeper->lost;
	looking->why = keeper->result.why;
	note_room(looking);
}

static void
look_once(struct looking *looking)
{
	struct mu_keeper *keeper = &looking->keeper;
	struct mu_judgement *judgement = &looking->judgement;
	const struct mu_check *check = looking->check;

	looking->wiped_wanted = looking->lost = looking->changing = false;
	looking->stacks_wanted = false;
	*keeper = (struct mu_keeper) {
		.target = check->pid,
		.way = looking->way,
		.deadline_ns = looking->deadline_ns,
		.max_pause_ns = check->max_pause_ns != 0 ? check->max_pause_ns
							 : MAX_PAUSE_NS,
		.limit = mu_judgement_limit(check, 3),
		.window = check->window,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
		.locks = looking->locks,
		.num_locks = looking->num_locks,
		.workers = &judgement->threads.workers,
		.ask_stacks = looking->ask_stacks,
		.ask_wiped = looking->ask_wiped,
		.copied_ns = looking->copied_ns,
		.expected = looking->expected,
	};
	if (check->progress != NULL)
		check->progress(check->progress_ctx, MU_CHECK_STEP_STOP);
	looking->status = mu_keeper_take(keeper);
	looking->why = keeper->result.why;
	if (keeper->result.pause_ns > looking->pause_ns)
		looking->pause_ns = keeper->result.pause_ns;
	note_room(looking);
	if (keeper->result.pause_ns > keeper->max_pause_ns &&
	    keeper->result.copy_ns > looking->copied_ns)
		looking->copied_ns = keeper->result.copy_ns;
	if (looking->status != MU_OK)
		return;
	keeper->snap.no_headers = true; /* see unsettled.h */
	keeper->snap.reach = check->reach;
	looking->unsettled = mu_unsettled(&keeper->snap);
	keeper->mirror.workers = &judgement->threads.workers;
	judgement->ctx = keeper;
	judgement->unlock = unlock;
	mu_judgement_run(
	    judgement, &keeper->snap, looking->begin_ns, looking->deadline_ns);
	looking->status = judgement->search.status;
	looking->why = judgement->search.why;
	note_all(looking);
}

/* TRIES: since the last time that the heap was judged, but for PEEKS. */
static bool
worth_another(struct looking *looking, unsigned tries, unsigned peeks)
{
	if (mu_sys_now_ns() >= looking->deadline_ns)
		return false;
	if (looking->keeper.result.locked)
		return peeks < MAX_PEEKS;
	if (looking->keeper.result.stopped_long) {
		if (looking->keeper.result.copied_long &&
		    looking->way == MU_KEEPER_AUTO)
			looking->way = MU_KEEPER_READ;
		return tries < MAX_TRIES_FOR_STOP;
	}
	if (looking->stacks_wanted) {
		looking->ask_stacks = true;
		return true;
	}
	if (looking->wiped_wanted) {
		looking->ask_wiped = true;
		return true;
	}
	/* A second copy would be killed, too. */
	if (looking->lost && looking->way == MU_KEEPER_AUTO) {
		looking->way = MU_KEEPER_READ;
		return true;
	}
	if (looking->status == MU_PARTIAL)
		return looking->judgement.search.heap.transient &&
		    tries < MAX_TRIES_FOR_FULL;
	return (looking->status == MU_ERR_HEAP_INCONSISTENT ||
		   looking->status == MU_ERR_UNKNOWN_GLIBC) &&
	    tries < (looking->unsettled ? MAX_TRIES : MAX_TRIES_CALM);
}

/* The last look becomes ANSWER's. */
static enum mu_status
tell(const struct looking *looking, struct mu_answer *answer)
{
	const struct mu_keeper *keeper = &looking->keeper;
	enum mu_status status;

	answer->stop = keeper->result.taken == MU_KEEPER_FORK ? "fork"
	    : keeper->result.taken == MU_KEEPER_READ          ? "read"
							      : "";
	answer->info.num_threads = keeper->snap.num_threads;
	answer->info.stop = MEMUNREACHABLE_STOP_PTRACE;
	status = mu_judgement_tell(
	    &looking->judgement, looking->status, &looking->why, answer);
	if (status == MU_OK || status == MU_PARTIAL)
		mu_naming_open(answer, keeper->snap.mappings,
		    keeper->snap.num_mappings,
		    &looking->judgement.search.recorder);
	return status;
}

/* What a look found that is known to miss references is no answer. */
static void
note_doubt(struct looking *looking)
{
	size_t num = looking->judgement.search.leaks.num_leaks;
	char advice[64];

	if (!looking->changing) {
		mu_why(&looking->doubt, MU_OK,
		    "whether %zu blocks are lost takes another look, at %s; that"
		    " failed",
		    num,
		    looking->stacks_wanted ? "alternate signal stacks"
					   : "memory that a fork empties");
		return;
	}
	advise_all(&looking->keeper, advice, sizeof(advice));
	mu_why(&looking->doubt, MU_OK,
	    "%zu MiB that a fork does not copy (MAP_SHARED, MADV_DONTFORK) were"
	    " read while they changed: whether %zu blocks are lost takes another"
	    " look, or %s; the next look failed",
	    (looking->keeper.result.shared.changing + 0xfffff) >> 20, num,
	    advice);
}

/* Before another look, which may fail: then this one is the answer. */
static void
keep_judged(struct looking *looking)
{
	struct looking judged = *looking;

	if (!is_judged(looking))
		return;
	if (looking->changing || looking->stacks_wanted ||
	    looking->wiped_wanted) {
		note_doubt(looking);
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
tell_kept(struct looking *looking, struct mu_answer *answer)
{
	struct UnreachableMemoryInfo *info = &looking->kept.info;
	size_t length = strlen(info->reason);

	mu_text_format(info->reason + length, sizeof(info->reason) - length,
	    "; another look failed: %s", looking->why.words);
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
	unsigned tries = 0, peeks = 0;
	uint64_t nap_ns;

	for (;;) {
		looking->tries++;
		look_once(looking);
		*(looking->keeper.result.locked ? &peeks : &tries) += 1;
		if (!worth_another(looking, tries, peeks))
			return;
		keep_judged(looking);
		forget(looking);
		nap_ns = looking->keeper.result.locked ? PEEK_NAP_NS
						       : tries * NAP_NS;
		mu_sys_sleep_ns(nap_ns < NAP_MAX_NS ? nap_ns : NAP_MAX_NS);
	}
}

/* What was tried instead of a copy says only why that did not do. */
static void
explain_room(struct looking *looking)
{
	struct mu_why why = looking->why;

	if (looking->no_room.words[0] != '\0' &&
	    (looking->status == MU_ERR_TIMEOUT ||
		looking->status == MU_ERR_NO_MEMORY) &&
	    strcmp(looking->no_room.words, why.words) != 0)
		looking->status = mu_why(&looking->why, MU_ERR_NO_MEMORY,
		    "%s; %s", looking->no_room.words, why.words);
}

/* What is lost twice, at moments that have nothing to do with each other, is.
 */
static void
look_again(struct looking *looking)
{
	bool changing = looking->changing;
	enum mu_status first = looking->status;
	struct mu_why why = looking->why;

	if (!mu_judgement_suspect(&looking->judgement)) {
		looking->status = mu_why(&looking->why, MU_PARTIAL,
		    "no memory for a second look: some of these may have been "
		    "in the hands of a thread inside malloc");
		return;
	}
	keep_judged(looking);
	forget(looking);
	mu_sys_sleep_ns(CONFIRM_NS);
	look(looking);
	/* If nothing changed the second time, that was exact. */
	if (looking->status == MU_OK && first == MU_PARTIAL && !changing) {
		looking->status = first;
		looking->why = why;
	}
}

/*
 * While memory changes, a look that finds some of it in use after all is not
 * the last: what moves fast is missed twice, too.
 */
static void
confirm(struct looking *looking)
{
	unsigned looks = 1;
	size_t before;

	do {
		looks++;
		before = looking->judgement.search.leaks.num_leaks;
		look_again(looking);
	} while (looks < MAX_CONFIRMED && looking->changing &&
	    is_judged(looking) &&
	    looking->judgement.search.leaks.num_leaks < before &&
	    looking->judgement.search.leaks.num_leaks > 0);
}

static void
explain_doubt(struct looking *looking)
{
	struct mu_why why = looking->why;

	if (!is_judged(looking) && looking->doubt.words[0] != '\0')
		mu_why(&looking->why, looking->status, "%s: %s",
		    looking->doubt.words, why.words);
}

static void
name_program(pid_t pid, struct mu_answer *answer)
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
name_addresses(const struct looking *looking, struct mu_answer *answer)
{
	const struct mu_check *check = looking->check;
	pid_t tid = mu_proc_living(answer->pid);
	struct mu_rights rights = mu_rights_of_process(tid);
	struct mu_symbols_source source = { .pid = tid };

	if (check->progress != NULL)
		check->progress(check->progress_ctx, MU_CHECK_STEP_SYMBOLS);
	mu_naming_ask(answer, &source, &rights, looking->deadline_ns);
}

enum mu_status
mu_check_process(const struct mu_check *check, struct mu_answer *answer)
{
	struct looking looking = { .check = check, .way = ways[check->stop] };
	enum mu_status status;

	looking.begin_ns = mu_sys_now_ns();
	looking.deadline_ns = looking.begin_ns + check->timeout_ns;
	memset(answer, 0, sizeof(*answer));
	answer->pid = check->pid;
	answer->stop = "";
	name_program(mu_proc_living(check->pid), answer);
	mu_judgement_open(&looking.judgement, check);
	look(&looking);
	if (is_doubtful(&looking))
		confirm(&looking);
	explain_room(&looking);
	if (looking.has_kept && !is_judged(&looking))
		status = tell_kept(&looking, answer);
	else {
		explain_doubt(&looking);
		status = tell(&looking, answer);
	}
	answer->info.tries = looking.tries;
	answer->info.pause_ns = looking.pause_ns;
	answer->info.total_ns = mu_sys_now_ns() - looking.begin_ns;
	forget(&looking);
	mu_judgement_close(&looking.judgement);
	mu_check_release(&looking.kept);
	if (status == MU_OK || status == MU_PARTIAL)
		name_addresses(&looking, answer);
	return status;
}
