/*
 * Copy a real heap and change one or two words of the copy: each rule about the
 * lists of free chunks is broken by itself, and the reason names it.
 */
#include "tests/support/heaps/heap_busy.h"
#include "tests/support/suite.h"

#define MAIN 0
#define OTHER 1

#define FD 0 /* words of a free block */
#define BK 1

static const struct mu_glibc_layout *layout;
static bool has_fastbins;

static void
setup(void)
{
	busy_setup();
	layout = busy.glibc.layout;
	has_fastbins = layout->arena_fastbins != 0;
}

/* ---- bins ---- */

/* The head of a list as a chunk: where fd and bk of a member lead back to. */
static uintptr_t
bin_head(size_t arena, uintptr_t member)
{
	uintptr_t chunk = chunk_of(member), first;

	for (;;) {
		first = busy.glibc.arenas[arena] + layout->arena_bins;
		if (chunk >= first - MU_GLIBC_HEADER && chunk < first + 2032)
			return chunk;
		chunk = busy_word_at(chunk + MU_GLIBC_HEADER)[FD];
	}
}

TEST_LOOP(rule4_links_not_mutual, MAIN, OTHER + 1)
{
	uintptr_t *links = busy_word_at(busy.parts[_i].binned[1]);

	WHILE(&links[BK], links[BK] ^ 0x20, expect_refusal("not mutual"));
	WHILE(&links[BK], 0, expect_refusal("not mutual"));
	WHILE(&links[FD], chunk_of(busy.parts[_i].binned[1]),
	    expect_refusal("on two free lists"));
	WHILE(&links[FD], bin_head(_i, busy.parts[_i].binned[1]),
	    expect_refusal(""));
	expect_same();
}

TEST_LOOP(rule4_head_not_mutual, MAIN, OTHER + 1)
{
	uintptr_t head = bin_head(_i, busy.parts[_i].binned[0]);
	uintptr_t *links = busy_word_at(head + MU_GLIBC_HEADER);

	WHILE(&links[FD], head, expect_refusal("not mutual"));
	WHILE(&links[BK], head, expect_refusal("not mutual"));
	expect_same();
}

TEST_LOOP(rule4_bin_loops, MAIN, OTHER + 1)
{
	uintptr_t head = bin_head(_i, busy.parts[_i].binned[0]);
	uintptr_t first = busy_word_at(head + MU_GLIBC_HEADER)[FD];
	uintptr_t last = busy_word_at(head + MU_GLIBC_HEADER)[BK];

	WHILE(busy_word_at(last + MU_GLIBC_HEADER), first,
	    expect_refusal("on two free lists"));
	expect_same();
}

/* Unlink it from its list, as if it were in use. */
TEST_LOOP(rule4_free_yet_on_no_list, MAIN, OTHER + 1)
{
	uintptr_t *links = busy_word_at(busy.parts[_i].binned[1]);

	busy_word_at(links[FD] + MU_GLIBC_HEADER)[BK] = links[BK];
	busy_word_at(links[BK] + MU_GLIBC_HEADER)[FD] = links[FD];
	expect_refusal("in its bins");
}

TEST_LOOP(rule4_in_use_yet_in_a_bin, MAIN, OTHER + 1)
{
	uintptr_t block = busy.parts[_i].used[0], *mine = busy_word_at(block);
	uintptr_t head = bin_head(_i, busy.parts[_i].binned[0]);
	uintptr_t *links = busy_word_at(head + MU_GLIBC_HEADER);

	mine[FD] = links[FD];
	mine[BK] = head;
	busy_word_at(links[FD] + MU_GLIBC_HEADER)[BK] = chunk_of(block);
	links[FD] = chunk_of(block);
	expect_refusal("in use, yet on a free list");
}

TEST_LOOP(rule4_of_another_bin, MAIN, OTHER + 1)
{
	uintptr_t member = busy.parts[_i].binned[0],
		  *links = busy_word_at(member);
	uintptr_t head =
	    busy.glibc.arenas[_i] + layout->arena_bins + 32 - MU_GLIBC_HEADER;
	uintptr_t *bin = busy_word_at(head + MU_GLIBC_HEADER);

	if (bin[FD] != head)
		return; /* the runner left something in that small bin */
	busy_word_at(links[FD] + MU_GLIBC_HEADER)[BK] = links[BK];
	busy_word_at(links[BK] + MU_GLIBC_HEADER)[FD] = links[FD];
	links[FD] = links[BK] = head;
	bin[FD] = bin[BK] = chunk_of(member);
	expect_refusal("its size belongs in another bin");
}

TEST_LOOP(rule4_bin_leads_out, MAIN, OTHER + 1)
{
	uintptr_t *links = busy_word_at(busy.parts[_i].binned[0]);

	WHILE(&links[FD], 0x123456789abcdef0,
	    expect_refusal("not in the arena's"));
	WHILE(&links[FD], 0, expect_refusal("not in the arena's"));
	WHILE(&links[FD], chunk_of(busy.parts[1 - _i].binned[0]),
	    expect_refusal("not in the arena's"));
	expect_same();
}

/* ---- fastbins ---- */

TEST_LOOP(rule4_fastbins, MAIN, OTHER + 1)
{
	struct busy_part *part = &busy.parts[_i];
	uintptr_t at = part->fast[1], *link = busy_word_at(at);

	if (!has_fastbins)
		return;
	WHILE(link, mangled(at, chunk_of(part->fast[3])),
	    expect_refusal("on two free lists"));
	WHILE(link, mangled(at, chunk_of(part->fast[1])),
	    expect_refusal("on two free lists"));
	WHILE(link, mangled(at, chunk_of(part->used[0])),
	    expect_refusal("belongs in another fastbin"));
	WHILE(link, mangled(at, chunk_of(part->binned[0])),
	    expect_refusal("on two free lists"));
	WHILE(link, 0x123456789abcdef0, expect_refusal("not in the arena's"));
	WHILE(link, mangled(at, part->fast[0]), expect_refusal("fastbin"));
	/* A chunk that is in the tcache. */
	WHILE(link, mangled(at, chunk_of(part->single)),
	    expect_refusal("fastbin"));
	expect_same();
}

TEST_LOOP(rule4_fastbin_and_tcache, MAIN, OTHER + 1)
{
	struct busy_part *part = &busy.parts[_i];
	uintptr_t at = part->fast[0], head = part->cached[BUSY_CACHED - 1];

	if (!has_fastbins)
		return;
	/* The sizes are adjusted, so that nothing else is wrong. */
	WHILE(busy_word_at(part->cached[0]), mangled(part->cached[0], at),
	    expect_refusal("tcache"));
	WHILE(busy_word_at(head), mangled(head, at), expect_refusal("tcache"));
	expect_same();
}

/* ---- tcaches ---- */

/* Where the tcache_perthread_struct of a thread is. */
static uintptr_t
tcache_slot(size_t thread)
{
	uintptr_t at = busy.parts[thread].tp, value;
	size_t asked = (layout->tcache_size + 8u + 15) & ~15u, size;

	for (at -= 8; at > busy.parts[thread].tp - 4096; at -= 8) {
		value = *busy_word_at(at);
		if (value % 16 != 0 ||
		    heap_image_run_of(&busy.image, value - 8) == NULL)
			continue;
		size = *busy_size_of(value) & ~(uintptr_t)MU_SIZE_FLAGS;
		if (size == asked || size == asked + 16)
			return at;
	}
	ck_abort_msg("no tcache found");
	return 0;
}

/* The counter of the list for chunks of SIZE. */
static char *
tcache_count(size_t thread, size_t size)
{
	char *tcache = (char *)busy_word_at(*busy_word_at(tcache_slot(thread)));

	return tcache +
	    mu_glibc_tcache_bin(layout, size) * layout->tcache_count_size;
}

static uintptr_t *
tcache_head(size_t thread, size_t size)
{
	char *tcache = (char *)busy_word_at(*busy_word_at(tcache_slot(thread)));

	return (uintptr_t *)(tcache +
	    (size_t)layout->tcache_bins * layout->tcache_count_size +
	    mu_glibc_tcache_bin(layout, size) * 8);
}

/* Raise its count of entries by MORE, read the heap, and restore the count. */
static void
claim(size_t thread, size_t size, int more, const char *words)
{
	char *count = tcache_count(thread, size);

	if (layout->tcache_counts_free)
		more = -more;
	*count = (char)(*count + more);
	if (words == NULL)
		expect_same();
	else
		expect_refusal(words);
	*count = (char)(*count - more);
}

#define CACHED_CHUNK 208 /* of part->cached */

TEST_LOOP(rule5_count, MAIN, OTHER + 1)
{
	claim(_i, CACHED_CHUNK, 2, "its count is higher than its list");
	claim(_i, CACHED_CHUNK, -2, "its list is longer than its count");
	claim(_i, CACHED_CHUNK, 1, "not at work on it");
	claim(_i, CACHED_CHUNK, -1, "not at work on it");
	expect_same();
}

static struct mu_thread *
thread_of(size_t part)
{
	size_t i;

	for (i = 0; busy.threads[i].tp != busy.parts[part].tp; i++)
		ck_assert_uint_lt(i, BUSY_THREADS);
	return &busy.threads[i];
}

/* A thread can be stopped between the list and the count ... */
TEST(rule5_count_in_flight)
{
	struct mu_thread *thread = thread_of(OTHER);

	busy.registers[thread->first_value] =
	    *busy_word_at(tcache_slot(OTHER)) + 100;
	claim(OTHER, CACHED_CHUNK, 1, NULL);
	claim(OTHER, CACHED_CHUNK, -1, NULL);
	claim(OTHER, CACHED_CHUNK, 2, "its count is higher than its list");
	/* ... but not if it is the one that asks. */
	thread->calling = true;
	claim(OTHER, CACHED_CHUNK, 1, "not at work on it");
}

TEST(rule5_two_counts)
{
	char *count = tcache_count(OTHER, CACHED_CHUNK);

	*count = (char)(*count + 1);
	claim(OTHER, BUSY_SINGLE_SIZE + 8, 1, "more than one count differs");
}

TEST_LOOP(rule5_tls_word, MAIN, OTHER + 1)
{
	uintptr_t *slot = busy_word_at(tcache_slot(_i)), tcache = *slot;

	WHILE(slot, 0x123456789abcdef0, expect_refusal("tcache"));
	WHILE(slot, tcache + 16, expect_refusal("tcache"));
	WHILE(slot, busy.parts[_i].used[0], expect_refusal("tcache"));
	expect_same();
}

/* No thread refers to it any more; its chunks are free nevertheless. */
TEST(rule5_tls_words_gone)
{
	size_t thread;

	for (thread = 0; thread <= BUSY_THREADS; thread++)
		*busy_word_at(tcache_slot(thread)) = 0;
	expect_refusal("no thread's TLS leads to it");
}

TEST_LOOP(rule5_entries, MAIN, OTHER + 1)
{
	struct busy_part *part = &busy.parts[_i];
	uintptr_t *head = tcache_head(_i, CACHED_CHUNK);
	uintptr_t first = part->cached[BUSY_CACHED - 1],
		  *link = busy_word_at(first);

	ck_assert_uint_eq(*head, first);
	WHILE(head, part->used[0], expect_refusal("another size"));
	WHILE(head, part->used[0] + 32, expect_refusal("no chunk in use"));
	WHILE(head, 0x123456789abcdef0, expect_refusal("no chunk in use"));
	WHILE(head, part->binned[0], expect_refusal("no chunk in use"));
	WHILE(head, 0, expect_refusal("its count is higher"));
	WHILE(link, mangled(first, first), expect_refusal("longer than its"));
	WHILE(link, mangled(first, 0), expect_refusal("its count is higher"));
	WHILE(link, 0x123456789abcdef0, expect_refusal("no chunk in use"));
	expect_same();
}

/* The list of one thread leads into that of another: the lengths agree. */
TEST(rule5_entry_of_two_threads)
{
	uintptr_t mine = busy.parts[1].cached[1];

	*busy_word_at(mine) = mangled(mine, busy.parts[2].cached[0]);
	expect_refusal("on two free lists");
}

SUITE(.setup = setup);
