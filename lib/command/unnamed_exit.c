#include "lib/command/unnamed_exit.h"

#include <string.h>

#include "mu/arch/cpu.h"
#include "mu/arch/exit.h"
#include "mu/sys.h"

#define FRAMES ((size_t)64 << 10) /* upper limit for exit()'s frames, bytes */
#define CALLS_MAX 512

/* Size of exit(), and words of its frame: see lib/state/exit_stack.c. */
#define EXIT_BYTES 64
#define EXIT_WORDS 8

#define HANDLERS_BYTES 1024 /* of the function that calls the handlers */

/* A word of the stack that is the return address of a direct call. */
struct call {
	size_t at; /* its index */
	uintptr_t word, target;
	bool passes_result;  /* of main() */
	bool calls_handlers; /* if it is in exit() */
};

struct frames {
	struct mu_snapshot *snap;
	struct mu_thread *thread;
	uintptr_t begin, *words;
	size_t num_words;
	struct call calls[CALLS_MAX];
	size_t num_calls;
};

/* A function that saves all registers, as the one that calls the handlers. */
static bool
saves_all(const struct frames *frames, uintptr_t function)
{
	char code[MU_SAVING_BYTES];

	return mu_sys_read_memory(frames->thread->tid, function, code,
		   sizeof(code)) == sizeof(code) &&
	    mu_arch_saves_all((uintptr_t)code);
}

static bool
read_call(const struct frames *frames, uintptr_t word, struct call *call)
{
	char code[MU_RESULT_CALL_BYTES];
	uintptr_t begin = word - sizeof(code);
	uintptr_t end = (uintptr_t)code + sizeof(code);
	const struct mu_mapping *mapping =
	    mu_snapshot_mapping(frames->snap, begin);
	uintptr_t target;

	if (mapping == NULL || !mapping->executable || mapping->inode == 0 ||
	    mu_sys_read_memory(
		frames->thread->tid, begin, code, sizeof(code)) != sizeof(code))
		return false;
	target = mu_arch_called(end);
	if (target == 0)
		return false;
	call->word = word;
	call->target = target - end + word;
	call->passes_result = mu_arch_calls_with_result(end, target);
	call->calls_handlers = saves_all(frames, call->target);
	return mu_range_has(mapping->range, call->target);
}

static bool
read_frames(struct frames *frames, struct mu_arena *arena)
{
	size_t i, size = FRAMES;
	ssize_t n;

	frames->begin = (frames->thread->sp + 7) & ~(uintptr_t)7;
	frames->words =
	    mu_arena_alloc(arena, size / sizeof(uintptr_t), sizeof(uintptr_t));
	if (frames->words == NULL)
		return false;
	n = mu_sys_read_memory(
	    frames->thread->tid, frames->begin, frames->words, size);
	frames->num_words = n > 0 ? (size_t)n / sizeof(uintptr_t) : 0;
	for (i = 0; i < frames->num_words && frames->num_calls < CALLS_MAX; i++)
		if (read_call(frames, frames->words[i],
			&frames->calls[frames->num_calls]))
			frames->calls[frames->num_calls++].at = i;
	return frames->num_calls > 0;
}

/*
 * INNER is in exit(), at EXIT. Its caller's registers, which may hold pointers,
 * were saved below INNER, unless main() has returned.
 */
static uintptr_t
begin_of(const struct frames *frames, const struct call *inner, uintptr_t exit)
{
	const struct call *outer, *end = frames->calls + frames->num_calls;

	for (outer = inner + 1; outer < end; outer++) {
		if (outer->at - inner->at > EXIT_WORDS)
			break;
		if (outer->target == exit && outer->passes_result)
			return frames->begin +
			    (outer->at + 1) * sizeof(uintptr_t);
	}
	return inner->at < MU_CALLEE_SAVED
	    ? 0
	    : frames->begin + (inner->at - MU_CALLEE_SAVED) * sizeof(uintptr_t);
}

/*
 * In a stripped program: the function that calls the handlers is the one that
 * has called _exit(), which has no frame.
 */
static bool
calls_exit_handlers(const struct frames *frames, const struct call *call)
{
	uintptr_t last = frames->words[0];

	return last > call->target && last - call->target <= HANDLERS_BYTES;
}

/* The function that a call on the stack has begun, and WORD is in; 0: none. */
static uintptr_t
function_of(const struct frames *frames, const struct call *inner)
{
	const struct call *outer, *end = frames->calls + frames->num_calls;

	for (outer = inner + 1; outer < end; outer++)
		if (outer->at - inner->at <= EXIT_WORDS &&
		    outer->target < inner->word &&
		    inner->word - outer->target <= EXIT_BYTES)
			return outer->target;
	return 0;
}

void
mu_unnamed_exit_find(
    struct mu_snapshot *snap, struct mu_thread *thread, struct mu_arena *arena)
{
	struct frames *frames = mu_arena_alloc(arena, 1, sizeof(*frames));
	const struct call *call;
	uintptr_t begin = 0;

	if (frames == NULL)
		return;
	*frames = (struct frames) { .snap = snap, .thread = thread };
	if (!read_frames(frames, arena))
		return;
	for (call = frames->calls; call < frames->calls + frames->num_calls;
	     call++) {
		if (!call->calls_handlers || !calls_exit_handlers(frames, call))
			continue;
		begin = begin_of(frames, call, function_of(frames, call));
		break;
	}
	/* The red zone below it counts as alive, too. */
	if (begin != 0)
		thread->sp = begin + MU_RED_ZONE;
}
