#include "lib/malloc_debug/entry/careful.h"

#include <errno.h>
#include <string.h>

#include "lib/malloc_debug/checks/block.h"
#include "lib/malloc_debug/checks/errors.h"
#include "lib/malloc_debug/checks/fill.h"
#include "lib/malloc_debug/checks/guards.h"
#include "lib/malloc_debug/checks/quarantine.h"
#include "lib/malloc_debug/entry/disable.h"
#include "lib/malloc_debug/entry/startup.h"
#include "lib/malloc_debug/leaktracer/leaktracer.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/state/real.h"
#include "lib/malloc_debug/unwind/stack_depot.h"

#define MALLOC_ALIGNMENT 16 /* of glibc and the others */

/* A request of 0 bytes counts as 1, as in Android's malloc debug. */
static bool
bytes_wanted(const struct request *request, size_t *size)
{
	if (__builtin_mul_overflow(request->members, request->size, size))
		return false;
	*size += *size == 0;
	return true;
}

static void *
allocate(const struct request *request, size_t size)
{
	if (size < real.least)
		size = real.least;
	if (request->alignment > MALLOC_ALIGNMENT)
		return real.memalign(request->alignment, size);
	return request->zero ? real.calloc(1, size) : real.malloc(size);
}

static void *
no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

void *
careful_bare(const struct request *request)
{
	size_t size;
	void *block;

	if (!bytes_wanted(request, &size))
		return no_memory();
	block = allocate(request, size);
	if (block != NULL && recorder_options.verify_pointers && recording_on &&
	    !live_put(block, size, mu_shadow_word(RECORDER_BARE, 0)))
		recording_stop();
	return block;
}

/* Note the request, if a later check needs it. */
static void
note(const struct call *call, const struct request *request, void *block,
    size_t size)
{
	bool is_new = call->kind != MU_BLOCK_MALLOC;
	enum guards_empty empty = GUARDS_NOT_EMPTY;

	if (request->members * request->size == 0)
		empty = request->zero                ? GUARDS_EMPTY_ZERO
		    : recorder_options.fill_on_alloc ? GUARDS_EMPTY_FILLED
						     : GUARDS_EMPTY;
	guards_note(block, size, is_new ? request->alignment : 0, empty);
}

/* 0: do not record this block. */
static uint32_t
stack_for(const struct call *call, size_t size)
{
	uint32_t tag = 0;

	/* In that state the entry point has drawn the sample. */
	if (recording_way == RECORDING_SAMPLED)
		return stack_id_sampled(call->start, size);
	if (!leaktracer_active)
		return stack_id(call->start, size);
	if (leaktracer_wants())
		tag = leaktracer_tag(
		    stack_id_captured(call->start, leaktracer_frames));
	return tag == 0 && recording_all ? stack_id_off : tag;
}

/* Give BLOCK its word; returns false if it got none. */
static bool
careful_record(const struct call *call, const void *block, size_t size)
{
	uint32_t stack = stack_for(call, size);
	enum mu_block_kind kind = disable_kind(call->kind);

	if (stack == 0 && kind == MU_BLOCK_IGNORED)
		stack = stack_id_off;
	if (stack == 0)
		return leaktracer_active;
	if (live_put(block, size, mu_shadow_word(stack, kind)))
		return true;
	recording_stop();
	return false;
}

void *
careful_alloc(const struct call *call, const struct request *request)
{
	size_t size, total, offset = guards_offset(request->alignment);
	void *raw, *block;

	if (!bytes_wanted(request, &size) ||
	    !guards_total(size, offset, &total))
		return no_memory();
	raw = allocate(request, total);
	if (raw == NULL)
		return NULL;
	block = guards_dress(raw, offset, size);
	note(call, request, block, size);
	if (!careful_record(call, block, size)) {
		if (offset == 0)
			return block;
		/*
		 * Without a word the start of the allocator's block would not
		 * be known.
		 */
		real.free(raw);
		return careful_bare(request);
	}
	if (recorder_options.fill_on_alloc != 0 && !request->zero)
		fill_on_alloc(block, 0, block_usable(block, live_word(block)));
	return block;
}

/* For a pointer without a word: returns true if it was reported. */
static bool
careful_unknown(const struct call *call, const void *block)
{
	if (!recorder_options.verify_pointers || !recording_on ||
	    startup_missed() || recorder_inside())
		return false;
	error_unknown(call, block);
	return true;
}

/*
 * Mark BLOCK freed, so that only one of two threads that free it at once
 * succeeds. Returns the word as it was before; with the mark already set if the
 * block was freed before; 0 if there is no word.
 */
static uint32_t
claim(const void *block)
{
	uint32_t word, freed;

	do {
		word = live_word(block);
		if (word == 0 || (word & MU_SHADOW_FREED) != 0)
			return word;
		freed = word | MU_SHADOW_FREED;
		/* The record will be reused for another block. */
		if (leaktracer_active)
			freed =
			    mu_shadow_word(stack_id_off, mu_shadow_kind(word)) |
			    MU_SHADOW_FREED;
	} while (!live_change(block, word, freed));
	return word;
}

/*
 * Sized forms pass 0 for a block that is recorded with 1, as 0 bytes were
 * requested.
 */
static void
check_call(const struct call *call, const struct error_block *block,
    enum mu_block_kind kind)
{
	size_t alignment = call->alignment;
	size_t told = call->size + (call->size == 0);
	bool wrong = kind != call->kind || (call->sized && told != block->size);

	if (kind == MU_BLOCK_IGNORED)
		return;
	if (kind != MU_BLOCK_MALLOC && call->kind != MU_BLOCK_MALLOC &&
	    guards_alignment(block->begin, block->size, &alignment))
		wrong = wrong || alignment != call->alignment;
	if (wrong)
		error_mismatch(call, block, kind, alignment);
}

/*
 * Check BLOCK before it is released. Returns false if its head is damaged: do
 * not free it.
 */
static bool
careful_check(const struct call *call, const void *block, uint32_t word)
{
	struct error_block found = block_error(block, word);
	uint32_t tag = 0;

	if (mu_shadow_stack(word) == RECORDER_BARE || recorder_inside())
		return true;
	if (guards_around(word)) {
		if (!guards_tag(block, GUARDS_LIVE, &tag)) {
			error_tag(call, &found, tag);
			return false;
		}
		error_check_guards(call, &found);
	}
	if (recorder_options.verify_pointers)
		check_call(call, &found, mu_shadow_kind(word));
	return true;
}

/* Free BLOCK, which had WORD before claim(). */
static void
free_claimed(const struct call *call, void *block, uint32_t word)
{
	uint32_t stack = 0;
	size_t usable;

	leaktracer_untag(mu_shadow_stack(word), block, live_size(block));
	if (recorder_options.fill_on_free == 0 || !recording_all) {
		block_release(block);
		return;
	}
	usable = block_usable(block, word);
	fill_on_free(block, usable);
	if (recorder_options.free_track == 0 ||
	    mu_shadow_stack(word) == RECORDER_BARE) {
		block_release(block);
		return;
	}
	guards_set_tag(block, GUARDS_FREED);
	if (recorder_options.free_track_frames != 0 &&
	    usable >= recorder_options.min_size &&
	    usable <= recorder_options.max_size)
		stack = stack_id_captured(
		    call->start, recorder_options.free_track_frames);
	quarantine_put(block, stack);
}

static void
freed_before(const struct call *call, const void *block, uint32_t word)
{
	struct error_block found = block_error(block, word);

	if (!recorder_inside())
		error_used_after_free(call, &found);
}

void
careful_free(const struct call *call, void *block)
{
	uint32_t word = claim(block);

	if (word == 0) {
		if (!careful_unknown(call, block))
			real.free(block);
		return;
	}
	if ((word & MU_SHADOW_FREED) != 0) {
		freed_before(call, block, word);
		return;
	}
	if (careful_check(call, block, word))
		free_claimed(call, block, word);
	else
		live_change(block, word | MU_SHADOW_FREED, word);
}

size_t
careful_usable_size(const struct call *call, void *block)
{
	uint32_t word = live_word(block), tag = 0;
	struct error_block found;

	if (word == 0)
		return careful_unknown(call, block)
		    ? 0
		    : real.malloc_usable_size(block);
	if ((word & MU_SHADOW_FREED) != 0) {
		freed_before(call, block, word);
		return 0;
	}
	if (guards_around(word) && !guards_tag(block, GUARDS_LIVE, &tag)) {
		found = block_error(block, word);
		error_tag(call, &found, tag);
		return 0;
	}
	if (guards_around(word) &&
	    guards_empty(block, live_size(block)) != GUARDS_NOT_EMPTY)
		return 0; /* its byte counts as guard */
	return block_usable(block, word);
}

/*
 * realloc() on the careful path. It copies if the old bytes are checked or kept
 * (guards, blocks held back); otherwise the allocator resizes and the words
 * follow. A failure leaves the block and its record unchanged.
 */

/*
 * The size to request for SIZE bytes without a front guard. Returns false with
 * ENOMEM on overflow.
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

	enum mu_block_kind kind = disable_kind(call->kind);

	if (stack == 0 && kind == MU_BLOCK_IGNORED)
		stack = stack_id_off;
	if (stack != 0 && !live_put(block, size, mu_shadow_word(stack, kind)))
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
	word = claim(block);
	if (word == 0 || (word & MU_SHADOW_FREED) != 0)
		return copy; /* another thread has freed it */
	if (leaktracer_active)
		word = record_moved(copy, word);
	free_claimed(call, block, word);
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
		freed_before(call, block, word);
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
