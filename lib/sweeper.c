/*
 * The third process: see sweeper.h.
 *
 * It runs on a copy of the collector's stack, in a process where every other
 * thread has vanished in mid-step: locks may be held by nobody, so no malloc,
 * no stdio, nothing of libc that locks. What it maps, it maps in its own image.
 */
#include "lib/sweeper.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "heapwalk/fold.h"
#include "heapwalk/heap.h"
#include "heapwalk/mark.h"
#include "heapwalk/memory_self.h"
#include "heapwalk/referrers.h"
#include "heapwalk/roots.h"
#include "lib/image.h"
#include "lib/image_drop.h"
#include "lib/leak_pipe.h"
#include "lib/left_out.h"
#include "lib/library.h"
#include "lib/manners.h"
#include "lib/own_memory.h"
#include "lib/suspects.h"
#include "lib/why_pipe.h"
#include "lib/worker_threads.h"
#include "mu/sys.h"

/* The picture as a whole: later steps may add what is missing from it. */
struct sweep {
	struct mu_memory_self self;
	struct mu_arena tables;
	struct mu_worker_threads threads;
	struct mu_heap heap;
	struct mu_roots roots;
	struct mu_leaks leaks;
	struct mu_referrers referrers; /* if that was asked for */
	size_t left_out; /* pages that a fork leaves out, not brought over */
	enum mu_status status;
};

/* Keep the first thing that makes an answer partial; stop at a failure. */
static bool
went_on(struct mu_pass *pass, struct sweep *sweep, enum mu_status status,
    const struct mu_why *why)
{
	if (status == MU_OK)
		return true;
	if (status == MU_PARTIAL && sweep->status == MU_PARTIAL)
		return true;
	sweep->status = status;
	if (why != &pass->why)
		pass->why = *why;
	return status == MU_PARTIAL;
}

/*
 * The guard comes first: what we map ourselves must not come to lie where
 * memory of the subject is missing in this image (MADV_DONTFORK).
 */
static enum mu_status
open_image(struct mu_pass *pass, struct sweep *sweep)
{
	struct mu_snapshot *snap = &pass->snap;
	enum mu_status status;

	status = mu_image_read(pass);
	if (status != MU_OK)
		return status;
	snap->pid = pass->pid;
	snap->glibc_major = pass->self.glibc_major;
	snap->glibc_minor = pass->self.glibc_minor;
	snap->libc_address = pass->self.libc_address;
	mu_malloc_probe_tell(&mu_library.malloc_probe, snap);
	snap->reach = pass->reach;
	mu_memory_self_open(
	    &snap->memory, &sweep->self, snap->mappings, snap->num_mappings);
	status = mu_left_out_guard(pass, &sweep->left_out);
	if (status != MU_OK)
		return status;
	/* Nobody stands still any more. */
	mu_manners_yield();
	mu_manners_limit(&sweep->tables);
	mu_worker_threads_open(&sweep->threads, mu_library.options.workers);
	snap->workers = &sweep->threads.workers;
	if (!mu_memory_self_look(&snap->memory))
		mu_log(&pass->log, MU_LOG_DEBUG, "no /proc/self/pagemap");
	return mu_own_memory_list(pass, &sweep->tables);
}

/* A partial answer must still be sent before the original gives up. */
static uint64_t
folding_ends(const struct mu_pass *pass)
{
	return pass->deadline_ns - (pass->deadline_ns - pass->begin_ns) / 8;
}

static enum mu_status
why_not_marked(enum mu_status status, struct mu_why *why)
{
	switch (status) {
	case MU_PARTIAL:
		return mu_why(why, status,
		    "not enough memory to tell old links of free lists from"
		    " references: some leaks may be missing");
	case MU_ERR_NO_MEMORY:
		return mu_why(why, status, "no memory for the marking");
	default:
		return mu_why(why, status, "the marking did not end in time");
	}
}

static enum mu_status
mark(struct mu_pass *pass, struct sweep *sweep, struct mu_why *why)
{
	struct mu_blocks *blocks = &sweep->heap.blocks;
	struct mu_memory *memory = &pass->snap.memory;
	enum mu_status status, first;

	blocks->words = pass->snap.reach.words;
	status = mu_mark(
	    blocks, &sweep->roots, memory, &sweep->tables, pass->deadline_ns);
	first = status;
	if ((status == MU_OK || status == MU_PARTIAL) &&
	    pass->turn == MU_TURN_SECOND)
		status = mu_mark_unsuspected(blocks, pass->suspects,
		    pass->num_suspects, memory, &sweep->tables,
		    pass->deadline_ns);
	if (status == MU_OK)
		status = first;
	return status == MU_OK ? MU_OK : why_not_marked(status, why);
}

static void
find_referrers(struct mu_pass *pass, struct sweep *sweep)
{
	struct mu_why why = { "" };

	went_on(pass, sweep,
	    mu_referrers_find(&sweep->referrers,
		~pass->request->references->hidden, &sweep->heap.blocks,
		&sweep->roots, &pass->snap, mu_own_frames(pass), &sweep->tables,
		pass->deadline_ns, &why),
	    &why);
}

static void
sweep_image(struct mu_pass *pass, struct sweep *sweep)
{
	struct mu_snapshot *snap = &pass->snap;
	struct mu_why why = { "" };
	const struct mu_log *log = &pass->log;

	mu_log(log, MU_LOG_INFO, "searching process %d for allocations",
	    pass->pid);
	if (!went_on(pass, sweep, open_image(pass, sweep), &pass->why))
		return;
	if (!went_on(pass, sweep,
		mu_heap_glibc.list(&sweep->heap, snap, &sweep->tables, &why),
		&why))
		return;
	mu_log(log, MU_LOG_INFO, "searching done");
	mu_memory_self_unlock(
	    &snap->memory, snap->mappings, snap->num_mappings);
	mu_log(log, MU_LOG_INFO, "sweeping process %d for unreachable memory",
	    pass->pid);
	if (!went_on(pass, sweep,
		mu_roots_find(
		    &sweep->roots, snap, &sweep->heap, &sweep->tables, &why),
		&why))
		return;
	if (!went_on(pass, sweep, mark(pass, sweep, &why), &why))
		return;
	mu_log(log, MU_LOG_INFO, "sweeping done");
	if (pass->request->references != NULL) {
		find_referrers(pass, sweep);
		return;
	}
	mu_log(log, MU_LOG_INFO, "folding related leaks");
	if (!went_on(pass, sweep,
		mu_fold(&sweep->leaks, &sweep->heap.blocks,
		    pass->turn == MU_TURN_FIRST ? 0 : pass->request->limit,
		    &snap->memory, &sweep->tables, folding_ends(pass), &why),
		&why))
		return;
	mu_log(log, MU_LOG_INFO, "folding done");
}

static void
note_skipped(struct mu_pass *pass, struct sweep *sweep)
{
	size_t skipped = pass->snap.memory.skipped_pages;

	/* An image that is not looked at any further has nothing to say. */
	if (skipped == 0 ||
	    (sweep->status != MU_OK && sweep->status != MU_PARTIAL))
		return;
	mu_log(&pass->log, MU_LOG_WARNING, "%zu pages skipped due to segfaults",
	    skipped);
	if (sweep->status == MU_OK && skipped > sweep->left_out)
		sweep->status = mu_why(&pass->why, MU_PARTIAL,
		    "%zu readable pages could not be read", skipped);
	else if (sweep->status == MU_OK)
		sweep->status = mu_why(&pass->why, MU_PARTIAL,
		    "%zu pages that a fork leaves out (MADV_DONTFORK,"
		    " MADV_WIPEONFORK) were too many to be copied",
		    skipped);
}

static bool
anything_lost(const struct mu_pass *pass, const struct sweep *sweep)
{
	return pass->request->references != NULL ? sweep->referrers.total == 0
						 : sweep->leaks.num_leaks > 0;
}

/*
 * Lost, or referred to from memory that this image has only zeros of? A part
 * of the heap can be such memory too.
 */
static void
note_wiped(struct mu_pass *pass, struct sweep *sweep)
{
	bool suspect = sweep->status == MU_ERR_HEAP_INCONSISTENT ||
	    ((sweep->status == MU_OK || sweep->status == MU_PARTIAL) &&
		anything_lost(pass, sweep));

	if (suspect && mu_left_out_wiped(pass) && sweep->status == MU_OK)
		sweep->status = mu_why(&pass->why, MU_PARTIAL,
		    "memory under MADV_WIPEONFORK could not be scanned");
}

static bool
send(struct mu_pass *pass, const struct sweep *sweep)
{
	int fd = pass->pipe_write;

	if (pass->request->references != NULL)
		return mu_why_pipe_send(fd, sweep->status, &pass->why,
		    &sweep->heap, &sweep->referrers);
	if (!mu_leak_pipe_send(
		fd, sweep->status, &pass->why, &sweep->heap, &sweep->leaks))
		return false;
	return pass->turn != MU_TURN_FIRST ||
	    (sweep->status != MU_OK && sweep->status != MU_PARTIAL) ||
	    mu_suspects_send(fd, &sweep->heap.blocks);
}

void
mu_sweeper(struct mu_pass *pass)
{
	struct sweep sweep = { 0 };
	bool sent;

	mu_sys2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	if (mu_sys0(SYS_getppid) != pass->pid)
		mu_sys_exit(2);
	mu_sys2(SYS_prctl, PR_SET_NAME, (long)"mu-sweeper");
	mu_sys2(SYS_setpgid, 0, 0);
	mu_manners_begin();
	sweep_image(pass, &sweep);
	mu_manners_explain(&sweep.tables, sweep.status, &pass->why);
	mu_log(&pass->log, MU_LOG_DEBUG, "tables: %zu KiB of at most %zu KiB",
	    sweep.tables.used / 1024, sweep.tables.limit / 1024);
	note_skipped(pass, &sweep);
	note_wiped(pass, &sweep);
	sent = send(pass, &sweep);
	mu_image_drop(pass);
	mu_sys_exit(sent ? 0 : 3);
}
