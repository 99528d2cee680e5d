/*
 * One entry for each block, in the order of leak_blocks.h. Android closes the
 * standard streams first, so that their buffers are not listed. The program may
 * still need them, so the buffers are recognised by their addresses.
 */
#include "lib/malloc_debug/dumps/leak_list.h"

#include <stdio.h>

#include "lib/malloc_debug/checks/report.h"
#include "lib/malloc_debug/dumps/leak_blocks.h"
#include "lib/malloc_debug/shadow/recorder.h"

#ifdef __GLIBC__
static bool
is_buffer_of(const FILE *stream, uintptr_t begin)
{
	return stream != NULL && (uintptr_t)stream->_IO_buf_base == begin;
}
#else
static bool
is_buffer_of(const FILE *stream, uintptr_t begin)
{
	(void)stream;
	(void)begin;
	return false;
}
#endif

static bool
is_leak(const struct recorded_block *block)
{
	return !is_buffer_of(stdin, block->begin) &&
	    !is_buffer_of(stdout, block->begin) &&
	    !is_buffer_of(stderr, block->begin);
}

void
leak_list_at_exit(void)
{
	struct leak_blocks leaks;
	struct report report;
	size_t i;

	if (!recorder_options.leak_track)
		return;
	leak_blocks_take(&leaks, is_leak);
	report_begin(&report);
	for (i = 0; i < leaks.count; i++) {
		report_line(&report,
		    "+++ %s leaked block of size %zu at 0x%zx (leak %zu of %zu)",
		    recorder_program(), leaks.blocks[i].size,
		    (size_t)leaks.blocks[i].begin, i + 1, leaks.count);
		report_stack(&report,
		    "Backtrace at time of allocation:", leaks.blocks[i].stack);
	}
	if (leaks.short_of_memory)
		report_line(&report, "out of memory: some leaks are missing");
	report_end(&report);
	leak_blocks_close(&leaks);
}
