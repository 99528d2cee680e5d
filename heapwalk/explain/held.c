#include "heapwalk/explain/held.h"

#include <string.h>

#include "heapwalk/graph/parts.h"
#include "heapwalk/graph/reader.h"
#include "heapwalk/graph/references.h"
#include "heapwalk/graph/words.h"
#include "mu/sort.h"

#define WORD sizeof(uintptr_t)
#define STRETCH (MU_WORDS_MAX * WORD)

struct finding {
	struct mu_held *held;
	const struct mu_graph *graph;
	struct mu_arena *arena;
	struct mu_deadline *deadline;
	struct mu_reader reader; /* a node is the index of a word */
	struct mu_memory *memory;
	bool no_memory;
};

/* A word that may refer to a block: its index. */
static uint32_t
add(struct finding *finding, uintptr_t address, enum mu_held_kind kind,
    size_t thread)
{
	struct mu_held *held = finding->held;

	if (finding->no_memory || held->count == UINT32_MAX - 1 ||
	    !mu_arena_room(
		finding->arena, held->words, held->count, held->max, 1024)) {
		finding->no_memory = true;
		return MU_NO_NODE;
	}
	held->words[held->count] = (struct mu_held_word) {
		.address = address,
		.node = MU_NO_NODE,
		.kind = (uint16_t)kind,
		.thread = (uint16_t)(thread > UINT16_MAX ? UINT16_MAX : thread),
	};
	return (uint32_t)held->count++;
}

static void
flush(struct mu_reader *reader)
{
	struct finding *finding = reader->ctx;
	size_t i;

	for (i = 0; i < reader->count; i++)
		if (reader->nodes[i] < finding->held->count)
			finding->held->words[reader->nodes[i]].node =
			    reader->targets[i];
}

/* The words of at most STRETCH bytes, one by one where they may refer. */
static void
read_stretch(struct finding *finding, struct mu_range range, const char *view,
    enum mu_held_kind kind)
{
	struct mu_range blocks = finding->graph->blocks->envelope, word;
	uint64_t found = finding->graph->filter(view,
	    mu_range_size(range) / WORD, blocks.begin, mu_range_size(blocks));
	size_t at;

	for (; found != 0; found &= found - 1) {
		at = (size_t)__builtin_ctzll(found) * WORD;
		word.begin = range.begin + at;
		word.end = word.begin + WORD;
		mu_reader_words(&finding->reader,
		    add(finding, word.begin, kind, 0), view + at, word,
		    MU_WORDS_ROOT);
	}
}

/* Bytes at any of which a word may begin: the address is that of RANGE. */
static void
read_bytes(struct finding *finding, struct mu_range range, const char *view,
    enum mu_held_kind kind, bool code)
{
	uintptr_t at, word;
	size_t step = mu_reference_step(finding->graph->blocks, code);

	at = mu_reference_first(finding->graph->blocks, code, range.begin);
	for (; mu_reference_word(range, view, code, at, &word); at += step) {
		if (mu_range_has(finding->graph->blocks->envelope,
			mu_reference_untag(finding->graph->blocks, word)))
			mu_reader_value(
			    &finding->reader, add(finding, at, kind, 0), word);
		if (code && word > UINT32_MAX &&
		    mu_range_has(
			finding->graph->blocks->envelope, word & UINT32_MAX))
			mu_reader_value(&finding->reader,
			    add(finding, at, kind, 0), word & UINT32_MAX);
	}
}

static void
read_range(struct finding *finding, struct mu_range range, const char *view,
    enum mu_held_kind kind, bool code)
{
	const struct mu_word_rule *rule = &finding->graph->blocks->words;
	struct mu_range part = range;

	if (code || rule->unaligned || rule->tags != 0) {
		read_bytes(finding, range, view, kind, code);
		return;
	}
	part.begin =
	    mu_reference_first(finding->graph->blocks, false, range.begin);
	for (; part.begin + WORD <= range.end; part.begin = part.end) {
		part.end = range.end - part.begin < STRETCH
		    ? range.end & -WORD
		    : part.begin + STRETCH;
		read_stretch(
		    finding, part, view + (part.begin - range.begin), kind);
		if (mu_deadline_passed(finding->deadline, MU_WORDS_MAX))
			return;
	}
}

/* What was written of RANGE. */
static void
read_written(struct finding *finding, struct mu_range range, const char *view,
    enum mu_held_kind kind, bool code)
{
	struct mu_parts parts;
	struct mu_range part;

	mu_parts_open(&parts, finding->memory, range,
	    WORD - mu_reference_step(finding->graph->blocks, code));
	while (mu_parts_next(&parts, &part))
		read_range(finding, part, view + (part.begin - range.begin),
		    kind, code);
}

static void
read_roots(struct finding *finding, const struct mu_roots *roots)
{
	const struct mu_blocks *blocks = finding->graph->blocks;
	const struct mu_listed *listed;
	const struct mu_root *root;
	size_t i;

	for (i = 0; i < roots->num_ranges && !finding->deadline->passed; i++) {
		root = &roots->ranges[i];
		read_written(finding, root->range, root->view,
		    (enum mu_held_kind)root->kind, root->code || root->loads);
	}
	for (i = 0; i < blocks->num_listed; i++) {
		listed = &blocks->listed[i];
		if (listed->keep)
			read_written(finding, listed->range, listed->view,
			    MU_HELD_KEPT,
			    mu_reference_in_code(blocks, listed->range));
	}
}

/* INDEX: of the first one in the snapshot. */
static void
read_values(struct finding *finding, const uintptr_t *values, size_t count,
    enum mu_held_kind kind, size_t thread, size_t index)
{
	struct mu_range range = { 0, count * WORD };
	struct mu_held_word *word;
	size_t i, first = finding->held->count;

	read_range(finding, range, (const char *)values, kind, false);
	for (i = first; i < finding->held->count; i++) {
		word = &finding->held->words[i];
		word->address =
		    kind == MU_HELD_REGISTER ? index + word->address / WORD : 0;
		word->thread = (uint16_t)thread;
	}
}

/* Words that are read as numbers refer to nothing. */
static void
add_integers(struct finding *finding)
{
	const struct mu_integer *integer = finding->graph->integers;
	const struct mu_integer *end = integer + finding->graph->num_integers;
	uint32_t index;

	for (; integer < end; integer++) {
		index = add(finding, integer->address,
		    (enum mu_held_kind)integer->kind, 0);
		if (index != MU_NO_NODE)
			finding->held->words[index].node = integer->target;
	}
}

static void
read_headers(struct finding *finding, const struct mu_roots *roots)
{
	struct mu_block block;
	size_t i;

	for (i = 0; i < roots->num_headers; i++)
		if (mu_reference_by_header(
			finding->graph->blocks, roots->headers[i], &block))
			mu_reader_value(&finding->reader,
			    add(finding, 0, MU_HELD_HEADER, 0),
			    block.range.begin);
}

static void
read_threads(struct finding *finding, const struct mu_snapshot *snap)
{
	const struct mu_thread *thread;
	size_t i;

	for (i = 0; i < snap->num_threads; i++) {
		thread = &snap->threads[i];
		read_values(finding, &thread->sp, 1, MU_HELD_REGISTER, i,
		    snap->num_values);
		if (!snap->reach.no_registers)
			read_values(finding, &snap->values[thread->first_value],
			    thread->num_values, MU_HELD_REGISTER, i,
			    thread->first_value);
	}
	read_values(finding, snap->kernel_values, snap->num_kernel_values,
	    MU_HELD_VALUE, 0, 0);
	read_values(finding, snap->root_values, snap->num_root_values,
	    MU_HELD_VALUE, 0, 0);
}

static int
compare(const void *a, const void *b)
{
	const struct mu_held_word *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void
drop_unsettled(struct mu_held *held)
{
	size_t i, kept = 0;

	for (i = 0; i < held->count; i++)
		if (held->words[i].node != MU_NO_NODE)
			held->words[kept++] = held->words[i];
	held->count = kept;
}

enum mu_status
mu_held_find(struct mu_held *held, const struct mu_graph *graph,
    const struct mu_roots *roots, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_deadline *deadline)
{
	struct finding finding = { .held = held,
		.graph = graph,
		.arena = arena,
		.deadline = deadline,
		.memory = graph->memory };

	*held = (struct mu_held) { .words = NULL };
	mu_reader_open(&finding.reader, graph, flush, &finding);
	read_roots(&finding, roots);
	read_headers(&finding, roots);
	read_threads(&finding, snap);
	mu_reader_flush(&finding.reader);
	add_integers(&finding);
	if (finding.no_memory)
		return MU_ERR_NO_MEMORY;
	if (deadline->passed)
		return MU_ERR_TIMEOUT;
	drop_unsettled(held);
	if (held->count > 0)
		mu_sort(
		    held->words, held->count, sizeof(*held->words), compare);
	return MU_OK;
}
