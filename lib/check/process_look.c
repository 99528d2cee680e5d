#include "lib/check/process_look.h"

#include <string.h>
#include <unistd.h>

#include "lib/check/process_gaps.h"
#include "lib/check/unsettled.h"

#define MAX_PAUSE_NS (200 * 1000 * 1000ull)

static void
unlock(void *ctx)
{
	struct mu_snapshot *snap = &((struct mu_keeper *)ctx)->snap;

	mu_remote_memory_unlock(
	    &snap->memory, snap->mappings, snap->num_mappings);
}

void
mu_process_look_forget(struct mu_process_look *look)
{
	mu_judgement_forget(&look->judgement);
	mu_keeper_end(&look->keeper);
}

static void
remember_locks(struct mu_process_look *look)
{
	const struct mu_heap *heap = &look->judgement.search.heap;

	if (heap->num_locks > MU_PROCESS_LOCKS)
		return;
	look->num_locks = heap->num_locks;
	memcpy(
	    look->locks, heap->locks, heap->num_locks * sizeof(*heap->locks));
}

/* A copy could not be made, or did not last, as there was no room for it. */
static void
note_room(struct mu_process_look *look)
{
	const struct mu_keeper *keeper = &look->keeper;

	look->lost = keeper->lost != MU_OK;
	if (keeper->result.no_room.words[0] != '\0')
		look->no_room = keeper->result.no_room;
	else if (keeper->lost == MU_ERR_NO_MEMORY)
		look->no_room = look->why;
}

bool
mu_process_look_doubtful(const struct mu_process_look *look)
{
	return (look->unsettled || look->changing || look->check->confirm) &&
	    mu_process_look_judged(look) &&
	    look->judgement.search.leaks.num_leaks > 0;
}

/*
 * What else the last search means. Blocks are read for it, so that the copy
 * goes only then.
 */
static void
note_all(struct mu_process_look *look)
{
	struct mu_keeper *keeper = &look->keeper;

	remember_locks(look);
	mu_process_gaps_note(look);
	if (mu_process_look_doubtful(look))
		mu_judgement_note_lost(&look->judgement);
	mu_keeper_let_go(keeper);
	if (keeper->lost == MU_OK) {
		mu_process_gaps_sharer(look);
		return;
	}
	look->wiped_wanted = look->stacks_wanted = false;
	look->changing = false;
	look->num_locks = 0;
	look->status = keeper->lost;
	look->why = keeper->result.why;
	note_room(look);
}

void
mu_process_look_take(struct mu_process_look *look)
{
	struct mu_keeper *keeper = &look->keeper;
	struct mu_judgement *judgement = &look->judgement;
	const struct mu_check *check = look->check;

	look->wiped_wanted = look->lost = look->changing = false;
	look->stacks_wanted = false;
	*keeper = (struct mu_keeper) {
		.target = check->pid,
		.way = look->way,
		.deadline_ns = look->deadline_ns,
		.max_pause_ns = check->max_pause_ns != 0 ? check->max_pause_ns
							 : MAX_PAUSE_NS,
		.limit = mu_judgement_limit(check, 3),
		.window = check->window,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
		.locks = look->locks,
		.num_locks = look->num_locks,
		.workers = &judgement->threads.workers,
		.ask_stacks = look->ask_stacks,
		.ask_wiped = look->ask_wiped,
		.copied_ns = look->copied_ns,
		.expected = look->expected,
	};
	if (check->progress != NULL)
		check->progress(check->progress_ctx, MU_CHECK_STEP_STOP);
	look->status = mu_keeper_take(keeper);
	look->why = keeper->result.why;
	if (keeper->result.pause_ns > look->pause_ns)
		look->pause_ns = keeper->result.pause_ns;
	note_room(look);
	if (keeper->result.pause_ns > keeper->max_pause_ns &&
	    keeper->result.copy_ns > look->copied_ns)
		look->copied_ns = keeper->result.copy_ns;
	if (look->status != MU_OK)
		return;
	keeper->snap.no_headers = true; /* see unsettled.h */
	keeper->snap.reach = check->reach;
	look->unsettled = mu_unsettled(&keeper->snap);
	keeper->remote.workers = &judgement->threads.workers;
	judgement->ctx = keeper;
	judgement->unlock = unlock;
	mu_judgement_run(
	    judgement, &keeper->snap, look->begin_ns, look->deadline_ns);
	look->status = judgement->search.status;
	look->why = judgement->search.why;
	note_all(look);
}
