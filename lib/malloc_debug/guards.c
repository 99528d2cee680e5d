/*
 * Where guards lie: [head, slack, front guard] block [rear guard].
 */
#include "lib/malloc_debug/guards.h"

#include <string.h>

#include "lib/malloc_debug/recorder.h"
#include "lib/malloc_debug/stack_id.h"

struct guards_head {
	uint32_t tag;
	uint32_t offset; /* in units of 16 bytes */
	void *raw;
	size_t size;
	uint64_t check; /* of the three above */
};

#define UNIT ((size_t)16) /* MALLOC_ALIGNMENT */

bool
guards_around(uint32_t word)
{
	return (recorder_options.front_guard != 0 ||
		   recorder_options.rear_guard != 0) &&
	    mu_shadow_stack(word) != RECORDER_BARE;
}

size_t
guards_offset(size_t alignment)
{
	size_t front = recorder_options.front_guard;

	if (front == 0)
		return 0;
	if (alignment < UNIT)
		alignment = UNIT;
	front = (front + UNIT - 1) & ~(UNIT - 1);
	return (sizeof(struct guards_head) + front + alignment - 1) &
	    ~(alignment - 1);
}

bool
guards_total(size_t size, size_t offset, size_t *total)
{
	return !__builtin_add_overflow(size, offset, total) &&
	    !__builtin_add_overflow(
		*total, recorder_options.rear_guard, total) &&
	    !__builtin_add_overflow(
		*total, recorder_options.expand_alloc, total);
}

/* The head lies right before the guard: its place does not depend on what an
 * alignment left in front of it. */
static struct guards_head *
head_of(const void *block)
{
	size_t front = (recorder_options.front_guard + UNIT - 1) & ~(UNIT - 1);

	return (struct guards_head *)(void *)((char *)(uintptr_t)block - front -
	    sizeof(struct guards_head));
}

static uint64_t
check_of(const struct guards_head *head)
{
	return (uint64_t)(uintptr_t)head->raw ^ (uint64_t)head->offset << 40 ^
	    (uint64_t)(uintptr_t)head;
}

static void
note_dressing(size_t offset)
{
	uint64_t *most = &memunreachable_recorded.dressing;
	uint64_t old = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (offset > old &&
	    !__atomic_compare_exchange_n(
		most, &old, offset, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		continue;
}

void *
guards_dress(void *raw, size_t offset, size_t size)
{
	char *block = (char *)raw + offset;
	struct guards_head *head;

	if (offset != 0) {
		head = head_of(block);
		head->offset = (uint32_t)(offset / UNIT);
		head->raw = raw;
		head->size = size;
		head->check = check_of(head);
		head->tag = GUARDS_LIVE;
		memset(head + 1, GUARDS_FRONT,
		    (size_t)(block - (char *)(head + 1)));
		note_dressing(offset);
	}
	memset(block + size, GUARDS_REAR, recorder_options.rear_guard);
	return block;
}

void
guards_resize(void *block, size_t size)
{
	if (recorder_options.front_guard != 0)
		head_of(block)->size = size;
	memset((char *)block + size, GUARDS_REAR, recorder_options.rear_guard);
}

void *
guards_raw(const void *block)
{
	return recorder_options.front_guard == 0 ? (void *)(uintptr_t)block
						 : head_of(block)->raw;
}

bool
guards_tag(const void *block, uint32_t expected, uint32_t *found)
{
	const struct guards_head *head;

	if (recorder_options.front_guard == 0)
		return true;
	head = head_of(block);
	*found = head->tag;
	/* The rest of the head is worth as much as its tag. */
	return head->tag == expected && head->check == check_of(head);
}

void
guards_set_tag(void *block, uint32_t tag)
{
	if (recorder_options.front_guard != 0)
		head_of(block)->tag = tag;
}
