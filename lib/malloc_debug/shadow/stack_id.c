/*
 * A stack for a block: size filters, sampling, the switch; then the depot.
 */
#include "lib/malloc_debug/shadow/stack_id.h"

#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/shadow/sampling.h"
#include "lib/malloc_debug/unwind/gone_modules.h"
#include "lib/malloc_debug/unwind/python_frames.h"
#include "lib/malloc_debug/unwind/stack_depot.h"
#include "lib/malloc_debug/unwind/stack_layouts.h"

uint32_t stack_id_off = MU_STACK_OFF;

#define NO_SIZE                \
	{                      \
		SIZE_MAX, 0, 0 \
	}

struct stack_id_simple stack_id_simple = NO_SIZE;

static uint32_t
empty(void)
{
	return recorder_child ? MU_STACK_EMPTY_CHILD : MU_STACK_EMPTY;
}

static size_t
most_frames(size_t max)
{
	return max > MU_STACK_MAX_FRAMES ? MU_STACK_MAX_FRAMES : max;
}

static uint16_t
flags_now(void)
{
	return recorder_child ? MU_STACK_CHILD : 0;
}

/* Python's calls may leave no frame on the stack that tells them apart. */
static bool
wants_python(void)
{
	return recorder_options.backtrace_python && python_frames_there;
}

/* The compiler's unwinder may allocate, and takes locks of the loader. */
static uint32_t
captured_in_full(struct stack_start start, size_t max, uint16_t flags)
{
	uintptr_t frames[MU_STACK_MAX_FRAMES];
	size_t count;

	recorder_enter();
	count = stack_capture(start, true, frames, max);
	recorder_leave();
	gone_modules_mark(frames, count);
	return stack_depot_put(frames, count, flags);
}

static uint32_t
captured(struct stack_start start, size_t max)
{
	uint16_t flags = flags_now();
	uint32_t unit;

	max = most_frames(max);
	unit = recorder_options.backtrace_full
	    ? captured_in_full(start, max, flags)
	    : stack_capture_unit(start, max, flags);
	if (unit >= MU_STACK_FIRST && wants_python())
		unit = python_frames_put(unit, max);
	return unit == MU_STACK_EMPTY ? empty() : unit;
}

uint32_t
stack_id_captured(struct stack_start start, size_t max)
{
	uint32_t unit = max == 0 ? 0 : captured(start, max);

	return unit == 0 ? empty() : unit;
}

uint32_t
stack_id_sampled(struct stack_start start, size_t size)
{
	uint32_t unit;

	if (!__atomic_load_n(&recorder_capturing, __ATOMIC_RELAXED))
		return stack_id_off;
	if (size < recorder_options.min_size ||
	    size > recorder_options.max_size)
		return empty();
	unit = captured(start, recorder_options.frames);
	if (unit == 0)
		recording_stop();
	return unit;
}

uint32_t
stack_id(struct stack_start start, size_t size)
{
	if (recorder_options.sample_bytes != 0 && !sampling_wants(size))
		return stack_id_off;
	return stack_id_sampled(start, size);
}

static void
choose(bool capturing)
{
	static const struct stack_id_simple none = NO_SIZE;
	const struct debug_options *options = &recorder_options;

	if (options->backtrace_full || wants_python() ||
	    options->sample_bytes != 0 || options->frames == 0 ||
	    options->min_size > options->max_size || !capturing) {
		stack_id_simple = none;
		return;
	}
	stack_id_simple = (struct stack_id_simple) {
		.least = options->min_size,
		.span = options->max_size - options->min_size,
		.config = stack_layout_config(
		    most_frames(options->frames), flags_now()),
	};
}

/*
 * Concurrent readers may see a mix of old and new values: then a stack more or
 * less is captured, but never a wrong one. The last writer has seen the last
 * change.
 */
void
stack_id_choose(void)
{
	bool capturing;

	do {
		capturing =
		    __atomic_load_n(&recorder_capturing, __ATOMIC_SEQ_CST);
		choose(capturing);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (capturing !=
	    __atomic_load_n(&recorder_capturing, __ATOMIC_SEQ_CST));
}

void
stack_id_fork_child(void)
{
	recorder_child = true;
	stack_id_off = MU_STACK_OFF_CHILD;
	stack_id_choose();
}
