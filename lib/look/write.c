#include "lib/look/write.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heapwalk/fold/known.h"
#include "heapwalk/graph/parts.h"
#include "heapwalk/graph/references.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/snapshot.h"
#include "lib/look/sections.h"
#include "lib/look/words.h"
#include "lib/writers/report.h"
#include "mu/sort.h"
#include "mu/sys.h"

#define FRAMES ((size_t)256) /* of a stack */

static uint64_t
flag(bool set, uint64_t value)
{
	return set ? value : 0;
}

static void
put_subject(struct mu_look_writer *writer, const struct mu_snapshot *snap)
{
	struct mu_bytes_out *out = &writer->out;
	const struct mu_reach *reach = &snap->reach;

	mu_put_number(out, MU_LOOK_SUBJECT);
	mu_put_number(out, sizeof(uintptr_t));
	mu_put_number(out, snap->glibc_major);
	mu_put_number(out, snap->glibc_minor);
	mu_put_number(out,
	    flag(snap->glibc_inferred, MU_LOOK_INFERRED) |
		flag(writer->contents, MU_LOOK_CONTENTS) |
		flag(reach->words.unaligned, MU_LOOK_UNALIGNED) |
		flag(reach->no_globals, MU_LOOK_NO_GLOBALS) |
		flag(reach->no_stacks, MU_LOOK_NO_STACKS) |
		flag(reach->no_registers, MU_LOOK_NO_REGISTERS) |
		flag(reach->no_tls, MU_LOOK_NO_TLS) |
		flag(reach->no_regions, MU_LOOK_NO_REGIONS));
	mu_put_number(out, reach->words.tags);
}

static void
put_mappings(struct mu_bytes_out *out, const struct mu_snapshot *snap)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	uintptr_t last = 0;

	mu_put_number(out, MU_LOOK_MAPPINGS);
	mu_put_number(out, snap->num_mappings);
	for (; mapping < end; mapping++) {
		mu_put_number(out, mapping->range.begin - last);
		mu_put_number(out, mu_range_size(mapping->range));
		mu_put_number(out,
		    flag(mapping->readable, MU_LOOK_READABLE) |
			flag(mapping->writable, MU_LOOK_WRITABLE) |
			flag(mapping->executable, MU_LOOK_EXECUTABLE) |
			flag(mapping->shared, MU_LOOK_SHARED));
		mu_put_number(out, mapping->offset);
		mu_put_number(out, mapping->dev_major);
		mu_put_number(out, mapping->dev_minor);
		mu_put_number(out, mapping->inode);
		mu_put_string(out, mapping->name);
		last = mapping->range.end;
	}
}

static void
put_words(struct mu_bytes_out *out, const uintptr_t *words, size_t count)
{
	size_t i;

	mu_put_number(out, count);
	for (i = 0; i < count; i++)
		mu_put_number(out, words[i]);
}

static void
put_range(struct mu_bytes_out *out, struct mu_range range)
{
	mu_put_number(out, range.begin);
	mu_put_number(out, mu_range_size(range));
}

/* What is no pointer, as the argument of a system call, is left out. */
static void
put_threads(struct mu_bytes_out *out, const struct mu_look_parts *parts)
{
	const struct mu_snapshot *snap = parts->snap;
	const struct mu_thread *thread = snap->threads;
	size_t i;

	mu_put_number(out, MU_LOOK_THREADS);
	put_words(out, snap->values, snap->num_values);
	for (i = 0; i < snap->num_values; i++)
		mu_put_number(
		    out, snap->regnos == NULL ? UINT16_MAX : snap->regnos[i]);
	mu_put_number(out, snap->num_threads);
	for (i = 0; i < snap->num_threads; i++, thread++) {
		mu_put_number(out, (uint64_t)thread->tid);
		mu_put_number(out, thread->sp);
		mu_put_number(out, thread->pc);
		mu_put_number(out, thread->tp);
		mu_put_number(out, thread->first_value);
		mu_put_number(out, thread->num_values);
		put_range(out, parts->owners->threads[i].stack);
		put_range(out, parts->owners->threads[i].tls);
		mu_put_number(out, parts->owners->threads[i].variables);
	}
	mu_put_number(out, parts->owners->num_blocks);
	for (i = 0; i < parts->owners->num_blocks; i++) {
		put_range(out, parts->owners->blocks[i].range);
		mu_put_number(out, parts->owners->blocks[i].thread);
	}
	mu_put_number(out, parts->owners->num_variables);
	for (i = 0; i < parts->owners->num_variables; i++) {
		mu_put_number(out, parts->owners->variables[i].module);
		mu_put_number(out, parts->owners->variables[i].address);
		mu_put_number(out, parts->owners->variables[i].thread);
	}
}

static void
put_roots(struct mu_bytes_out *out, const struct mu_look_parts *parts)
{
	const struct mu_snapshot *snap = parts->snap;
	const struct mu_roots *roots = parts->roots;
	size_t i;

	mu_put_number(out, MU_LOOK_ROOTS);
	mu_put_number(out, roots->num_ranges);
	for (i = 0; i < roots->num_ranges; i++) {
		put_range(out, roots->ranges[i].range);
		mu_put_number(out, roots->ranges[i].kind);
		mu_put_number(
		    out, roots->ranges[i].code || roots->ranges[i].loads);
	}
	put_words(out, roots->values, roots->num_values);
	put_words(out, snap->kernel_values, snap->num_kernel_values);
	put_words(out, snap->root_values, snap->num_root_values);
	mu_put_number(out, snap->num_root_regions);
	for (i = 0; i < snap->num_root_regions; i++)
		put_range(out, snap->root_regions[i]);
}

static void
put_usage(struct mu_bytes_out *out, const struct mu_heap_usage *usage)
{
	const struct mu_arena_usage *arena = usage->arenas;
	size_t i;

	mu_put_number(out, MU_LOOK_USAGE);
	mu_put_number(out, usage->live_reachable);
	mu_put_number(out, usage->free_held);
	mu_put_number(out, usage->overhead);
	mu_put_number(out, usage->mmapped);
	mu_put_number(out, usage->mmapped_live);
	mu_put_number(out, usage->mmapped_free);
	mu_put_number(out, usage->mmapped_unproven);
	mu_put_number(out, usage->unproven);
	mu_put_number(out, usage->num_arenas);
	for (i = 0; i < usage->num_arenas; i++, arena++) {
		mu_put_number(out, arena->address);
		mu_put_number(out, arena->span);
		mu_put_number(out, arena->live);
		mu_put_number(out, arena->bins);
		mu_put_number(out, arena->fastbins);
		mu_put_number(out, arena->tcache);
		mu_put_number(out, arena->top);
		mu_put_number(out, arena->overhead);
	}
}

static size_t
count_bounds(const struct mu_span *span)
{
	size_t word, count = 0;

	for (word = 0; word < span->num_words; word++)
		count += mu_popcount(span->bounds[word]);
	return count;
}

static void
put_span(struct mu_bytes_out *out, const struct mu_span *span)
{
	size_t word, grain, last = 0;
	uint64_t bits, live;

	put_range(out, span->range);
	mu_put_number(out, span->tail);
	mu_put_number(out, count_bounds(span));
	for (word = 0; word < span->num_words; word++)
		for (bits = span->bounds[word]; bits != 0; bits &= bits - 1) {
			grain =
			    word * MU_WORD_BITS + (size_t)__builtin_ctzll(bits);
			live = *mu_span_starts(span, word) >>
				grain % MU_WORD_BITS &
			    1;
			mu_put_number(out, (grain - last) << 1 | live);
			last = grain;
		}
}

static void
put_blocks(struct mu_bytes_out *out, const struct mu_blocks *blocks)
{
	const struct mu_listed *listed = blocks->listed;
	size_t i;

	mu_put_number(out, MU_LOOK_BLOCKS);
	mu_put_number(out, blocks->num_spans);
	for (i = 0; i < blocks->num_spans; i++)
		put_span(out, &blocks->spans[i]);
	mu_put_number(out, blocks->num_listed);
	for (i = 0; i < blocks->num_listed; i++, listed++) {
		put_range(out, listed->range);
		mu_put_number(out, listed->keep);
	}
}

struct putting {
	struct mu_bytes_out *out;
	struct mu_memory *memory;
	uintptr_t last;
	size_t count;
};

static bool
count_lost(void *ctx, const struct mu_block *block)
{
	struct putting *putting = ctx;

	(void)block;
	putting->count++;
	return true;
}

static bool
put_lost_block(void *ctx, const struct mu_block *block)
{
	struct putting *putting = ctx;

	mu_put_number(putting->out, block->range.begin - putting->last);
	mu_put_number(putting->out, mu_range_size(block->range));
	mu_put_number(
	    putting->out, mu_known_mark(mu_known_word(putting->memory, block)));
	putting->last = block->range.begin;
	return true;
}

static void
put_lost(struct mu_bytes_out *out, const struct mu_look_parts *parts)
{
	const struct mu_blocks *blocks = &parts->heap->blocks;
	struct putting putting = { .out = out,
		.memory = (struct mu_memory *)&parts->snap->memory };

	mu_put_number(out, MU_LOOK_LOST);
	mu_blocks_each_unmarked(blocks, count_lost, &putting);
	mu_put_number(out, putting.count);
	mu_blocks_each_unmarked(blocks, put_lost_block, &putting);
}

/* The stacks of blocks. */
struct stacks {
	struct mu_bytes_out *out;
	const struct mu_recorder *recorder;
	struct mu_arena *arena;
	uint32_t *ids; /* of all blocks */
	size_t count, max;
	uintptr_t *scripts; /* frames */
	size_t num_scripts, max_scripts;
	uintptr_t last;
	bool no_memory;
};

/* The next one of a block; a zero ends the list. */
static bool
put_stack_of(void *ctx, const struct mu_block *block)
{
	struct stacks *stacks = ctx;
	struct mu_recorded_block found;

	if (!mu_recorder_find(stacks->recorder, block->range, &found))
		return true;
	if (!mu_arena_room(
		stacks->arena, stacks->ids, stacks->count, stacks->max, 1024)) {
		stacks->no_memory = true;
		return false;
	}
	stacks->ids[stacks->count++] = found.stack;
	mu_put_number(stacks->out, block->range.begin - stacks->last);
	mu_put_number(stacks->out, found.range.begin - block->range.begin);
	mu_put_number(stacks->out, mu_range_size(found.range));
	mu_put_number(stacks->out, found.stack);
	stacks->last = block->range.begin;
	return true;
}

static int
compare_ids(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static size_t
sort_ids(struct stacks *stacks)
{
	size_t i, kept = 0;

	if (stacks->count > 0)
		mu_sort(stacks->ids, stacks->count, sizeof(*stacks->ids),
		    compare_ids);
	for (i = 0; i < stacks->count; i++)
		if (kept == 0 || stacks->ids[kept - 1] != stacks->ids[i])
			stacks->ids[kept++] = stacks->ids[i];
	return kept;
}

static void
note_script(struct stacks *stacks, uintptr_t frame)
{
	if (mu_arena_room(stacks->arena, stacks->scripts, stacks->num_scripts,
		stacks->max_scripts, 1024))
		stacks->scripts[stacks->num_scripts++] = frame;
	else
		stacks->no_memory = true;
}

static void
put_frames(struct stacks *stacks, uint32_t id)
{
	uintptr_t frames[FRAMES], last = 0;
	size_t i,
	    count = mu_recorder_stack(stacks->recorder, id, frames, FRAMES);

	mu_put_number(stacks->out, id);
	mu_put_number(stacks->out, count);
	for (i = 0; i < count; last = frames[i++]) {
		mu_put_signed(stacks->out, (int64_t)(frames[i] - last));
		if (mu_frame_is_script(frames[i]))
			note_script(stacks, frames[i]);
	}
}

static int
compare_frames(const void *a, const void *b)
{
	const uintptr_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
put_scripts(struct stacks *stacks)
{
	struct mu_bytes_out *out = stacks->out;
	uintptr_t last = 0, frame;
	struct mu_script script;
	size_t i;

	if (stacks->num_scripts > 0)
		mu_sort(stacks->scripts, stacks->num_scripts,
		    sizeof(*stacks->scripts), compare_frames);
	for (i = 0; i < stacks->num_scripts; i++) {
		frame = stacks->scripts[i];
		if (frame == last ||
		    !mu_recorder_script(stacks->recorder, frame, &script))
			continue;
		mu_put_number(out, frame - last);
		mu_put_string(out, script.file);
		mu_put_string(out, script.function);
		mu_put_number(out, script.line);
		last = frame;
	}
	mu_put_number(out, 0);
}

static void
put_unloaded(
    struct mu_bytes_out *out, const struct mu_unloaded *module, size_t count)
{
	mu_put_number(out, count);
	for (; count > 0; count--, module++) {
		put_range(out, module->range);
		mu_put_number(out, module->offset);
		mu_put_string(out, module->path);
		mu_put_string(out, module->build_id);
	}
}

static bool
put_stacks(struct mu_bytes_out *out, const struct mu_look_parts *parts)
{
	const struct mu_recorder *recorder = parts->recorder;
	struct stacks stacks = {
		.out = out, .recorder = recorder, .arena = parts->tables
	};
	size_t i, count;

	mu_put_number(out, MU_LOOK_STACKS);
	mu_put_number(out, recorder != NULL);
	if (recorder == NULL)
		return true;
	mu_put_number(out, recorder->header.sample_bytes);
	mu_put_number(out, recorder->header.max_frames);
	mu_blocks_each(&parts->heap->blocks, put_stack_of, &stacks);
	mu_put_number(out, 0);
	count = sort_ids(&stacks);
	mu_put_number(out, count);
	for (i = 0; i < count; i++)
		put_frames(&stacks, stacks.ids[i]);
	put_unloaded(out, recorder->unloaded, recorder->num_unloaded);
	put_scripts(&stacks);
	return !stacks.no_memory;
}

void
mu_look_write_graph(
    struct mu_look_writer *writer, const struct mu_look_parts *parts)
{
	struct mu_arena_piece *pieces = parts->tables->pieces;
	struct mu_bytes_out *out = &writer->out;
	const struct mu_heap *heap = parts->heap;

	mu_bytes_out_close(out);
	mu_bytes_out_open(out, writer->fd, true);
	put_subject(writer, parts->snap);
	put_mappings(out, parts->snap);
	put_threads(out, parts);
	put_roots(out, parts);
	put_usage(out, &heap->usage);
	put_blocks(out, &heap->blocks);
	mu_put_number(out, MU_LOOK_WORDS);
	if (!mu_look_words_put(out, parts, writer->contents))
		writer->error = ENOMEM;
	put_lost(out, parts);
	if (!put_stacks(out, parts))
		writer->error = ENOMEM;
	mu_arena_rewind(parts->tables, pieces);
	writer->written = true;
}

static void
put_names(struct mu_bytes_out *out, struct mu_kept_names *names)
{
	const struct mu_kept_question *question;
	uint64_t last = 0;
	size_t i;

	mu_kept_names_sort(names);
	mu_put_number(out, MU_LOOK_NAMES);
	mu_put_number(out, names->num_questions);
	for (i = 0; i < names->num_questions; i++) {
		question = &names->questions[i];
		mu_put_number(out, question->kind);
		mu_put_signed(out, (int64_t)(question->address - last));
		mu_put_number(out, question->answer);
		last = question->address;
	}
	mu_put_number(out, names->num_answers);
	mu_put_number(out, names->wire.used);
	mu_put_bytes(out, names->wire.buffer, names->wire.used);
}

static void
put_outcome(struct mu_bytes_out *out, const struct mu_report *report)
{
	const struct UnreachableMemoryInfo *info = &report->info;

	mu_put_number(out, MU_LOOK_OUTCOME);
	mu_put_number(out, (uint64_t)report->pid);
	mu_put_string(out, report->program);
	mu_put_string(out, report->stop);
	mu_put_number(out, mu_sys_real_ns());
	mu_put_number(out, (uint64_t)info->status);
	mu_put_string(out, info->reason);
	mu_put_number(out, report->cure);
	mu_put_number(out, info->pause_ns);
	mu_put_number(out, info->tries);
	mu_put_string(out, report->names_note);
}

void
mu_look_write_end(struct mu_look_writer *writer, const struct mu_report *report)
{
	struct mu_bytes_out *out = &writer->out;

	if (writer->written) {
		put_names(out, &writer->names);
		put_outcome(out, report);
		mu_bytes_out_end(out);
	}
	if (writer->error == 0)
		writer->error = out->error;
	if (writer->names.failed && writer->error == 0)
		writer->error = ENOMEM;
	if (!writer->written || writer->error != 0)
		(void)!ftruncate(writer->fd, 0);
}

void
mu_look_writer_close(struct mu_look_writer *writer)
{
	mu_kept_names_close(&writer->names);
	mu_bytes_out_close(&writer->out);
}
