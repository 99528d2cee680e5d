/*
 * Malloc writes fenceposts where it has left a piece of memory for another one.
 * A copy of such a heap with one fencepost damaged is refused.
 */
#include "tests/support/heaps/heap_busy.h"
#include "tests/support/suite.h"

#define FILLER 100000 /* bytes: less than what is mmapped */
#define HEAP_BLOCKS (MU_GLIBC_HEAP_MAX / FILLER + 20)

static struct heap_image image;
static struct heap_reading whole;
static pthread_barrier_t filled;
static uintptr_t second_heap; /* a block in it */

static void
take(struct mu_thread *threads, size_t count, enum mu_status status)
{
	heap_image_take(&image, threads, count);
	heap_image_read(&image, &whole);
	ck_assert_msg(whole.status == status, "%s: %s",
	    mu_status_name(whole.status), whole.why.text);
}

static void
refused(uintptr_t at, uintptr_t value, const char *words)
{
	uintptr_t *word = heap_image_word(&image, at), old = *word;
	struct heap_reading reading;

	*word = value;
	heap_image_read(&image, &reading);
	ck_assert_msg(reading.status == MU_ERR_HEAP_INCONSISTENT &&
		strstr(reading.why.text, words) != NULL,
	    "%s: %s", mu_status_name(reading.status), reading.why.text);
	*word = old;
	heap_reading_close(&reading);
}

/* Two, before memory that other code took by sbrk(). */
TEST(rule2_fenceposts)
{
	uintptr_t end;
	char *hole;

	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	busy_block(FILLER);
	hole = sbrk(4096);
	end = (uintptr_t)hole;
	while (sbrk(0) == hole + 4096)
		busy_block(1000);
	take(NULL, 0, MU_PARTIAL);
	/* The rest of the old top may be free and in a bin. */
	ck_assert_uint_eq(*heap_image_word(&image, end - 24) | 1, 0x11);
	ck_assert_uint_eq(*heap_image_word(&image, end - 8), 0x11);
	refused(end - 24, 0x21, "arena");
	refused(end - 24, 1, "impossible size");
	refused(end - 24, (uintptr_t)1 << 40 | 1, "out of the heap");
	refused(end - 8, 1, "lone fencepost");
	refused(end - 8, 0x21, "lone fencepost");
	refused(end - 8, 0x10, "lone fencepost");
}

static void *
fill_heaps(void *tp)
{
	size_t i;

	*(uintptr_t *)tp = mu_arch_tp();
	for (i = 0; i < HEAP_BLOCKS; i++)
		second_heap = (uintptr_t)malloc(FILLER);
	pthread_barrier_wait(&filled);
	for (;;)
		pause();
	return NULL;
}

/* One, and the end of the chain, in a heap that another arena left. */
TEST(rule2_heap_left)
{
	struct mu_thread threads[2] = { { .tid = getpid(),
	    .tp = mu_arch_tp() } };
	uintptr_t heap, prev, end, tp;
	pthread_t thread;

	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	pthread_barrier_init(&filled, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, fill_heaps, &tp), 0);
	pthread_barrier_wait(&filled);
	threads[1] = (struct mu_thread) { .tid = getpid() + 1, .tp = tp };
	take(threads, 2, MU_OK);

	heap = second_heap & ~(uintptr_t)(MU_GLIBC_HEAP_MAX - 1);
	prev = *heap_image_word(&image, heap + 8);
	ck_assert_uint_ne(prev, 0);
	end = prev + *heap_image_word(&image, prev + 16);
	refused(end - 8, 0, "no fencepost at the end of its heap");
	refused(end - 8, 0x11, "no fencepost at the end of its heap");
	refused(end - 16, 0x50, "prev_size behind the fencepost disagrees");
	refused(heap + 8, 0, "is the first one, but the arena is elsewhere");
	refused(heap + 8, heap, "system_mem");
	refused(prev, heap, "ring of arenas");
}
