#include "tests/support/heaps/heap_busy.h"
#define BUSY_SMALL_SIZE 56 /* chunks of 64 bytes: of fastbins */
#define BUSY_BIN_SIZE 3000 /* past the bins of the tcache up to 2.41 */
#define BUSY_LARGE ((size_t)300 << 10) /* mmapped */

struct busy busy;

uintptr_t
busy_block(size_t size)
{
	char *block = malloc(size);

	ck_assert_ptr_nonnull(block);
	memset(block, 0x5a, size);
	return (uintptr_t)block;
}

static void
busy_free(uintptr_t block)
{
	free((void *)block);
}

/* All that is going to be free: each between others that stay. */
static void
busy_take(struct busy_part *part, uintptr_t *unsorted)
{
	size_t i;

	for (i = 0; i < 3; i++)
		part->used[i] = busy_block(1000);
	for (i = 0; i < BUSY_BINNED; i++) {
		part->binned[i] = busy_block(BUSY_BIN_SIZE + 16 * i);
		busy_block(40);
	}
	*unsorted = busy_block(2 * BUSY_BIN_SIZE);
	busy_block(40);
	for (i = 0; i < BUSY_TCACHE_MAX; i++)
		part->fill[i] = busy_block(BUSY_SMALL_SIZE);
	for (i = 0; i < BUSY_FAST; i++)
		part->fast[i] = busy_block(BUSY_SMALL_SIZE);
	for (i = 0; i < BUSY_CACHED; i++)
		part->cached[i] = busy_block(200);
	part->single = busy_block(BUSY_SINGLE_SIZE);
	busy_block(40);
}

/* What the test runner left free is used up: the next blocks are neighbours. */
static void
busy_fill_holes(void)
{
	static const size_t sizes[] = { 2 * BUSY_BIN_SIZE, BUSY_BIN_SIZE + 32,
		BUSY_BIN_SIZE, 1000, 200, BUSY_SINGLE_SIZE, BUSY_SMALL_SIZE, 40,
		24 };
	uintptr_t pad = busy_block(100 << 10);
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		while (busy_block(sizes[i]) < pad)
			continue;
}

static void
busy_fill(struct busy_part *part)
{
	uintptr_t unsorted;
	size_t i;

	part->tp = mu_arch_tp();
	busy_fill_holes();
	busy_take(part, &unsorted);
	/* What fits nowhere sorts them; what is freed later stays unsorted. */
	for (i = 0; i < BUSY_BINNED; i++)
		busy_free(part->binned[i]);
	busy_block(9 * BUSY_BIN_SIZE);
	busy_free(unsorted);
	/* The tcache gets full of them; the others go where it leaves them. */
	for (i = 0; i < BUSY_TCACHE_MAX; i++)
		busy_free(part->fill[i]);
	for (i = 0; i < BUSY_FAST; i++)
		busy_free(part->fast[i]);
	for (i = 0; i < BUSY_CACHED; i++)
		busy_free(part->cached[i]);
	busy_free(part->single);
}

static void *
busy_thread(void *arg)
{
	busy_fill(arg);
	pthread_barrier_wait(&busy.ready);
	for (;;)
		pause();
	return NULL;
}

static void
busy_map(void)
{
	void *aligned = NULL;
	size_t i;

	for (i = 0; i < BUSY_MMAPPED - 1; i++)
		busy.mmapped[i] = busy_block(BUSY_LARGE + (i << 16));
	ck_assert_int_eq(posix_memalign(&aligned, 1 << 16, BUSY_LARGE), 0);
	busy.mmapped[i] = (uintptr_t)aligned;
}

/* Part i is what is in arena i. */
static void
busy_order(void)
{
	uintptr_t mask = ~(busy.glibc.heap_max - 1);
	struct busy_part part = busy.parts[1];

	if ((part.used[0] & mask) == (busy.glibc.arenas[1] & mask))
		return;
	busy.parts[1] = busy.parts[2];
	busy.parts[2] = part;
	ck_assert_uint_eq(
	    busy.parts[1].used[0] & mask, busy.glibc.arenas[1] & mask);
}

void
busy_setup(void)
{
	struct mu_arena *memory = &busy.image.self.arena;
	pthread_attr_t attributes;
	size_t i;

	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	pthread_barrier_init(&busy.ready, NULL, 1 + BUSY_THREADS);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	busy_map();
	for (i = 1; i <= BUSY_THREADS; i++)
		ck_assert_int_eq(pthread_create(&busy.parts[i].thread,
				     &attributes, busy_thread, &busy.parts[i]),
		    0);
	pthread_barrier_wait(&busy.ready);
	/* Last: to start a thread takes memory. */
	busy_fill(&busy.parts[0]);
	for (i = 0; i <= BUSY_THREADS; i++)
		busy.threads[i] = (struct mu_thread) {
			.tid = getpid() + (pid_t)i,
			.tp = busy.parts[i].tp,
			.first_value = i,
			.num_values = 1,
			.calling = i == 0,
		};
	heap_image_take(&busy.image, busy.threads, 1 + BUSY_THREADS);
	busy.image.self.snap.values = busy.registers;
	busy.image.self.snap.num_values = 1 + BUSY_THREADS;
	/* No program: its words are not read (heapwalk/heaps/glibc/messages.h).
	 */
	for (i = 0; i < busy.image.self.snap.num_mappings; i++)
		busy.image.self.snap.mappings[i].executable = false;
	heap_image_read(&busy.image, &busy.whole);
	ck_assert_msg(busy.whole.status == MU_OK, "undamaged: %s: %s",
	    mu_status_name(busy.whole.status), busy.whole.why.text);
	ck_assert_int_eq(mu_glibc_find(&busy.glibc, NULL, &busy.image.self.snap,
			     memory, &busy.image.self.why),
	    MU_OK);
	ck_assert_uint_eq(busy.glibc.num_arenas, 1 + BUSY_THREADS);
	busy_order();
}

uintptr_t *
busy_word_at(uintptr_t address)
{
	return heap_image_word(&busy.image, address);
}

uintptr_t *
busy_size_of(uintptr_t block)
{
	return busy_word_at(block - 8);
}

uintptr_t
chunk_of(uintptr_t block)
{
	return block - MU_GLIBC_HEADER;
}

uintptr_t
next_block(uintptr_t block)
{
	return block + (*busy_size_of(block) & ~(uintptr_t)MU_SIZE_FLAGS);
}

uintptr_t *
arena_at(size_t index, size_t offset)
{
	return busy_word_at(busy.glibc.arenas[index] + offset);
}

uintptr_t *
par_at(size_t offset)
{
	return busy_word_at(busy.glibc.mp + offset);
}

uintptr_t
heap_of(size_t index)
{
	return busy.glibc.arenas[index] - busy.glibc.layout->heap_header;
}

uintptr_t
mangled(uintptr_t address, uintptr_t link)
{
	return busy.glibc.layout->safe_linking ? link ^ (address >> 12) : link;
}

void
expect_answer(enum mu_status status, const char *words)
{
	struct heap_reading reading;

	heap_image_read(&busy.image, &reading);
	ck_assert_msg(
	    reading.status == status && strstr(reading.why.text, words) != NULL,
	    "%s: \"%s\"; expected %s, \"%s\"", mu_status_name(reading.status),
	    reading.why.text, mu_status_name(status), words);
	heap_reading_close(&reading);
}

void
expect_refusal(const char *words)
{
	expect_answer(MU_ERR_HEAP_INCONSISTENT, words);
}

void
expect_same(void)
{
	struct heap_reading reading;

	heap_image_read(&busy.image, &reading);
	ck_assert_msg(reading.status == MU_OK, "%s: %s",
	    mu_status_name(reading.status), reading.why.text);
	ck_assert(heap_reading_same(&reading, &busy.whole));
	heap_reading_close(&reading);
}
