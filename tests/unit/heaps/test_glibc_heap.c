/*
 * The glibc back end on heaps in which one rule at a time is broken: each is
 * refused, and the reason names the rule and the place.
 */
#include "tests/support/heaps/damaged_heap.h"
#include "tests/support/suite.h"

static void
damage_size(void)
{
	*damaged_size_of(subject.used) = 0x43;
}

static void
damage_size_far(void)
{
	*damaged_size_of(subject.used) = ((size_t)1 << 40) | 1;
}

static void
damage_size_slightly(void)
{
	*damaged_size_of(subject.used) += 0x10;
	*(size_t *)subject.next = 0;
}

static void
damage_prev_inuse(void)
{
	*damaged_size_of(subject.next) &= ~(size_t)1;
}

static void
damage_prev_size(void)
{
	size_t size = *damaged_size_of(subject.large[0]) & ~(size_t)7;

	*(size_t *)(subject.large[0] - 16 + size) += 0x10;
}

static void
damage_arena_flag(void)
{
	*damaged_size_of(subject.used) |= 4;
}

static void
damage_arena_flag_other(void)
{
	*damaged_size_of(subject.other) &= ~(size_t)4;
}

static void
damage_top(void)
{
	*damaged_size_of((char *)*arena_word(subject.glibc.layout->arena_top) +
	    16) = 0x7fffffff1;
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

TEST(rule2_chunks)
{
	refused(damage_size, "impossible size");
	refused(damage_size_far, "size leads out of the heap");
	refused(damage_size_slightly, "arena");
	refused(damage_prev_inuse, "prev_size after it disagrees");
	refused(damage_prev_size, "prev_size after it disagrees");
	refused(damage_arena_flag, "NON_MAIN_ARENA");
	refused(damage_arena_flag_other, "NON_MAIN_ARENA");
	refused(damage_top, "top");
}

TEST(rule1_ring)
{
	refused(damage_ring, "ring of arenas");
	refused(damage_ring_open, "does not lead back");
	refused(damage_heap_owner, "does not name arena");
}

TEST(rule3_sums)
{
	refused(damage_system_mem, "system_mem is");
	refused(damage_system_mem_other, "system_mem is");
	refused(damage_heap_size, "impossible size");
}

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
		    answer.why.text[0] == '\0')
			_exit(2);
	}
	self->arena.fail_at = 0;
	if (n < 5 || n == 1000 || used == 0)
		_exit(3);
}

TEST(no_memory)
{
	ck_assert_int_eq(damaged_ask(NULL, twist_no_memory).status, MU_OK);
}

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

	if (mu_heaps_list(&heap, &self->snap, &self->arena, &self->why) !=
	    MU_OK)
		_exit(2);
	for (i = 0; i < 3; i++)
		if (mu_blocks_find(
			&heap.blocks, (uintptr_t)inherited[i], &block))
			_exit(3);
}

/*
 * Chunks that a thread of the parent had in its tcache are free in the child of
 * fork().
 */
TEST(fork_inherits_tcaches)
{
	pthread_t thread;

	pthread_barrier_init(&freed, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, free_and_stay, NULL), 0);
	pthread_barrier_wait(&freed);
	ck_assert_int_eq(damaged_ask(NULL, twist_find_inherited).status, MU_OK);
}

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

	for (i = 0; i < 3000; i++) {
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

TEST(hostile_heap)
{
	ck_assert_int_eq(damaged_ask(NULL, twist_hostile).status, MU_OK);
}

SUITE(.setup = damaged_setup);
