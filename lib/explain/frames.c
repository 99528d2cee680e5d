/*
 * The function in whose frame a word of a stack lies: the stack is followed
 * from the thread's registers, by the rules that the helper finds in the
 * modules. All memory is read here, from the image.
 */
#include <stdlib.h>

#include "lib/explain/frame_places.h"
#include "mu/arch/register_names.h"
#include "mu/arch/registers.h"
#include "mu/arch/unwind.h"

#define DEPTH 256 /* frames of one stack */

/* Word WORD of the general registers of THREAD; 0: not known. */
static uintptr_t
general(const struct mu_snapshot *snap, const struct mu_thread *thread,
    unsigned word)
{
	size_t i, end = thread->first_value + thread->num_values;

	for (i = thread->first_value; snap->regnos != NULL && i < end; i++)
		if (snap->regnos[i] == MU_REGNO_GENERAL + word)
			return snap->values[i];
	return 0;
}

struct mu_frame
mu_frame_of(const struct mu_snapshot *snap, const struct mu_thread *thread)
{
	return (struct mu_frame) {
		.pc = thread->pc,
		.sp = thread->sp,
		.fp = general(snap, thread, MU_PRSTATUS_FP),
		.link = general(snap, thread, MU_PRSTATUS_LINK),
	};
}

static uintptr_t
saved_at(const struct mu_snapshot *snap, uintptr_t cfa, int32_t offset)
{
	uintptr_t word;

	return mu_snapshot_word(snap, cfa + (uintptr_t)(intptr_t)offset, &word)
	    ? word
	    : 0;
}

bool
mu_frame_step_out(const struct mu_snapshot *snap,
    const struct mu_frame_rules *rules, struct mu_frame *frame, uintptr_t *end)
{
	uintptr_t base = rules->base == MU_FRAME_SP ? frame->sp : frame->fp;
	struct mu_frame caller = { .caller = true, .fp = frame->fp };

	if (rules->base == MU_FRAME_UNKNOWN || base == 0)
		return false;
	caller.sp = base + (uintptr_t)(intptr_t)rules->cfa;
	if (caller.sp < frame->sp +
		    (frame->caller ? sizeof(uintptr_t) : MU_UNWIND_LEAST) ||
	    caller.sp % sizeof(uintptr_t) != 0)
		return false;
	if (rules->fp_saved)
		caller.fp = saved_at(snap, caller.sp, rules->fp);
	caller.pc = rules->link_saved ? saved_at(snap, caller.sp, rules->link)
				      : frame->link;
	caller.pc = mu_unwind_strip(caller.pc);
	*end = caller.sp;
	*frame = caller;
	return true;
}

/* Where the word lies is then said from the frame, not from the stack. */
static void
name_frame(const struct mu_places *places, struct mu_range frame,
    const struct mu_symbol *symbol, struct mu_step *step)
{
	step->function = mu_places_keep(places, mu_symbol_function(symbol, 0));
	if (step->function == NULL)
		return;
	step->offset += step->address - frame.begin;
	step->address = frame.begin;
	step->size = mu_range_size(frame);
	step->file = mu_places_keep(places, symbol->file);
	step->line = symbol->file == NULL ? 0 : symbol->line;
}

/* The steps of one thread whose words lie below END are in this frame. */
static void
name_steps(const struct mu_places *places, struct mu_step *const *steps,
    size_t count, pid_t tid, struct mu_range frame,
    const struct mu_symbol *symbol)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (steps[i]->kind == MU_STEP_STACK &&
		    steps[i]->thread == tid &&
		    mu_range_has(frame, steps[i]->address + steps[i]->offset))
			name_frame(places, frame, symbol, steps[i]);
}

void
mu_frame_places_each(struct mu_places *places, const struct mu_thread *thread,
    bool (*visit)(void *ctx, const struct mu_frame_place *place), void *ctx)
{
	struct mu_frame frame = mu_frame_of(places->snap, thread);
	struct mu_symbol_question question = { .call = true, .rules = true };
	struct mu_symbol_answer answer;
	struct mu_frame_place place = { .thread = thread };
	int depth;

	for (depth = 0; depth < DEPTH && frame.pc != 0; depth++) {
		question.address =
		    frame.pc - (frame.caller ? MU_UNWIND_CALL : 0);
		answer = (struct mu_symbol_answer) { .given = false };
		place.call = question.address;
		place.sp = frame.sp;
		place.fp = frame.fp;
		mu_symbol_helper_ask(&places->helper, &question, &answer, 1,
		    places->deadline_ns);
		if (!answer.given ||
		    !mu_frame_step_out(
			places->snap, &answer.rules, &frame, &place.cfa))
			return;
		place.symbol = &answer.symbol;
		if (!visit(ctx, &place))
			return;
	}
}

struct naming {
	const struct mu_places *places;
	struct mu_step *const *steps;
	size_t count;
};

static bool
name_place(void *ctx, const struct mu_frame_place *place)
{
	const struct naming *naming = ctx;
	struct mu_range range = { place->sp, place->cfa };

	name_steps(naming->places, naming->steps, naming->count,
	    place->thread->tid, range, place->symbol);
	return true;
}

static bool
is_shown(
    struct mu_step *const *steps, size_t count, const struct mu_thread *thread)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (steps[i]->kind == MU_STEP_STACK &&
		    steps[i]->thread == thread->tid)
			return true;
	return false;
}

void
mu_places_ask_frames(
    struct mu_places *places, struct mu_step *const *steps, size_t count)
{
	const struct mu_snapshot *snap = places->snap;
	struct naming naming = { places, steps, count };
	size_t i;

	for (i = 0; i < snap->num_threads; i++)
		if (is_shown(steps, count, &snap->threads[i]))
			mu_frame_places_each(
			    places, &snap->threads[i], name_place, &naming);
}
