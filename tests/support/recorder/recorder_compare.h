/*
 * The walk of the heap against the record, in a copy of the process.
 */
#ifndef TESTS_SUPPORT_RECORDER_RECORDER_COMPARE_H
#define TESTS_SUPPORT_RECORDER_RECORDER_COMPARE_H

#include <stdarg.h>
#include <stdio.h>

#include "heapwalk/heaps/table/table.h"
#include "lib/state/caller.h"
#include "tests/support/heaps/self_snapshot.h"
#include "tests/support/recorder/recorded_table.h"
#include "tests/support/recorder/recorder.h"
#include "tests/support/recorder/recorder_threads.h"

#define TOLD_BLOCKS 8 /* disagreements that are told one by one */
#define LOOK_STACK ((size_t)1 << 20)

/* Shared with the copy. */
struct look {
	struct recorder_row row;
	bool ended; /* the row is whole */
	bool unproven;
	char program[32];
	const char *when;
	size_t calls;
	pid_t pid;
	int log;
	size_t num_threads;
	struct mu_thread threads[TOLD_MAX];
	struct mu_caller caller;
	struct mu_image image;
	struct self_snapshot self;
	struct mu_heap heap;
	struct mu_range own[66];
	size_t told_blocks;
	char stack[LOOK_STACK] __attribute__((aligned(16)));
};

static inline void __attribute__((format(printf, 2, 3)))
look_say(const struct look *look, const char *format, ...)
{
	char line[512];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (length > 0)
		mu_sys_write(look->log, line,
		    (size_t)length < sizeof(line) ? (size_t)length
						  : sizeof(line) - 1);
}

static inline void
look_difference(
    struct look *look, const char *what, uintptr_t address, size_t size)
{
	const uintptr_t *words;

	if (look->told_blocks++ >= TOLD_BLOCKS)
		return;
	words = mu_snapshot_view(&look->self.snap, address - 16, 48);
	look_say(look, "  %s: %s: %s %#lx, %zu bytes", look->program,
	    look->when, what, (long)address, size);
	if (words != NULL)
		look_say(look, ": header %#lx %#lx, then %#lx %#lx %#lx",
		    (long)words[0], (long)words[1], (long)words[2],
		    (long)words[3], (long)words[4]);
	look_say(look, "\n");
}

static inline bool
look_at_block(void *ctx, const struct mu_block *block)
{
	const struct recorded *entry = recorded_find(block->range.begin);
	size_t size = mu_range_size(block->range);
	struct look *look = ctx;

	look->row.walked++;
	if (entry == NULL) {
		look->row.extra++;
		look_difference(look, "extra", block->range.begin, size);
	} else if (entry->size != size) {
		look->row.resized++;
		look_difference(look, "walked as", block->range.begin, size);
		look_difference(
		    look, "recorded as", block->range.begin, entry->size);
	}
	return true;
}

static inline void
look_at_record(struct look *look)
{
	const struct recorded *entry;
	struct mu_block block;
	uintptr_t address;
	size_t slot = 0;

	while ((entry = recorded_each(&slot)) != NULL) {
		address = ~entry->hidden;
		look->row.recorded++;
		if (mu_blocks_find(&look->heap.blocks, address, &block) &&
		    block.range.begin == address)
			continue;
		if (look->unproven &&
		    !mu_ranges_has(&look->heap.owned, address))
			continue;
		look->row.missing++;
		look_difference(look, "missing", address, entry->size);
	}
}

/* A snapshot as the program, not the copy, is; what is ours is left out. */
static inline enum mu_status
look_take(struct look *look)
{
	struct self_snapshot *self = &look->self;
	enum mu_status status =
	    self_snapshot_take(self, look->threads, look->num_threads);
	size_t i, count = 0;

	self->snap.pid = look->pid;
	for (i = 0; i < self->snap.num_own; i++)
		look->own[count++] = self->own[i];
	look->own[count++] = (struct mu_range) { (uintptr_t)recorded_slots,
		(uintptr_t)recorded_slots + RECORDED_SIZE };
	look->own[count++] =
	    (struct mu_range) { (uintptr_t)look, (uintptr_t)(look + 1) };
	self->snap.own = look->own;
	self->snap.num_own = count;
	return status;
}

/* What cannot be read is no agreement either. */
static inline bool
look_agrees(const struct look *look)
{
	const struct recorder_row *row = &look->row;

	if (row->missing + row->extra + row->resized > 0)
		return false;
	if (row->unproven > 0)
		return look->unproven && row->status == MU_PARTIAL;
	return row->status == MU_OK;
}

/* One line that can be added up, by column; for eyes only if it must be. */
static inline void
look_report(const struct look *look)
{
	const struct recorder_row *row = &look->row;

	if (look->log == 2 && look_agrees(look))
		return;
	look_say(look,
	    "ROW %s %d %s %zu %zu %zu %zu %zu %zu %zu %zu %zu %s; %s\n",
	    look->program, (int)look->pid, look->when, look->calls,
	    row->threads, row->walked, row->recorded, row->missing, row->extra,
	    row->resized, row->own, row->unproven,
	    mu_status_name((enum mu_status)row->status), look->self.why.text);
}

static inline int
look_in_copy(void *arg)
{
	struct look *look = arg;
	enum mu_status status;

	status = look_take(look);
	if (status == MU_OK)
		status = mu_heaps_list(&look->heap, &look->self.snap,
		    &look->self.arena, &look->self.why);
	look->row.status = status;
	look->row.unproven = look->heap.unproven_bytes;
	if (status == MU_OK || status == MU_PARTIAL) {
		mu_blocks_each(&look->heap.blocks, look_at_block, look);
		look_at_record(look);
		if (look->row.walked != look->heap.blocks.count)
			look->row.extra++;
	}
	look_report(look);
	look->ended = true;
	mu_sys_exit(0);
	return 0;
}

#endif
