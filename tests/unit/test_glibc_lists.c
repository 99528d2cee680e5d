/*
 * Long lists of free chunks, which are followed in many places at once, come
 * out as if each had been followed by itself: mixed, in several arenas, and
 * with one word of them damaged.
 */
#include "heapwalk/heaps/glibc/free.h"
#include "heapwalk/heaps/glibc/lists.h"
#include "tests/support/made_lists.h"
#include "tests/support/pthread_workers.h"
#include "tests/support/suite.h"

struct result {
	struct mu_arena memory;
	struct mu_why why;
	struct mu_heap heap;
	struct mu_glibc_walk walk;
	size_t num_free[ARENAS];
	enum mu_status status;
};

/* Memory is not in place, as that of another process; what it was asked for. */
static bool is_remote;
static size_t peeks;

static const void *
copy_some(
    struct mu_memory *memory, uintptr_t address, size_t size, void *buffer)
{
	const void *at = view(memory, address, size);

	__atomic_fetch_add(&peeks, 1, __ATOMIC_RELAXED);
	return at == NULL ? NULL : memcpy(buffer, at, size);
}

static bool
copy_pages(struct mu_memory *memory, struct mu_range range, void *buffer)
{
	size_t size = mu_range_size(range);

	if (size > 0)
		memcpy(buffer, view(memory, range.begin, size), size);
	return true;
}

/* As the rule has it: list by list. */
static enum mu_status
take_in_order(struct mu_glibc_walk *walk)
{
	enum mu_status status = MU_OK;
	size_t i;

	for (i = 0; status == MU_OK && i < ARENAS; i++) {
		status = mu_glibc_bins_check(walk, i);
		if (status == MU_OK)
			status = mu_glibc_fastbins_take(walk, i);
	}
	return status;
}

static void
read_lists(struct result *result, unsigned workers)
{
	static const struct mu_memory_ops local = { .view = view };
	static const struct mu_memory_ops remote = {
		.view = view, .peek = copy_some, .read = copy_pages
	};
	static uintptr_t addresses[ARENAS];
	struct mu_workers threads = pthread_workers(workers);
	struct mu_snapshot snap = { .memory = { .ops = is_remote ? &remote
								 : &local,
					.page_size = PAGE },
		.workers = workers == 0 ? NULL : &threads };
	struct mu_glibc_chain chains[ARENAS] = { 0 };
	size_t i;

	*result = (struct result) { 0 };
	mu_arena_open(&result->memory, (size_t)1 << 30);
	mu_blocks_open(&result->heap.blocks, &result->memory);
	result->walk = (struct mu_glibc_walk) { .snap = &snap,
		.memory = &result->memory,
		.why = &result->why,
		.heap = &result->heap,
		.glibc = { .arenas = addresses,
		    .num_arenas = ARENAS,
		    .layout = &layout },
		.num_free = result->num_free };
	for (i = 0; i < ARENAS; i++) {
		addresses[i] = (uintptr_t)&arenas[i];
		chains[i].arena = i;
		chains[i].main = i == 0;
		chains[i].view = heap + i * HEAP_BYTES;
		chains[i].limit =
		    (struct mu_range) { pointer_to(i * HEAP_BYTES),
			    pointer_to((i + 1) * HEAP_BYTES) };
		chains[i].top = chains[i].limit.end - 64;
	}
	mu_glibc_notes_open(&result->walk.notes, (size_t)1 << 30);
	result->status = mu_glibc_chains_walk(&result->walk, chains, ARENAS);
	mu_blocks_sort_spans(&result->heap.blocks);
	mu_glibc_notes_seal(&result->walk.notes);
	if (result->status == MU_OK)
		result->status = workers == 0
		    ? take_in_order(&result->walk)
		    : mu_glibc_lists_take(&result->walk);
	mu_glibc_notes_close(&result->walk.notes);
}

static void
expect_same(const struct result *a, const struct result *b)
{
	const struct mu_span *left, *right;
	size_t i;

	ck_assert_int_eq(a->status, b->status);
	ck_assert_str_eq(a->why.words, b->why.words);
	for (i = 0; a->status == MU_OK && i < ARENAS; i++) {
		left = &a->heap.blocks.spans[i];
		right = &b->heap.blocks.spans[i];
		ck_assert_uint_eq(left->count, right->count);
		ck_assert_uint_eq(left->bytes, right->bytes);
		ck_assert_mem_eq(left->bits, right->bits,
		    left->num_words * 2 * sizeof(*left->bits));
		ck_assert_mem_eq(left->summary, right->summary,
		    (left->num_words + 63) / 64 * sizeof(*left->summary));
	}
}

/* In order, and by 1, 2 and 4 workers, near and far; what came of it. */
static enum mu_status
compare(void)
{
	struct result ordered, shared;
	unsigned workers;

	is_remote = false;
	read_lists(&ordered, 0);
	for (workers = 1; workers <= 8; workers *= 2) {
		is_remote = workers % 4 == 0;
		read_lists(&shared, workers % 8);
		expect_same(&ordered, &shared);
		mu_arena_close(&shared.memory);
	}
	mu_arena_close(&ordered.memory);
	return ordered.status;
}

START_TEST(lists_are_as_in_order)
{
	make_heap((size_t)_i);
	ck_assert_int_eq(compare(), MU_OK);
}
END_TEST

/* The walk has seen what lists lead to. _i: by how many workers. */
START_TEST(links_are_not_read_again)
{
	struct result result;

	make_heap(0);
	is_remote = true;
	peeks = 0;
	read_lists(&result, (unsigned)_i);
	ck_assert_int_eq(result.status, MU_OK);
	ck_assert_uint_gt(num_listed, 10000);
	ck_assert_uint_lt(peeks, num_listed / 8);
	mu_arena_close(&result.memory);
}
END_TEST

/*
 * Notes of one MiB end where those of the next begin: what does not fit is not
 * found in its place. Chunks of 64 bytes, every one of them noted.
 */
START_TEST(notes_of_a_full_part)
{
	const size_t part = (size_t)1 << 20, size = 64;
	const struct mu_range range = { 1 << 30, (1 << 30) + 2 * part };
	struct mu_glibc_links links;
	struct mu_glibc_notes notes;
	char head[MU_GLIBC_MINSIZE];
	size_t at, found = 0;

	mu_glibc_notes_open(&notes, (size_t)1 << 30);
	ck_assert_uint_eq(mu_glibc_notes_add(&notes, range), 0);
	for (at = 0; at < part - size; at += size) {
		links = (struct mu_glibc_links) { at, at + 1 };
		mu_glibc_note(&notes.stretches[0], at, size, &links);
	}
	for (at = 0; mu_glibc_note_of(&notes, range.begin + at, head);
	     at += size)
		found++;
	ck_assert_uint_gt(found, 10000);
	/* At the same distance, in the next. */
	mu_glibc_note(&notes.stretches[0], part + at, size, &links);
	ck_assert(mu_glibc_note_of(&notes, range.begin + part + at, head));
	for (at = 0; at < part - size; at += size) {
		found -= mu_glibc_note_of(&notes, range.begin + at, head);
		if (at / size < 10000)
			ck_assert_mem_eq(head + 16, &at, sizeof(at));
	}
	ck_assert_uint_eq(found, 0);
	mu_glibc_notes_close(&notes);
}
END_TEST

/* VALUE in place of the word at WORD, and the same as before afterwards. */
static bool
is_refused_with(size_t *word, size_t value)
{
	size_t before = *word;
	bool refused;

	*word = value;
	refused = compare() != MU_OK;
	*word = before;
	return refused;
}

static size_t *
random_link(void)
{
	return word_at(
	    listed[random_below(num_listed)] + 16 + 8 * random_below(2));
}

/* A link to another member, to none, nowhere, behind a header, to a head. */
START_TEST(damaged_links)
{
	size_t i, refused = 0, *link;

	make_heap((size_t)_i);
	for (i = 0; i < 6; i++) {
		link = random_link();
		refused += is_refused_with(link, *random_link());
		link = random_link();
		refused += is_refused_with(link, 0);
		link = random_link();
		refused += is_refused_with(
		    link, pointer_to(listed[random_below(num_listed)]));
		link = random_link();
		refused += is_refused_with(link,
		    pointer_to(listed[random_below(num_listed)]) ^
			((size_t)link >> 12));
		refused += is_refused_with(link, *link + 16);
		refused += is_refused_with(
		    link, (size_t)(bin_of(i % ARENAS, 1 + i * 7) - 2));
		refused += is_refused_with(
		    bin_of(i % ARENAS, 1 + i) + i / 2 % 2, *random_link());
		refused += is_refused_with(
		    (size_t *)((char *)&arenas[i % 2] + FASTBINS) + i,
		    pointer_to(listed[random_below(num_listed)]));
	}
	ck_assert_uint_gt(refused, 8);
	ck_assert_int_eq(compare(), MU_OK);
}
END_TEST

/* A cycle of two that the heads do not lead to, and one less in the list. */
START_TEST(ring_apart_from_the_heads)
{
	size_t *a = NULL, *b, next, prev, i;

	make_heap((size_t)_i);
	for (i = 0; a == NULL; i++) {
		a = word_at(listed[i] + 16);
		b = (size_t *)(a[0] + 16);
		if (a[0] - (size_t)heap >= HEAP_BYTES ||
		    b[0] - (size_t)heap >= HEAP_BYTES ||
		    a[1] - (size_t)heap >= HEAP_BYTES)
			a = NULL;
	}
	prev = a[1];
	next = b[0];
	*(size_t *)(prev + 16) = next;
	*(size_t *)(next + 24) = prev;
	b[0] = a[1] = (size_t)(a - 2);
	a[0] = (size_t)(b - 2);
	a[1] = (size_t)(b - 2);
	b[1] = (size_t)(a - 2);
	ck_assert_int_eq(compare(), MU_ERR_HEAP_INCONSISTENT);
}
END_TEST

/* A free chunk in a bin of arena 0, its neighbours chunks, too. */
static size_t
between(void)
{
	size_t at, i;

	for (;;) {
		at = listed[random_below(num_listed)];
		i = (*word_at(at + 16) - (size_t)heap) |
		    (*word_at(at + 24) - (size_t)heap);
		if (i < HEAP_BYTES && at < HEAP_BYTES &&
		    (*word_at(at + size_at(at) + 8) & MU_PREV_INUSE) == 0)
			return at;
	}
}

/* As free() does it, but in the wrong bin, or the wrong chunk. */
START_TEST(relinked_well)
{
	size_t at, i, *fd, *bk, *head, other;

	for (i = 0; i < 3; i++) {
		make_heap((size_t)_i);
		at = between();
		fd = (size_t *)*word_at(at + 16);
		bk = (size_t *)*word_at(at + 24);
		if (i < 2) {
			fd[3] = (size_t)bk;
			bk[2] = (size_t)fd;
			head = i == 0 ? bin_of(0, mu_glibc_bin(size_at(at)) + 1)
				      : bin_of(1, 1);
			*word_at(at + 16) = (size_t)(head - 2);
			*word_at(at + 24) = head[1];
			*(size_t *)(head[1] + 16) = pointer_to(at);
			head[1] = pointer_to(at);
		} else {
			other = at + size_at(at); /* is in use */
			fd[3] = bk[2] = pointer_to(other);
			*word_at(other + 16) = (size_t)fd;
			*word_at(other + 24) = (size_t)bk;
		}
		ck_assert_int_eq(compare(), MU_ERR_HEAP_INCONSISTENT);
	}
}
END_TEST

/* A chunk of a bin, of one size more, of the other arena: in a fastbin. */
START_TEST(foreign_in_fastbin)
{
	size_t *head = (size_t *)((char *)&arenas[0] + FASTBINS) + 2;
	size_t i, at, before, member;

	for (i = 0; i < 3; i++) {
		make_heap((size_t)_i);
		member = at = *head - (size_t)heap;
		do {
			at = i == 0 ? between()
				    : listed[random_below(num_listed)];
		} while (i > 0 &&
		    ((at >= HEAP_BYTES) != (i == 2) ||
			size_at(at) != (i == 1 ? 80 : 64) ||
			(*word_at(at + size_at(at) + 8) & MU_PREV_INUSE) == 0));
		before =
		    *word_at(member + 16) ^ (pointer_to(member + 16) >> 12);
		*word_at(member + 16) =
		    pointer_to(at) ^ (pointer_to(member + 16) >> 12);
		*word_at(at + 16) = before ^ (pointer_to(at + 16) >> 12);
		ck_assert_int_eq(compare(), MU_ERR_HEAP_INCONSISTENT);
	}
}
END_TEST

/* Two faults: the first one is reported. */
START_TEST(first_fault_is_told)
{
	size_t *fast = (size_t *)((char *)&arenas[0] + FASTBINS);
	size_t *bin = bin_of(1, 1) + 1;

	make_heap((size_t)_i);
	*fast = 16;
	ck_assert_int_eq(compare(), MU_ERR_HEAP_INCONSISTENT);
	*bin = 0;
	ck_assert_int_eq(compare(), MU_ERR_HEAP_INCONSISTENT);
	*fast = 0;
	ck_assert_int_eq(compare(), MU_ERR_HEAP_INCONSISTENT);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("glibc_lists");
	TCase *tc = tcase_create("lists");

	map_heap(ARENAS * HEAP_BYTES);
	tcase_set_timeout(tc, 240);
	tcase_add_test(tc, notes_of_a_full_part);
	tcase_add_loop_test(tc, links_are_not_read_again, 0, 3);
	tcase_add_loop_test(tc, lists_are_as_in_order, 0, 16);
	tcase_add_loop_test(tc, damaged_links, 0, 4);
	tcase_add_loop_test(tc, ring_apart_from_the_heads, 0, 2);
	tcase_add_loop_test(tc, relinked_well, 0, 6);
	tcase_add_loop_test(tc, foreign_in_fastbin, 0, 2);
	tcase_add_loop_test(tc, first_fault_is_told, 0, 2);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
