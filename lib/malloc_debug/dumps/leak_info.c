/*
 * The functions that return the recorder's data: see
 * memunreachable/malloc_debug.h.
 */
#include "memunreachable/malloc_debug.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "lib/malloc_debug/dumps/heap_dump.h"
#include "lib/malloc_debug/dumps/leak_blocks.h"
#include "lib/malloc_debug/dumps/leak_estimate.h"
#include "lib/malloc_debug/shadow/recorder.h"
#include "lib/malloc_debug/unwind/script_lines.h"
#include "lib/malloc_debug/unwind/stack_depot.h"
#include "mu/sys.h"

#define HEAD_BYTES (2 * sizeof(size_t))

/* False for blocks allocated while capturing was off. */
static bool
is_captured(const struct recorded_block *block)
{
	return leak_estimate_captured(block->stack);
}

static void
write_record(
    uint8_t *record, const struct leak_block *block, size_t most_frames)
{
	size_t head[2] = { block->size, block->count };
	size_t frames = block->trace == NULL ? 0 : script_calls(block->trace),
	       i;
	uintptr_t address;

	if (block->child && block->size < MALLOC_LEAK_INFO_CHILD)
		head[0] |= MALLOC_LEAK_INFO_CHILD;
	memcpy(record, head, sizeof(head));
	if (frames > most_frames)
		frames = most_frames;
	for (i = 0; i < frames; i++) {
		address = (uintptr_t)mu_frame_address(block->trace->frames[i]);
		memcpy(record + sizeof(head) + i * sizeof(address), &address,
		    sizeof(address));
	}
}

static void
write_records(const struct leak_blocks *blocks, uint8_t **info,
    size_t *overall_size, size_t *info_size, size_t *total_memory,
    size_t *backtrace_size)
{
	size_t frames = recorder_options.frames;
	size_t bytes = HEAD_BYTES + frames * sizeof(uintptr_t), i;
	uint8_t *records = calloc(blocks->count, bytes);

	if (records == NULL) {
		recorder_say("get_malloc_leak_info: No memory left.");
		return;
	}
	for (i = 0; i < blocks->count; i++) {
		write_record(records + i * bytes, &blocks->blocks[i], frames);
		*total_memory +=
		    blocks->blocks[i].size * blocks->blocks[i].count;
	}
	*info = records;
	*overall_size = blocks->count * bytes;
	*info_size = bytes;
	*backtrace_size = frames;
}

void
get_malloc_leak_info(uint8_t **info, size_t *overall_size, size_t *info_size,
    size_t *total_memory, size_t *backtrace_size)
{
	struct leak_blocks blocks;

	if (info == NULL || overall_size == NULL || info_size == NULL ||
	    total_memory == NULL || backtrace_size == NULL) {
		recorder_say("get_malloc_leak_info: At least one invalid "
			     "parameter.");
		return;
	}
	*info = NULL;
	*overall_size = *info_size = *total_memory = *backtrace_size = 0;
	if (!recorder_options.backtrace) {
		recorder_say("get_malloc_leak_info: Allocations not being "
			     "tracked, to enable set the option 'backtrace'.");
		return;
	}
	recorder_enter();
	leak_blocks_take(&blocks, is_captured);
	leak_blocks_merge(&blocks);
	leak_estimate(&blocks);
	if (blocks.short_of_memory)
		recorder_say("get_malloc_leak_info: No memory left.");
	else if (blocks.count > 0)
		write_records(&blocks, info, overall_size, info_size,
		    total_memory, backtrace_size);
	leak_blocks_close(&blocks);
	recorder_leave();
}

void
free_malloc_leak_info(uint8_t *info)
{
	recorder_enter();
	free(info);
	malloc_trim(0);
	recorder_leave();
}

/* Android's four lines, with the variables of this library. */
static void
write_how_to(int fd)
{
	static const char text[] =
	    "Native heap dump not available. To enable, start the program "
	    "so:\n"
	    "# LD_PRELOAD=libmemunreachable-malloc-debug.so.0 \\\n"
	    "#     LIBC_DEBUG_MALLOC_OPTIONS=backtrace \\\n"
	    "#     PROGRAM\n";

	mu_sys_write(fd, text, sizeof(text) - 1);
}

bool
write_malloc_leak_info(FILE *file)
{
	int error;

	if (file == NULL || fileno(file) < 0) {
		errno = EINVAL;
		return false;
	}
	if (fflush(file) != 0)
		return false;
	if (!recorder_options.backtrace) {
		write_how_to(fileno(file));
		errno = ENOTSUP;
		return false;
	}
	recorder_enter();
	error = heap_dump_write(fileno(file));
	recorder_leave();
	if (error != 0)
		errno = error;
	return error == 0;
}

ssize_t
malloc_backtrace(void *pointer, uintptr_t *frames, size_t frame_count)
{
	const struct mu_stack *stack;
	struct recorded_block block;
	size_t i;

	if (!recorder_options.backtrace || pointer == NULL ||
	    !recorder_find(pointer, &block) || block.freed)
		return 0;
	stack = stack_depot_get(block.stack);
	if (stack == NULL)
		return 0;
	if (frame_count > script_calls(stack))
		frame_count = script_calls(stack);
	for (i = 0; i < frame_count; i++)
		frames[i] = (uintptr_t)mu_frame_address(stack->frames[i]);
	return (ssize_t)frame_count;
}
