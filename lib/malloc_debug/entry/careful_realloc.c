/*
 * realloc() on the careful path. It copies if the old bytes are checked or kept
 * (guards, blocks held back); otherwise the allocator resizes and the words
 * follow. A failure leaves the block and its record unchanged.
 */
#include <errno.h>
#include <string.h>

#include "lib/malloc_debug/checks/block.h"
#include "lib/malloc_debug/checks/errors.h"
#include "lib/malloc_debug/checks/fill.h"
#include "lib/malloc_debug/checks/guards.h"
#include "lib/malloc_debug/entry/careful.h"
#include "lib/malloc_debug/leaktracer/leaktracer.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/state/real.h"
#include "lib/malloc_debug/unwind/stack_depot.h"

/*
 * Size to request for SIZE bytes without a front guard. False and ENOMEM: it
 * overflows.
 */
static bool
bytes_asked(size_t size, size_t *total)
{
	if (!guards_total(size, 0, total)) {
		errno = ENOMEM;
		return false;
	}
	if (*total < real.least)
		*total = real.least;
	return true;
}

/* The stack for a resized block whose word was WORD. */
static uint32_t
stack_again(const struct call *call, uint32_t word, size_t size)
{
	uint32_t stack = mu_shadow_stack(word), fresh = 0;

	if (stack == RECORDER_BARE &&
	    (recorder_options.front_guard != 0 ||
		recorder_options.rear_guard != 0))
		return stack;
	if (!leaktracer_active)
		return stack_id(call->start, size);
	if (leaktracer_wants())
		fresh = stack_id_captured(call->start, leaktracer_frames);
	return leaktracer_retag(stack, fresh);
}

static void
record_again(
    const struct call *call, const void *block, uint32_t word, size_t size)
{
	uint32_t stack = stack_again(call, word, size);

	if (stack != 0 &&
	    !live_put(block, size, mu_shadow_word(stack, call->kind)))
		recording_stop();
}

static void *
by_allocator(const struct call *call, void *block, uint32_t word, size_t size)
{
	size_t old = live_size(block), before = 0, total;
	void *moved;

	if (!bytes_asked(size, &total))
		return NULL;
	if (recorder_options.fill_on_alloc != 0)
		before = block_usable(block, word);
	live_take(block);
	moved = real.realloc(block, total);
	if (moved == NULL) {
		live_put(block, old, word);
		return NULL;
	}
	guards_note(moved, size, 0, GUARDS_NOT_EMPTY);
	record_again(call, moved, word, size);
	word = live_word(moved);
	if (word != 0 && recorder_options.fill_on_alloc != 0)
		fill_on_alloc(moved, before, block_usable(moved, word));
	return moved;
}

static void *
in_place(const struct call *call, void *block, uint32_t word, size_t size)
{
	if (guards_around(word))
		guards_resize(block, size);
	guards_note(block, size, 0, GUARDS_NOT_EMPTY);
	record_again(call, block, word, size);
	return block;
}

/* LeakTracer's record follows the block, unless a new one was made. */
static uint32_t
record_moved(const void *copy, uint32_t word)
{
	uint32_t fresh = live_word(copy), stack = mu_shadow_stack(word);
	enum mu_block_kind kind = mu_shadow_kind(fresh);

	if (fresh == 0 || stack_depot_slot_get(stack) == NULL ||
	    stack_depot_slot_get(mu_shadow_stack(fresh)) != NULL)
		return word;
	live_change(copy, fresh, mu_shadow_word(stack, kind));
	return mu_shadow_word(stack_id_off, mu_shadow_kind(word));
}

static void *
by_copy(const struct call *call, void *block, uint32_t word, size_t size)
{
	struct request request = { .members = 1, .size = size };
	size_t usable = block_usable(block, word);
	void *copy = careful_alloc(call, &request);

	if (copy == NULL)
		return NULL;
	memcpy(copy, block, usable < size ? usable : size);
	word = careful_claim(block);
	if (word == 0 || (word & MU_SHADOW_FREED) != 0)
		return copy; /* another thread has freed it */
	if (leaktracer_active)
		word = record_moved(copy, word);
	careful_free_claimed(call, block, word);
	return copy;
}

static void *
unknown(const struct call *call, void *block, size_t size)
{
	size_t total;
	void *moved;

	if (careful_unknown(call, block) || !bytes_asked(size, &total))
		return NULL;
	moved = real.realloc(block, total);
	if (moved != NULL && recording_on && !recorder_inside() &&
	    recorder_options.front_guard == 0 &&
	    recorder_options.rear_guard == 0) {
		guards_note(moved, size, 0, GUARDS_NOT_EMPTY);
		careful_record(call, moved, size);
	}
	return moved;
}

void *
careful_realloc(const struct call *call, void *block, size_t size)
{
	uint32_t word = live_word(block);

	if (word == 0)
		return unknown(call, block, size);
	if ((word & MU_SHADOW_FREED) != 0) {
		careful_freed_before(call, block, word);
		return NULL;
	}
	if (!careful_check(call, block, word))
		return NULL;
	if (!guards_around(word) && recorder_options.free_track == 0)
		return by_allocator(call, block, word, size);
	if (size <= live_size(block))
		return in_place(call, block, word, size);
	return by_copy(call, block, word, size);
}
