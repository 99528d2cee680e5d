#include "tests/support/heaps/fake_heap.h"

#include "heapwalk/heaps/spans.h"

/*
 * For what is called a million times: each ck_assert() writes to the file by
 * which check knows where a test was.
 */
#define fake_must(holds)                            \
	do {                                        \
		if (!(holds))                       \
			ck_abort_msg("%s", #holds); \
	} while (0)

void
fake_heap_open(struct fake_heap *heap, enum fake_kind kind, size_t size)
{
	struct mu_range range;

	*heap = (struct fake_heap) { .kind = kind, .size = size };
	mu_arena_open(&heap->arena, (size_t)8 << 30);
	mu_blocks_open(&heap->blocks, &heap->arena);
	heap->pool = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(heap->pool, MAP_FAILED);
	range = (struct mu_range) { (uintptr_t)heap->pool,
		(uintptr_t)heap->pool + size };
	if (kind != FAKE_SPAN)
		return;
	ck_assert_ptr_nonnull(
	    mu_blocks_add_span(&heap->blocks, range, heap->pool));
	heap->member = (struct mu_heap_member) { .ops = &mu_heap_glibc,
		.state = &heap->glibc };
	heap->blocks.heaps = &heap->member;
	heap->blocks.num_heaps = 1;
	heap->blocks.spans[0].heap = &heap->member;
	heap->blocks.spans[0].tail = sizeof(size_t);
}

void
fake_heap_close(struct fake_heap *heap)
{
	munmap(heap->pool, heap->size);
	mu_arena_close(&heap->arena);
}

size_t
fake_usable(const struct fake_heap *heap, size_t size)
{
	size_t chunk = (size + sizeof(size_t) + 15) & ~(size_t)15;

	if (heap->kind == FAKE_LISTED)
		return size;
	return (chunk < FAKE_MIN_CHUNK ? FAKE_MIN_CHUNK : chunk) -
	    sizeof(size_t);
}

void
fake_set(struct mu_span *span, uintptr_t address, size_t size)
{
	size_t bit = (address - span->range.begin) / MU_GRAIN;

	mu_span_begin(span, bit, 1, 0);
	mu_span_begin(span, bit + (size + span->tail) / MU_GRAIN, 0, 0);
	span->count++;
	span->bytes += size;
}

void *
fake_block(struct fake_heap *heap, size_t size, bool keep)
{
	size_t usable = fake_usable(heap, size);
	char *block = heap->pool + heap->used;
	struct mu_range range = { (uintptr_t)block, (uintptr_t)block + size };

	fake_must(heap->used + usable + 64 <= heap->size);
	if (heap->kind == FAKE_LISTED) {
		fake_must(
		    mu_blocks_add(&heap->blocks, range, block, keep) == MU_OK);
		heap->used += (size + 7) & ~(size_t)7;
		return block;
	}
	block += 2 * sizeof(size_t);
	fake_set(&heap->blocks.spans[0], (uintptr_t)block, usable);
	heap->used += usable + sizeof(size_t);
	return block;
}

void
fake_heap_seal(struct fake_heap *heap)
{
	size_t rejected = 1;

	ck_assert_int_eq(mu_blocks_seal(&heap->blocks, &rejected), MU_OK);
	ck_assert_uint_eq(rejected, 0);
}

bool
fake_marked(const struct fake_heap *heap, const void *block)
{
	struct mu_block found;

	fake_must(mu_blocks_find(&heap->blocks, (uintptr_t)block, &found));
	return mu_block_marked(&found);
}

void
on_small_stack(void *(*body)(void *), void *ctx)
{
	pthread_attr_t attributes;
	pthread_t thread;

	ck_assert_int_eq(pthread_attr_init(&attributes), 0);
	ck_assert_int_eq(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
	ck_assert_int_eq(pthread_create(&thread, &attributes, body, ctx), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attributes);
}
