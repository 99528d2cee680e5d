/*
 * A stack that was captured before is found without a walk. Otherwise the walk
 * is traced, so that the stack is known next time.
 */
#include "lib/malloc_debug/unwind/gone_modules.h"
#include "lib/malloc_debug/unwind/stack_capture_known.h"
#include "lib/malloc_debug/unwind/stack_depot_find.h"
#include "lib/malloc_debug/unwind/stack_layouts.h"
#include "lib/malloc_debug/unwind/stack_walk.h"

/* Words of 8 bytes from the start of the walk. */
static uint16_t
offset_of(struct stack_trace *trace, uintptr_t address)
{
	uintptr_t words = (address - trace->sp) / 8;

	if (address % 8 != 0 || words >= LAYOUT_NO_POINTER)
		trace->lost = true;
	return (uint16_t)words;
}

static void
trace_pointer(struct stack_trace *trace, const struct stack_walk *walk)
{
	unsigned i = trace->num_pointers;

	if (walk->fp_slot == 0) {
		trace->pointer = offset_of(trace, walk->fp);
		return;
	}
	if (i == LAYOUT_MOST) {
		trace->lost = true;
		return;
	}
	trace->pointers[i] = offset_of(trace, walk->fp_slot);
	trace->targets[i] = offset_of(trace, walk->fp);
	trace->num_pointers++;
}

static void
trace_return(struct stack_trace *trace, const struct stack_walk *walk)
{
	if (trace->num_returns == LAYOUT_MOST)
		trace->lost = true;
	else
		trace->returns[trace->num_returns++] =
		    offset_of(trace, walk->slot);
}

static size_t
trace_frames(struct stack_walk *walk, struct stack_trace *trace,
    uint64_t generation, uintptr_t *frames, size_t max)
{
	const struct frame_memo *memo =
	    __atomic_load_n(&frame_memo, __ATOMIC_ACQUIRE);
	uint64_t rule;
	size_t num = 0;

	for (;;) {
		frames[num++] = walk->pc;
		if (num == max)
			break;
		rule = frame_memo_find(memo, generation, walk->pc);
		if ((rule & RULE_CFA_OF_FP) != 0)
			trace_pointer(trace, walk);
		if (!stack_walk_step(walk, rule))
			break;
		trace_return(trace, walk);
	}
	trace->ended = num < max;
	trace->lost |=
	    walk->rare || walk->invented || (num < max && !walk->ended);
	return num - walk->invented;
}

static size_t
walk_traced(struct stack_trace *trace, uintptr_t pc, uintptr_t sp, uintptr_t fp,
    uintptr_t *frames, size_t max)
{
	struct stack_walk walk;
	uint64_t generation;
	size_t num = 0;
	int tries = 0;

	do {
		generation = frame_memo_now();
		trace->sp = sp;
		trace->pointer = LAYOUT_NO_POINTER;
		trace->num_returns = 0;
		trace->num_pointers = 0;
		trace->lost = false;
		if (stack_walk_begin(&walk, pc, sp, fp))
			num =
			    trace_frames(&walk, trace, generation, frames, max);
		stack_walk_end(&walk);
	} while (generation != frame_memo_now() && ++tries < 3);
	trace->lost |= tries > 0 || num == 0;
	return num;
}

/*
 * One address and position in the page can have several layouts: each after the
 * first is found by one more caller, which the previous layout has read.
 */
#define LAYOUTS_TRIED 4

struct ask {
	uintptr_t pc, sp, fp;
	uint64_t wanted;
	uint64_t key; /* of the layout */
	size_t limit; /* words from sp that can be read */
	size_t max;
	uint16_t flags;
};

static __attribute__((noinline)) uint32_t
walk_anew(const struct ask *ask)
{
	/*
	 * Only as large as needed: signal stacks have 8 KiB (SIGSTKSZ until
	 * glibc 2.34), of which the kernel's frame may take three.
	 */
	uintptr_t frames[ask->max];
	struct stack_trace trace;
	size_t num =
	    walk_traced(&trace, ask->pc, ask->sp, ask->fp, frames, ask->max);
	const struct mu_stack *layout = stack_layout_put(&trace);
	uint32_t unit;

	gone_modules_mark(frames, num);
	unit = stack_depot_put_walked(
	    frames, num, ask->flags, layout == NULL ? 0 : layout->reserved);
	if (unit != 0 && layout != NULL)
		stack_known_note(stack_layout_set(stack_layouts, ask->key),
		    ask->key, (uintptr_t)layout);
	return unit;
}

static void
note_known(const struct ask *ask, const struct mu_stack *layout, uint32_t unit)
{
	uint64_t hash = stack_layout_hash(stack_layouts, layout, ask->wanted,
	    ask->pc, ask->sp, ask->fp, ask->limit);

	if (hash != 0)
		stack_known_note(
		    stack_known_set(stack_layouts, hash), hash, unit);
}

/*
 * Read the stack by the layouts and look it up in the depot. 0: a walk is
 * needed, after this function has returned its frame.
 */
static __attribute__((noinline)) uint32_t
read_anew(struct ask *ask)
{
	const uintptr_t *stack = (const uintptr_t *)ask->sp;
	uintptr_t frames[LAYOUT_MOST + 1];
	const struct mu_stack *layout;
	uint32_t unit;
	size_t i, num;

	frames[0] = ask->pc - MU_UNWIND_CALL;
	for (i = 1; ask->limit != 0; i++) {
		layout = stack_layout_find(stack_layouts, ask->key);
		if (layout == NULL)
			break;
		num = stack_layout_read(
		    layout, ask->sp, ask->fp, ask->limit, frames, ask->max);
		if (num == 0)
			break;
		gone_modules_mark(frames, num);
		unit =
		    stack_depot_find(frames, num, ask->flags, layout->reserved);
		if (unit != 0) {
			note_known(ask, layout, unit);
			return unit;
		}
		if (i == LAYOUTS_TRIED || i >= num)
			break;
		ask->key = stack_layout_next_key(
		    ask->key, stack[stack_layout_in(layout)->offsets[i - 1]]);
	}
	return 0;
}

/* If the words of the first layout are unknown, try the other layouts. */
uint32_t
stack_capture_known_else(
    uintptr_t pc, uintptr_t sp, uintptr_t fp, uint64_t config)
{
	const struct stack_range *home = &stack_thread_memory.home;
	struct stack_layouts *all = stack_layouts;
	uint64_t wanted = stack_layout_wanted(config, frame_memo_now());
	uint64_t key = stack_layout_key(wanted, pc, sp), hash;
	size_t limit = (home->high - sp) / 8, i;
	const struct stack_layout *layout;
	const struct mu_stack *entry;
	uint32_t unit;

	if (!stack_range_has(home, sp))
		return 0;
	for (i = 0; i < LAYOUTS_TRIED; i++) {
		entry = stack_layout_find(all, key);
		if (entry == NULL)
			break;
		layout = stack_layout_in(entry);
		unit = 0;
		if (i > 0) {
			hash = stack_layout_hash(
			    all, entry, wanted, pc, sp, fp, limit);
			unit = (uint32_t)stack_known_get(
			    stack_known_set(all, hash), hash);
		}
		if (unit != 0)
			return unit;
		if (layout->reach > limit || i >= layout->num_returns)
			break;
		key = stack_layout_next_key(
		    key, ((const uintptr_t *)sp)[layout->offsets[i]]);
	}
	return 0;
}

uint32_t
stack_capture_unit_at(
    uintptr_t pc, uintptr_t sp, uintptr_t fp, size_t max, uint16_t flags)
{
	const struct stack_range *home = &stack_thread_memory.home;
	struct ask ask = { .pc = pc, .sp = sp, .fp = fp, .flags = flags };
	uint64_t config;
	uint32_t unit;

	ask.max = max > MU_STACK_MAX_FRAMES ? MU_STACK_MAX_FRAMES : max;
	if (max == 0 || stack_layouts == NULL || sp % 8 != 0)
		return MU_STACK_EMPTY;
	config = stack_layout_config(ask.max, flags);
	unit = stack_capture_known(pc, sp, fp, config);
	if (unit == 0)
		unit = stack_capture_known_else(pc, sp, fp, config);
	if (unit != 0)
		return unit;
	ask.wanted = stack_layout_wanted(config, frame_memo_now());
	ask.key = stack_layout_key(ask.wanted, pc, sp);
	if (stack_range_has(home, sp))
		ask.limit = (home->high - sp) / 8;
	unit = read_anew(&ask);
	return unit != 0 ? unit : walk_anew(&ask);
}
