/*
 * The glibc back end on heaps that are damaged one rule at a time: each is
 * refused, and the words say which rule, where.
 *
 * A forked child damages its own heap, reads it, and says what came of it.
 * It allocates nothing after the damage.
 */
#include <check.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "heapwalk/glibc_arena.h"
#include "heapwalk/heap.h"
#include "tests/support/self_snapshot.h"

#define LARGE 1000 /* bytes: not for the tcache, once that is full */
#define SMALL 40   /* for fastbins */
#define TCACHE 7

struct heap {
	struct mu_glibc glibc;
	char *used, *next; /* neighbours, in use */
	char *large[2];    /* free, in a bin */
	char *small[3];    /* free, in a fastbin; the last is its head */
	char *cached;      /* free, in the tcache */
	char *mmapped;
	char *other;  /* in use, of another arena */
	char *tcache; /* the struct */
};

struct answer {
	enum mu_status status;
	struct mu_why why;
	size_t count, kept;
};

static struct heap subject;

static size_t *
word_of(uintptr_t address)
{
	return (size_t *)address;
}

/* The size word of the chunk that BLOCK is in. */
static size_t *
size_of(char *block)
{
	return (size_t *)(block - 8);
}

static size_t *
arena_word(size_t offset)
{
	return word_of(subject.glibc.main_arena + offset);
}

static void *
allocate_elsewhere(void *unused)
{
	(void)unused;
	/* Two blocks: the first is not the arena's last. */
	subject.other = malloc(100);
	ck_assert_ptr_nonnull(malloc(100));
	return NULL;
}

/* Fill the tcache's list for SIZE, so that what is freed next goes on. */
static void
fill_tcache(size_t size)
{
	char *blocks[TCACHE];
	size_t i;

	for (i = 0; i < TCACHE; i++)
		blocks[i] = malloc(size);
	for (i = 0; i < TCACHE; i++)
		free(blocks[i]);
	subject.cached = blocks[TCACHE - 1];
}

static void
setup(void)
{
	struct self_snapshot self;
	char *large[2], *fence[3], *small[3];
	pthread_t thread;
	size_t i;

	ck_assert_int_eq(
	    pthread_create(&thread, NULL, allocate_elsewhere, NULL), 0);
	pthread_join(thread, NULL);
	/* First, as a large request empties the fastbins. */
	subject.mmapped = malloc(4 << 20);
	subject.used = malloc(LARGE);
	subject.next = malloc(LARGE);
	for (i = 0; i < 2; i++) {
		large[i] = malloc(LARGE + 64);
		fence[i] = malloc(LARGE);
	}
	for (i = 0; i < 3; i++)
		small[i] = malloc(SMALL);
	fence[2] = malloc(LARGE);
	ck_assert_ptr_nonnull(fence[2]);
	fill_tcache(LARGE + 64);
	fill_tcache(SMALL);
	for (i = 0; i < 2; i++)
		free(subject.large[i] = large[i]);
	for (i = 0; i < 3; i++)
		free(subject.small[i] = small[i]);

	ck_assert_int_eq(self_snapshot_take(&self, NULL, 0), MU_OK);
	ck_assert_int_eq(
	    mu_glibc_find(&subject.glibc, &self.snap, &self.arena, &self.why),
	    MU_OK);
	subject.tcache = (char *)*word_of(subject.glibc.mp +
			     subject.glibc.layout->par_sbrk_base) +
	    16;
}

static bool
count_kept(void *ctx, const struct mu_block *block)
{
	struct answer *answer = ctx;

	answer->kept += block->listed != NULL && block->listed->keep;
	return true;
}

static void
read_heap(struct self_snapshot *self, struct answer *answer)
{
	struct mu_heap heap;

	answer->status =
	    mu_heap_glibc.list(&heap, &self->snap, &self->arena, &answer->why);
	answer->count = heap.blocks.count;
	answer->kept = 0;
	if (answer->status == MU_OK || answer->status == MU_PARTIAL)
		mu_blocks_each(&heap.blocks, count_kept, answer);
}

/* What a child says that did DAMAGE and then read itself. */
static struct answer
ask(void (*damage)(void), void (*twist)(struct self_snapshot *))
{
	struct answer answer = { 0 };
	struct self_snapshot self;
	int ends[2], status;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		alarm(20);
		if (self_snapshot_take(&self, NULL, 0) != MU_OK)
			_exit(1);
		if (twist != NULL)
			twist(&self);
		if (damage != NULL)
			damage();
		read_heap(&self, &answer);
		if (write(ends[1], &answer, sizeof(answer)) < 0)
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	ck_assert_int_eq(
	    read(ends[0], &answer, sizeof(answer)), sizeof(answer));
	close(ends[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	return answer;
}

static void
refused(void (*damage)(void), const char *words)
{
	struct answer answer = ask(damage, NULL);

	ck_assert_msg(answer.status == MU_ERR_HEAP_INCONSISTENT &&
		strstr(answer.why.words, words) != NULL,
	    "%s: \"%s\", wanted \"%s\"", mu_status_name(answer.status),
	    answer.why.words, words);
}

/* ---- one rule after the other ---- */

static void
damage_size(void)
{
	*size_of(subject.used) = 0x43;
}

static void
damage_size_far(void)
{
	*size_of(subject.used) = ((size_t)1 << 40) | 1;
}

static void
damage_size_slightly(void)
{
	*size_of(subject.used) += 0x10;
	*(size_t *)subject.next = 0;
}

static void
damage_prev_inuse(void)
{
	*size_of(subject.next) &= ~(size_t)1;
}

static void
damage_prev_size(void)
{
	size_t size = *size_of(subject.large[0]) & ~(size_t)7;

	*(size_t *)(subject.large[0] - 16 + size) += 0x10;
}

static void
damage_arena_flag(void)
{
	*size_of(subject.used) |= 4;
}

static void
damage_arena_flag_other(void)
{
	*size_of(subject.other) &= ~(size_t)4;
}

static void
damage_top(void)
{
	*size_of((char *)*arena_word(subject.glibc.layout->arena_top) + 16) =
	    0x7fffffff1;
}

static void
damage_system_mem(void)
{
	*arena_word(subject.glibc.layout->arena_system_mem) += 4096;
}

static void
damage_system_mem_other(void)
{
	*word_of(subject.glibc.arenas[1] +
	    subject.glibc.layout->arena_system_mem) += 4096;
}

static void
damage_heap_size(void)
{
	*word_of(subject.glibc.arenas[1] - subject.glibc.layout->heap_header +
	    16) += 8;
}

static void
damage_ring(void)
{
	*arena_word(subject.glibc.layout->arena_next) =
	    (uintptr_t)subject.other & ~(size_t)15;
}

static void
damage_ring_open(void)
{
	*word_of(subject.glibc.arenas[1] + subject.glibc.layout->arena_next) =
	    subject.glibc.arenas[1];
}

static void
damage_heap_owner(void)
{
	*word_of(subject.glibc.arenas[1] - subject.glibc.layout->heap_header) =
	    subject.glibc.main_arena;
}

START_TEST(rule2_chunks)
{
	refused(damage_size, "impossible size");
	refused(damage_size_far, "size leads out of the heap");
	refused(damage_size_slightly, "arena");
	refused(damage_prev_inuse, "prev_size behind it disagrees");
	refused(damage_prev_size, "prev_size behind it disagrees");
	refused(damage_arena_flag, "NON_MAIN_ARENA");
	refused(damage_arena_flag_other, "NON_MAIN_ARENA");
	refused(damage_top, "top");
}
END_TEST

START_TEST(rule1_ring)
{
	refused(damage_ring, "ring of arenas");
	refused(damage_ring_open, "does not lead back");
	refused(damage_heap_owner, "does not name arena");
}
END_TEST

START_TEST(rule3_sums)
{
	refused(damage_system_mem, "system_mem is");
	refused(damage_system_mem_other, "system_mem is");
	refused(damage_heap_size, "impossible size");
}
END_TEST

static void
damage_bin_link(void)
{
	((uintptr_t *)subject.large[0])[1] ^= 0x20;
}

/* A bin that leads to its first chunk again. */
static void
damage_bin_loop(void)
{
	((uintptr_t *)subject.large[0])[0] = (uintptr_t)subject.large[1] - 16;
}

/* Off its list, as if it were in use; and its neighbours linked. */
static void
damage_bin_missing(void)
{
	uintptr_t *links = (uintptr_t *)subject.large[0];

	*(uintptr_t *)(links[0] + 24) = links[1];
	*(uintptr_t *)(links[1] + 16) = links[0];
}

static void
damage_bin_in_use(void)
{
	uintptr_t *first = (uintptr_t *)subject.large[0];
	uintptr_t *mine = (uintptr_t *)subject.used;
	uintptr_t chunk = (uintptr_t)subject.used - 16;

	mine[0] = first[0];
	mine[1] = (uintptr_t)subject.large[0] - 16;
	*(uintptr_t *)(first[0] + 24) = chunk;
	first[0] = chunk;
}

static uintptr_t
mangle(void *field, uintptr_t value)
{
	return subject.glibc.layout->safe_linking
	    ? value ^ ((uintptr_t)field >> 12)
	    : value;
}

static void
damage_fastbin_loop(void)
{
	uintptr_t *field = (uintptr_t *)subject.small[0];

	*field = mangle(field, (uintptr_t)subject.small[2] - 16);
}

static void
damage_fastbin_cached(void)
{
	uintptr_t *field = (uintptr_t *)subject.small[0];

	*field = mangle(field, (uintptr_t)subject.cached - 16);
}

static void
damage_fastbin_class(void)
{
	uintptr_t *field = (uintptr_t *)subject.small[0];

	*field = mangle(field, (uintptr_t)subject.used - 16);
}

static void
damage_fastbin_wild(void)
{
	*(uintptr_t *)subject.small[0] = 0x123456789abcdef0;
}

START_TEST(rule4_free_lists)
{
	refused(damage_bin_link, "not mutual");
	refused(damage_bin_loop, "on two free lists");
	refused(damage_bin_missing, "in its bins");
	refused(damage_bin_in_use, "in use, yet on a free list");
	refused(damage_fastbin_loop, "on two free lists");
	refused(damage_fastbin_cached, "on two free lists");
	refused(damage_fastbin_class, "another fastbin");
	refused(damage_fastbin_wild, "not in the arena's memory");
}
END_TEST

/* Offset of the count and of the head of SIZE's list. */
static uint16_t *
tcache_count(size_t size)
{
	return (uint16_t *)subject.tcache + (size - 32) / 16;
}

static void
damage_count_high(void)
{
	*tcache_count(48) += 2;
}

static void
damage_count_low(void)
{
	*tcache_count(48) -= 2;
}

static void
damage_count_in_flight(void)
{
	*tcache_count(48) -= 1;
}

static void
damage_tcache_loop(void)
{
	uintptr_t *field = (uintptr_t *)subject.cached;

	*field = mangle(field, (uintptr_t)subject.cached);
}

START_TEST(rule5_tcache)
{
	struct answer answer;

	if (subject.glibc.layout->tcache_count_size != 2 ||
	    subject.glibc.layout->tcache_counts_free)
		return;
	refused(damage_count_high, "its count is higher");
	refused(damage_count_low, "longer than its count");
	refused(damage_tcache_loop, "longer than its count");
	answer = ask(damage_count_in_flight, NULL);
	ck_assert_int_eq(answer.status, MU_OK);
}
END_TEST

static void
damage_n_mmaps(void)
{
	(*(int *)(subject.glibc.mp + subject.glibc.layout->par_n_mmaps))--;
}

static void
damage_mmapped_mem(void)
{
	*word_of(subject.glibc.mp + subject.glibc.layout->par_mmapped_mem) +=
	    4096;
}

static void
damage_mmapped_header(void)
{
	*size_of(subject.mmapped) |= 1;
}

/* Whoever is not certain of a mapping reports nothing of it. */
START_TEST(rule6_mmapped)
{
	struct answer whole = ask(NULL, NULL);
	struct answer answer = ask(damage_n_mmaps, NULL);

	ck_assert_int_eq(whole.status, MU_OK);
	ck_assert_uint_eq(whole.kept, 0);
	ck_assert_int_eq(answer.status, MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(answer.why.words, "n_mmaps"));
	ck_assert_uint_ge(answer.kept, 1);
	ck_assert_uint_eq(answer.count, whole.count);
	answer = ask(damage_mmapped_mem, NULL);
	ck_assert_int_eq(answer.status, MU_PARTIAL);
	ck_assert_uint_ge(answer.kept, 1);
	answer = ask(damage_mmapped_header, NULL);
	ck_assert_int_eq(answer.status, MU_PARTIAL);
	ck_assert_uint_eq(answer.count, whole.count - 1);
}
END_TEST

static void
twist_release(struct self_snapshot *self)
{
	self->snap.glibc_minor = 99;
}

static void
twist_foreign(struct self_snapshot *self)
{
	self->snap.mappings[self->snap.num_mappings - 1].name =
	    "/usr/lib/libjemalloc.so.2";
}

static void
damage_bins(void)
{
	memset(arena_word(subject.glibc.layout->arena_bins), 0, 2032);
}

/* As the linker made it. */
static void
damage_unused(void)
{
	uintptr_t arena = subject.glibc.main_arena;

	memset((void *)arena, 0, subject.glibc.layout->arena_size);
	*arena_word(subject.glibc.layout->arena_next) = arena;
	*arena_word(subject.glibc.layout->arena_attached) = 1;
}

START_TEST(foreign_allocators)
{
	struct answer answer = ask(NULL, twist_release);

	ck_assert_int_eq(answer.status, MU_ERR_UNKNOWN_GLIBC);
	ck_assert_ptr_nonnull(strstr(answer.why.words, "2.99"));
	answer = ask(damage_bins, NULL);
	ck_assert_int_eq(answer.status, MU_ERR_FOREIGN_ALLOCATOR);
	ck_assert_ptr_nonnull(strstr(answer.why.words, "no main_arena"));
	answer = ask(damage_unused, NULL);
	ck_assert_int_eq(answer.status, MU_ERR_FOREIGN_ALLOCATOR);
	ck_assert_ptr_nonnull(strstr(answer.why.words, "never used"));
	answer = ask(damage_unused, twist_foreign);
	ck_assert_int_eq(answer.status, MU_ERR_FOREIGN_ALLOCATOR);
	ck_assert_ptr_nonnull(strstr(answer.why.words, "libjemalloc.so.2"));
	answer = ask(NULL, twist_foreign);
	ck_assert_int_eq(answer.status, MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(answer.why.words, "libjemalloc.so.2"));
}
END_TEST

static void
twist_no_memory(struct self_snapshot *self)
{
	struct answer answer = { 0 };
	size_t used = self->arena.used, n;

	/* The n-th request fails, n growing until none does. */
	for (n = 1; n < 1000; n++) {
		self->arena.fail_at = n;
		read_heap(self, &answer);
		if (answer.status == MU_OK)
			break;
		if (answer.status != MU_ERR_NO_MEMORY ||
		    answer.why.words[0] == '\0')
			_exit(2);
	}
	self->arena.fail_at = 0;
	if (n < 5 || n == 1000 || used == 0)
		_exit(3);
}

START_TEST(no_memory)
{
	ck_assert_int_eq(ask(NULL, twist_no_memory).status, MU_OK);
}
END_TEST

static char *inherited[3];
static pthread_barrier_t freed;

static void *
free_and_stay(void *unused)
{
	size_t i;

	for (i = 0; i < 3; i++)
		inherited[i] = malloc(200);
	for (i = 0; i < 3; i++)
		free(inherited[i]);
	pthread_barrier_wait(&freed);
	for (;;)
		pause();
	return unused;
}

static void
twist_find_inherited(struct self_snapshot *self)
{
	struct mu_block block;
	struct mu_heap heap;
	size_t i;

	if (mu_heap_glibc.list(&heap, &self->snap, &self->arena, &self->why) !=
	    MU_OK)
		_exit(2);
	for (i = 0; i < 3; i++)
		if (mu_blocks_find(
			&heap.blocks, (uintptr_t)inherited[i], &block))
			_exit(3);
}

/* What a thread of the parent had free is free in the child of fork(). */
START_TEST(fork_inherits_tcaches)
{
	pthread_t thread;

	pthread_barrier_init(&freed, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, free_and_stay, NULL), 0);
	pthread_barrier_wait(&freed);
	ck_assert_int_eq(ask(NULL, twist_find_inherited).status, MU_OK);
}
END_TEST

/* Any word of the heap's structs may be anything: no crash, no endless loop. */
static void
twist_hostile(struct self_snapshot *self)
{
	const struct mu_glibc *glibc = &subject.glibc;
	uintptr_t heap = glibc->arenas[1] - glibc->layout->heap_header;
	const struct mu_range places[] = {
		{ glibc->main_arena,
		    glibc->main_arena + glibc->layout->arena_size },
		{ glibc->mp, glibc->mp + glibc->layout->par_size },
		{ heap, heap + 4096 },
		{ (uintptr_t)subject.tcache - 16,
		    (uintptr_t)subject.tcache + 0x300 },
		{ (uintptr_t)subject.used - 16,
		    (uintptr_t)subject.small[2] + 64 },
		{ (uintptr_t)subject.mmapped - 16,
		    (uintptr_t)subject.mmapped + 16 },
	};
	const uintptr_t values[] = { 0, 1, 2, 0x10, 0x11, 0x20, 0x21, 0x31,
		0x411, SIZE_MAX, SIZE_MAX - 15, (uintptr_t)1 << 40,
		glibc->main_arena, glibc->arenas[1], heap,
		(uintptr_t)subject.used - 16, (uintptr_t)subject.large[0] - 16,
		(uintptr_t)subject.mmapped - 16 };
	struct mu_arena arena = self->arena;
	struct answer answer;
	unsigned seed = 4711;
	size_t i, place, *word, saved[3], *words[3], n;

	for (i = 0; i < 6000; i++) {
		for (n = 0; n < 1 + i % 3; n++) {
			place = (size_t)rand_r(&seed) %
			    (sizeof(places) / sizeof(*places));
			word = word_of((places[place].begin +
					   (size_t)rand_r(&seed) %
					       mu_range_size(places[place])) &
			    ~(size_t)7);
			words[n] = word;
			saved[n] = *word;
			*word = rand_r(&seed) % 4 == 0
			    ? *word ^ ((size_t)1 << rand_r(&seed) % 64)
			    : values[(size_t)rand_r(&seed) %
				  (sizeof(values) / sizeof(*values))];
		}
		mu_arena_open(&self->arena, (size_t)1 << 30);
		read_heap(self, &answer);
		mu_arena_close(&self->arena);
		while (n-- > 0)
			*words[n] = saved[n];
	}
	self->arena = arena;
}

START_TEST(hostile_heap)
{
	ck_assert_int_eq(ask(NULL, twist_hostile).status, MU_OK);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("glibc_heap");
	TCase *tc = tcase_create("glibc_heap");
	SRunner *sr = srunner_create(suite);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, rule1_ring);
	tcase_add_test(tc, rule2_chunks);
	tcase_add_test(tc, rule3_sums);
	tcase_add_test(tc, rule4_free_lists);
	tcase_add_test(tc, rule5_tcache);
	tcase_add_test(tc, rule6_mmapped);
	tcase_add_test(tc, foreign_allocators);
	tcase_add_test(tc, no_memory);
	tcase_add_test(tc, fork_inherits_tcaches);
	tcase_add_test(tc, hostile_heap);
	suite_add_tcase(suite, tc);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
