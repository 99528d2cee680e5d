#include "lib/malloc_debug/entry/careful.h"

#include <errno.h>
#include <string.h>

#include "lib/malloc_debug/checks/block.h"
#include "lib/malloc_debug/checks/errors.h"
#include "lib/malloc_debug/checks/fill.h"
#include "lib/malloc_debug/checks/guards.h"
#include "lib/malloc_debug/checks/quarantine.h"
#include "lib/malloc_debug/entry/startup.h"
#include "lib/malloc_debug/leaktracer/leaktracer.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/state/real.h"

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

/* Note the request, if a later check compares it. */
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

bool
careful_record(const struct call *call, const void *block, size_t size)
{
	uint32_t stack = stack_for(call, size);

	if (stack == 0)
		return leaktracer_active;
	if (live_put(block, size, mu_shadow_word(stack, call->kind)))
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
		 * Without a word the begin of the allocator's block would be
		 * unknown.
		 */
		real.free(raw);
		return careful_bare(request);
	}
	if (recorder_options.fill_on_alloc != 0 && !request->zero)
		fill_on_alloc(block, 0, block_usable(block, live_word(block)));
	return block;
}

bool
careful_unknown(const struct call *call, const void *block)
{
	if (!recorder_options.verify_pointers || !recording_on ||
	    startup_missed() || recorder_inside())
		return false;
	error_unknown(call, block);
	return true;
}

uint32_t
careful_claim(const void *block)
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

	if (kind != MU_BLOCK_MALLOC && call->kind != MU_BLOCK_MALLOC &&
	    guards_alignment(block->begin, block->size, &alignment))
		wrong = wrong || alignment != call->alignment;
	if (wrong)
		error_mismatch(call, block, kind, alignment);
}

bool
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

void
careful_free_claimed(const struct call *call, void *block, uint32_t word)
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

void
careful_free(const struct call *call, void *block)
{
	uint32_t word = careful_claim(block);

	if (word == 0) {
		if (!careful_unknown(call, block))
			real.free(block);
		return;
	}
	if ((word & MU_SHADOW_FREED) != 0) {
		careful_freed_before(call, block, word);
		return;
	}
	if (careful_check(call, block, word))
		careful_free_claimed(call, block, word);
	else
		live_change(block, word | MU_SHADOW_FREED, word);
}

void
careful_freed_before(const struct call *call, const void *block, uint32_t word)
{
	struct error_block found = block_error(block, word);

	if (!recorder_inside())
		error_used_after_free(call, &found);
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
		careful_freed_before(call, block, word);
		return 0;
	}
	if (guards_around(word) && !guards_tag(block, GUARDS_LIVE, &tag)) {
		found = block_error(block, word);
		error_tag(call, &found, tag);
		return 0;
	}
	return block_usable(block, word);
}
