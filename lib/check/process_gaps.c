#include "lib/check/process_gaps.h"

#include <string.h>
#include <sys/syscall.h>

#include "heapwalk/subject/dynamic_symbols.h"
#include "lib/check/doubts.h"
#include "mu/range.h"
#include "mu/text.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/sharer.h"
#include "ptrace/remote/alternate_stacks.h"

#define STARTED_NS (10 * MU_NS_PER_MS) /* of CPU time; 1 was seen */
#define STACK_TRIES 3                  /* looks that read alternate stacks */
#define MEASURED ((size_t)16 << 20)    /* smaller reads give no rate */

/*
 * Memory that fork clears (MADV_WIPEONFORK): what it referred to looks like a
 * leak in a copy. It is read during the stop of another try. The kernel walks
 * all page tables for smaps, so that is read only if there are leaks.
 */
static void
note_wiped(struct mu_process *process, struct mu_check_look *look)
{
	const struct mu_keeper *keeper = &process->keeper;
	bool copied =
	    keeper->result.method_used == MU_KEEPER_FORK && !keeper->ask_wiped;

	process->forked = (struct mu_forked) { 0 };
	if (mu_check_look_checked(look)
		? look->analysis.search.leaks.num_leaks > 0
		: copied)
		mu_forked_find(
		    &process->forked, mu_proc_living(keeper->target));
	process->wiped_wanted = copied && process->forked.wiped;
}

/*
 * Time that reading CHANGING would have taken, at the rate of the rest. Pages
 * that are not kept take a fraction of the time.
 */
static uint64_t
rest_ns(const struct mu_shared_pages *shared)
{
	uint64_t ns = shared->sifted > shared->taken / 2
	    ? mu_pause_sifted_ns(shared->changing)
	    : mu_pause_ns(shared->changing);
	uint64_t measured;

	if (shared->taken < MEASURED)
		return ns;
	measured = (uint64_t)((double)shared->taken_ns / (double)shared->taken *
	    (double)shared->changing);
	return measured > ns ? measured : ns;
}

/* True if the rest would take far longer than a whole stop. */
static bool
is_hopeless(const struct mu_keeper *keeper)
{
	const struct mu_shared_pages *shared = &keeper->result.shared;

	return shared->changing > 0 && shared->taken >= MEASURED &&
	    rest_ns(shared) > 2 * keeper->max_pause_ns;
}

static bool
meet_covered(void *ctx, const struct mu_block *block)
{
	struct mu_sift *sift = ctx;

	if (mu_sift_covers(sift, block->range))
		return true;
	*sift = (struct mu_sift) { { 0, 0 }, { 0, 0 } };
	return false;
}

/*
 * Bytes in which no reference to one of the lost blocks was looked for: malloc
 * had memory at an unusual place, or from another place since the listing.
 */
static size_t
count_missed(
    const struct mu_shared_pages *shared, const struct mu_check_look *look)
{
	struct mu_sift sift = shared->sift;

	if (shared->sifted == 0 || !mu_check_look_checked(look))
		return 0;
	mu_blocks_each_unmarked(
	    &look->analysis.search.heap.blocks, meet_covered, &sift);
	return sift.high.end == 0 ? shared->sifted : 0;
}

/* Say how everything could have been read during the stop. */
static void
advise_all(const struct mu_keeper *keeper, char *advice, size_t size)
{
	const struct mu_shared_pages *shared = &keeper->result.shared;
	uint64_t ns = keeper->result.pause_ns + rest_ns(shared);
	bool fits = shared->taken + shared->changing <= shared->limit;

	if (!fits)
		ns = 2 *
		    mu_pause_ns(mu_pause_bytes(mu_proc_living(keeper->target)));
	mu_text_format(advice, size, "%s--max-pause=%us",
	    fits ? "" : "--stop=read ", mu_pause_advice(ns));
}

/* Shared pages that have data now: see struct mu_moved_source. */
struct shared_now {
	struct mu_keeper *keeper;
	bool known;
	size_t old, new; /* parts to come */
};

static bool
ask_now(void *ctx, const struct mu_mapping *mapping, bool first)
{
	struct shared_now *now = ctx;

	(void)mapping;
	if (first) {
		now->known = mu_keeper_ask(now->keeper);
		now->old = 0;
		now->new = now->keeper->result.shared.first_new;
	}
	return now->known;
}

/* The part of RANGE in parts from *AT to END, which are by address. */
static bool
next_of(const struct mu_shared_pages *shared, size_t *at, size_t end,
    struct mu_range range, struct mu_range *part)
{
	while (*at < end && shared->parts[*at].range.end <= range.begin)
		++*at;
	if (*at == end)
		return false;
	*part = mu_range_common(shared->parts[*at].range, range);
	return mu_range_size(*part) > 0;
}

/* The mappings come by address, too. */
static bool
next_now(void *ctx, const struct mu_mapping *mapping, struct mu_range range,
    struct mu_range *part)
{
	struct shared_now *now = ctx;
	const struct mu_shared_pages *shared = &now->keeper->result.shared;
	struct mu_range other;
	bool old, new;

	(void)mapping;
	old = next_of(shared, &now->old, shared->first_new, range, part);
	new = next_of(shared, &now->new, shared->num_parts, range, &other);
	if (new && (!old || other.begin < part->begin))
		*part = other;
	return old || new;
}

static enum mu_status
note_moved(struct mu_process *process, struct mu_check_look *look)
{
	struct shared_now now = { .keeper = &process->keeper };
	struct mu_moved_source source = {
		.tid = process->keeper.remote.source.pid,
		.memory = process->keeper.memory,
		.ask = mu_keeper_may_ask(now.keeper) ? ask_now : NULL,
		.next = next_now,
		.ctx = &now,
	};

	return mu_doubt_moved(look, &source, &look->why);
}

/*
 * Memory that a copy shares with the process, or does not have, changes while
 * it is read unless that was possible during the stop: a pointer that moves
 * within it may not be seen anywhere. For pages that the process has not
 * touched it may not be known whether they have data.
 */
static void
note_shared(struct mu_process *process, struct mu_check_look *look)
{
	const struct mu_keeper *keeper = &process->keeper;
	size_t changing = keeper->result.shared.changing +
	    count_missed(&keeper->result.shared, look);
	size_t unasked = keeper->result.shared.unasked + keeper->remote.unasked;
	char advice[64];

	look->changing = changing > 0;
	process->expected = is_hopeless(keeper)
	    ? SIZE_MAX
	    : keeper->result.shared.taken + keeper->result.shared.changing;
	process->kept = keeper->result.shared.kept * 5 / 4;
	if (look->status != MU_OK || look->analysis.search.leaks.num_leaks == 0)
		return;
	if (changing > 0) {
		advise_all(keeper, advice, sizeof(advice));
		look->status = mu_why(&look->why, MU_PARTIAL,
		    "%zu MiB that a fork does not copy (MAP_SHARED,"
		    " MADV_DONTFORK) were read while they changed: what only"
		    " they refer to may be among these" MU_CURE
		    "%s reads them in the"
		    " stop",
		    (changing + 0xfffff) >> 20, advice);
		return;
	}
	look->status = mu_doubt_untouched(unasked, &look->why);
	if (look->status == MU_OK)
		look->status = note_moved(process, look);
}

/*
 * A large leaked block may be a thread's alternate signal stack, which only the
 * kernel knows. In the stop of another try each thread is made to read its own.
 * Most programs in C++ call syscall() for other reasons, and a thread under a
 * seccomp filter cannot be asked: then only an import of sigaltstack() is a
 * doubt.
 */
static void
note_stacks(struct mu_process *process, struct mu_check_look *look)
{
	const struct mu_keeper *keeper = &process->keeper;
	size_t unasked = process->ask_stacks ? keeper->result.unasked
					     : keeper->snap.num_threads;
	bool sets;

	if (!mu_check_look_checked(look) ||
	    look->analysis.search.leaks.num_leaks == 0 ||
	    !mu_blocks_unmarked_of(
		&look->analysis.search.heap.blocks, MU_ALTERNATE_STACK_MIN) ||
	    !mu_may_set_stacks(&keeper->snap))
		return;
	sets = mu_may_call_sigaltstack(&keeper->snap);
	process->stacks_wanted =
	    unasked > 0 && process->stack_tries++ < (sets ? STACK_TRIES : 1);
	if (look->status == MU_OK && unasked > 0 &&
	    (sets || process->stacks_wanted))
		look->status = mu_why(&look->why, MU_PARTIAL,
		    "%zu threads could not be asked for their alternate signal"
		    " stacks, which may be among these",
		    unasked);
}

/*
 * A program that has just started runs the dynamic linker. That of musl is its
 * libc as well, and the malloc of the program is known.
 */
static bool
is_linker(const struct mu_mapping *mapping)
{
	const char *slash = strrchr(mapping->name, '/');

	return mapping->inode != 0 && slash != NULL &&
	    strncmp(slash, "/ld-musl", 8) != 0 &&
	    (strncmp(slash, "/ld-", 4) == 0 || strncmp(slash, "/ld.", 4) == 0 ||
		strncmp(slash, "/ld64.", 6) == 0);
}

static bool
is_exec(long call)
{
	return call == SYS_execve || call == SYS_execveat;
}

/*
 * True for a call that the start of a program makes outside of the dynamic
 * linker, at times before the program is relocated. None of them waits.
 */
static bool
is_of_start(long call)
{
	static const long calls[] = {
		SYS_brk,
		SYS_mmap,
		SYS_munmap,
		SYS_mprotect,
		SYS_set_tid_address,
		SYS_set_robust_list,
		SYS_prlimit64,
		SYS_getrandom,
		SYS_readlinkat,
#ifdef SYS_rseq
		SYS_rseq,
#endif
#ifdef SYS_readlink
		SYS_readlink,
#endif
#ifdef SYS_arch_prctl
		SYS_arch_prctl,
#endif
	};
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i] == call)
			return true;
	return is_exec(call);
}

/* True if the only thread has certainly finished the start of the program. */
static bool
has_begun(const struct mu_process *process)
{
	long call = process->keeper.snap.threads[0].call;

	return process->ran_ns >= STARTED_NS ||
	    (call >= 0 && !is_of_start(call));
}

/*
 * Before libc is mapped and relocated the malloc is not known; after an
 * execve() each look may come too early.
 */
static void
note_start(struct mu_process *process, struct mu_check_look *look)
{
	const struct mu_snapshot *snap = &process->keeper.snap;
	const struct mu_mapping *mapping = NULL;
	bool linked;

	if (mu_check_look_checked(look) || snap->num_threads != 1)
		return;
	mapping = mu_snapshot_mapping(snap, snap->threads[0].pc);
	linked = mapping == NULL || !is_linker(mapping);
	if (linked &&
	    ((look->status != MU_ERR_FOREIGN_ALLOCATOR &&
		 look->status != MU_ERR_UNKNOWN_GLIBC) ||
		has_begun(process)))
		return;
	/* The next look will differ. */
	look->may_be_in_malloc |=
	    look->execed || is_exec(snap->threads[0].call);
	look->status = mu_why(&look->why, MU_ERR_HEAP_INCONSISTENT,
	    "the program has only begun, or became another one%s" MU_CURE
	    "ask again",
	    linked ? "" : ": its dynamic linker is still at work");
}

void
mu_process_gaps_note(struct mu_process *process, struct mu_check_look *look)
{
	note_start(process, look);
	note_wiped(process, look);
	note_shared(process, look);
	note_stacks(process, look);
	/* There may be no time for the look that reads it. */
	if (process->wiped_wanted && look->status == MU_OK)
		look->status = mu_why(&look->why, MU_PARTIAL,
		    "memory that a fork empties (MADV_WIPEONFORK) was not read:"
		    " what only it refers to may be among these");
}

void
mu_process_gaps_others(
    const struct mu_process *process, struct mu_check_look *look)
{
	size_t asleep = process->keeper.result.asleep;

	if (look->status != MU_OK || look->analysis.search.leaks.num_leaks == 0)
		return;
	if (asleep > 0)
		look->status = mu_why(&look->why, MU_PARTIAL,
		    "%zu thread%s in uninterruptible sleep (state D), for a"
		    " disk or in vfork(), and could not be stopped: what only"
		    " their registers refer to may be among these",
		    asleep, asleep == 1 ? " was" : "s were");
	if (look->status == MU_OK)
		look->status = mu_sharer_note(look->check->pid, 0, &look->why);
	if (look->status == MU_OK)
		look->status =
		    mu_forked_judge_missing(&process->forked, &look->why);
}

bool
mu_process_gaps_doubt(const struct mu_process *process,
    const struct mu_check_look *look, struct mu_why *why)
{
	size_t num = look->analysis.search.leaks.num_leaks;
	char advice[64];

	if (!look->changing && !process->stacks_wanted &&
	    !process->wiped_wanted)
		return false;
	if (!look->changing) {
		mu_why(why, MU_OK,
		    "whether %zu blocks are lost takes another look, at %s; that"
		    " failed",
		    num,
		    process->stacks_wanted ? "alternate signal stacks"
					   : "memory that a fork empties");
		return true;
	}
	advise_all(&process->keeper, advice, sizeof(advice));
	mu_why(why, MU_OK,
	    "%zu MiB that a fork does not copy (MAP_SHARED, MADV_DONTFORK) were"
	    " read while they changed: whether %zu blocks are lost takes another"
	    " look, or %s; the next look failed",
	    (process->keeper.result.shared.changing + 0xfffff) >> 20, num,
	    advice);
	return true;
}
