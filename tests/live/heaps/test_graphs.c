/*
 * 200 random object graphs against a model that knows which blocks exist, what
 * was written into them, and computes by brute force what is unreachable and
 * who owns it: counts, bytes and entries must agree exactly.
 *
 * Blocks of 1 byte to 600 kB, plain and aligned, made and freed (also each
 * other's) by up to six threads, that is in up to six arenas; pointers to the
 * begin and into the middle; words that outlive the block they pointed to,
 * whose place another block then takes. The model holds complements only.
 */
#include <stddef.h>

#include "tests/support/live.h"
#include "tests/support/pass/why.h"
#include "tests/support/suite.h"

/*
 * A graph of blocks as the program made it: which exist, what was written into
 * them, and, by brute force, what is unreachable and who owns it. All
 * addresses are complements.
 */

#define MAX_BLOCKS 320
#define MAX_WORDS 2048
#define MAX_ROOTS 64

struct block {
	uintptr_t hidden; /* 0 = freed */
	size_t size;      /* as asked for */
	size_t usable;
};

/* Block FROM holds ~HIDDEN at byte AT. */
struct word {
	size_t from, at;
	uintptr_t hidden;
};

static struct block blocks[MAX_BLOCKS];
static struct word words[MAX_WORDS];
static size_t num_blocks, num_words;
static uintptr_t hidden_roots[MAX_ROOTS];

/* The model's answer. */
static bool edges[MAX_BLOCKS][MAX_BLOCKS]; /* by index */
static bool leads[MAX_BLOCKS][MAX_BLOCKS]; /* itself included */
static bool reachable[MAX_BLOCKS];

/* The live block that ~HIDDEN points into, or MAX_BLOCKS. */
static size_t
block_at(uintptr_t hidden)
{
	size_t i;

	for (i = 0; i < num_blocks; i++) {
		/* begin <= p < begin + usable, of complements */
		if (blocks[i].hidden != 0 && hidden <= blocks[i].hidden &&
		    blocks[i].hidden - hidden < blocks[i].usable)
			return i;
	}
	return MAX_BLOCKS;
}

static void
reach(size_t from, bool reached[MAX_BLOCKS])
{
	size_t todo[MAX_BLOCKS], count = 0, i, at;

	if (reached[from])
		return;
	reached[from] = true;
	todo[count++] = from;
	while (count > 0) {
		at = todo[--count];
		for (i = 0; i < num_blocks; i++) {
			if (edges[at][i] && !reached[i]) {
				reached[i] = true;
				todo[count++] = i;
			}
		}
	}
}

static void
solve(void)
{
	size_t i, to;

	for (i = 0; i < num_words; i++) {
		to = block_at(words[i].hidden);
		if (to != MAX_BLOCKS)
			edges[words[i].from][to] = true;
	}
	for (i = 0; i < MAX_ROOTS; i++) {
		to = hidden_roots[i] == 0 ? MAX_BLOCKS
					  : block_at(hidden_roots[i]);
		if (to != MAX_BLOCKS)
			reach(to, reachable);
	}
	for (i = 0; i < num_blocks; i++)
		reach(i, leads[i]);
}

static bool
is_lost(size_t index)
{
	return blocks[index].hidden != 0 && !reachable[index];
}

/*
 * An entry: every block that leads to it is on a cycle with it, and it is the
 * lowest of those (complements: the largest).
 */
static bool
is_entry(size_t index)
{
	size_t i;

	for (i = 0; i < num_blocks; i++) {
		if (i == index || !is_lost(i) || !leads[i][index])
			continue;
		if (!leads[index][i] || blocks[i].hidden > blocks[index].hidden)
			return false;
	}
	return true;
}

#define GRAPHS 200
#define MAX_WORKERS 5
#define MAX_SIZE ((size_t)600 << 10)

/* What a thread is to do next: make the block, or free it. */
struct job {
	struct block *block;
	size_t alignment;
	bool quit;
};

static void *roots[MAX_BLOCKS]; /* the one place that leads to blocks */

static struct worker workers[MAX_WORKERS];
static struct job jobs[MAX_WORKERS];
static size_t num_workers;

static uint64_t random_state;

static uint64_t
random_next(void)
{
	/* splitmix64 */
	uint64_t z = (random_state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static size_t
random_below(size_t limit)
{
	return (size_t)(random_next() % limit);
}

/* As many small ones as large ones, on a logarithmic scale. */
static size_t
random_size(void)
{
	size_t size = 1 + random_below((size_t)2 << random_below(20));

	return size > MAX_SIZE ? MAX_SIZE : size;
}

static __attribute__((noinline)) void
make(struct block *block, size_t alignment)
{
	void *memory = block_fresh(alignment, block->size);

	block->usable = malloc_usable_size(memory);
	block->hidden = mu_hide(memory);
}

static __attribute__((noinline)) void
unmake(struct block *block)
{
	free(mu_reveal(block->hidden));
	block->hidden = 0;
}

static void
do_job(struct job *job)
{
	if (job->block->hidden == 0)
		make(job->block, job->alignment);
	else
		unmake(job->block);
	scrub();
}

static void
work(struct worker *worker)
{
	struct job *job = worker->context;

	for (;;) {
		scrub();
		worker_park(worker);
		if (job->quit)
			return;
		do_job(job);
	}
}

/* Run by any thread; the caller is number 0. */
static void
hand_out(struct block *block, size_t alignment)
{
	size_t turn = random_below(num_workers + 1);
	struct job job = { block, alignment, false };

	if (turn == 0) {
		do_job(&job);
		return;
	}
	jobs[turn - 1] = job;
	worker_next(&workers[turn - 1]);
}

static void
add_block(void)
{
	struct block *block = &blocks[num_blocks++];

	block->size = random_size();
	hand_out(
	    block, random_below(6) == 0 ? (size_t)16 << random_below(13) : 0);
}

/* A live one, or MAX_BLOCKS. */
static size_t
random_block(void)
{
	size_t tries, index;

	for (tries = 0; num_blocks > 0 && tries < 1000; tries++) {
		index = random_below(num_blocks);
		if (blocks[index].hidden != 0)
			return index;
	}
	return MAX_BLOCKS;
}

/*
 * The hidden form of an address in BLOCK: its begin as often as not. Never
 * the last word: that is what a free list's link to the next block looks like.
 */
static uintptr_t
random_target(const struct block *block)
{
	size_t at = random_below(2) == 0 ? 0 : random_below(block->usable);

	return block->hidden - (at == block->usable - 8 ? 0 : at);
}

static void
add_word(void)
{
	size_t from = random_block(), to = random_block(), at, i;

	if (from == MAX_BLOCKS || blocks[from].size < 8)
		return;
	at = random_below(blocks[from].size / 8) * 8;
	for (i = 0; i < num_words; i++) {
		if (words[i].from == from && words[i].at == at)
			break;
	}
	if (i == MAX_WORDS)
		return;
	if (i == num_words)
		num_words++;
	words[i] = (struct word) { from, at, random_target(&blocks[to]) };
	block_link(blocks[from].hidden, at, words[i].hidden);
}

static void
free_block(size_t index)
{
	size_t i;

	hand_out(&blocks[index], 0);
	for (i = 0; i < num_words;) {
		if (words[i].from == index)
			words[i] = words[--num_words];
		else
			i++;
	}
}

static void
set_root(size_t index)
{
	size_t to = random_block();

	if (to == MAX_BLOCKS)
		return;
	hidden_roots[index] = random_target(&blocks[to]);
	put(&roots[index], hidden_roots[index]);
}

static void
build(void)
{
	size_t rounds = 1 + random_below(4), each, i, index;
	size_t density = random_below(4), num_roots = random_below(MAX_ROOTS);

	each = 1 + random_below(MAX_BLOCKS / rounds);
	for (; rounds > 0; rounds--) {
		for (i = 0; i < each; i++)
			add_block();
		for (i = 0; i < each * density; i++)
			add_word();
		for (i = 0; i < num_roots / 2; i++)
			set_root(random_below(MAX_ROOTS));
		for (i = 0; i < each / 3 && rounds > 1; i++) {
			index = random_block();
			if (index != MAX_BLOCKS)
				free_block(index);
		}
	}
}

static const struct Leak *
find_entry(const struct UnreachableMemoryInfo *info, uintptr_t hidden)
{
	size_t i;

	for (i = 0; i < info->num_reported; i++) {
		if (info->leaks[i].begin == ~hidden)
			return &info->leaks[i];
	}
	return NULL;
}

static void
compare_entry(const struct UnreachableMemoryInfo *info, size_t index)
{
	const struct Leak *leak = find_entry(info, blocks[index].hidden);
	size_t i, count = 0, bytes = 0;

	ck_assert_msg(leak != NULL, "block %zu has no entry", index);
	for (i = 0; i < num_blocks; i++) {
		/*
		 * A block that a lost block refers to is lost, or it is not
		 * counted.
		 */
		if (i != index && leads[index][i] && is_lost(i)) {
			count++;
			bytes += blocks[i].usable;
		}
	}
	ck_assert_uint_eq(leak->size, blocks[index].usable);
	ck_assert_uint_eq(leak->referenced_count, count);
	ck_assert_uint_eq(leak->referenced_size, bytes);
	ck_assert_uint_eq(leak->total_size, blocks[index].usable + bytes);
	ck_assert_uint_eq(leak->similar_count, 0);
}

/* References to lost blocks from outside of the heap. */
static bool
print_root(void *ctx, const struct MemunreachableReference *reference)
{
	if (reference->kind != MEMUNREACHABLE_REFERENCE_BLOCK &&
	    reference->kind != MEMUNREACHABLE_REFERENCE_CALLER)
		return print_reference(ctx, reference);
	return true;
}

static void
tell_roots(void)
{
	char name[32];
	size_t i;

	for (i = 0; i < num_blocks; i++) {
		if (!is_lost(i))
			continue;
		snprintf(name, sizeof(name), "lost block %zu: ", i);
		memunreachable_why_reachable(
		    mu_reveal(blocks[i].hidden), print_root, name);
	}
}

static void
compare(const struct UnreachableMemoryInfo *info)
{
	size_t i, count = 0, bytes = 0, entries = 0;

	for (i = 0; i < num_blocks; i++) {
		if (!is_lost(i))
			continue;
		count++;
		bytes += blocks[i].usable;
		entries += is_entry(i);
	}
	if (info->num_leaks != count)
		tell_roots();
	ck_assert_uint_eq(info->num_leaks, count);
	ck_assert_uint_eq(info->leak_bytes, bytes);
	ck_assert_uint_eq(info->num_reported, entries);
	for (i = 0; i < num_blocks; i++) {
		if (is_lost(i) && is_entry(i))
			compare_entry(info, i);
	}
}

static void
start_workers(void)
{
	size_t i;

	num_workers = random_below(MAX_WORKERS + 1);
	for (i = 0; i < num_workers; i++) {
		workers[i].body = work;
		workers[i].context = &jobs[i];
		worker_start(&workers[i]);
	}
}

static void
finish_workers(void)
{
	for (; num_workers > 0; num_workers--) {
		jobs[num_workers - 1].quit = true;
		worker_finish(&workers[num_workers - 1]);
	}
}

/* First all are reachable, then all are freed: nothing is lost. */
static void
make_clean(void)
{
	size_t i;

	for (i = 0; i < num_blocks; i++) {
		drop(&roots[i]);
		if (blocks[i].hidden != 0)
			put(&roots[i], blocks[i].hidden);
	}
	EXPECT_LEAKS(0);
	for (i = 0; i < num_blocks; i++) {
		drop(&roots[i]);
		if (blocks[i].hidden != 0)
			hand_out(&blocks[i], 0);
	}
	EXPECT_LEAKS(0);
}

TEST_LOOP(random_graph, 0, GRAPHS)
{
	struct UnreachableMemoryInfo info = { 0 };

	random_state = (uint64_t)_i * 1000003 + 1;
	EXPECT_LEAKS(0);
	start_workers();
	build();
	solve();
	/* In half of the cases the threads of the arenas have ended. */
	if (_i % 2 == 0)
		finish_workers();
	scrub();
	GetUnreachableMemory(&info, SIZE_MAX);
	ck_assert_msg(info.status == MEMUNREACHABLE_COMPLETE, "%s: %s",
	    memunreachable_status_name(info.status), info.reason);
	compare(&info);
	FreeUnreachableMemoryInfo(&info);
	make_clean();
	finish_workers();
}
