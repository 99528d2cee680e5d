/* Layout: [head, slack, front guard] block [rear guard, expansion, note]. */
#include "lib/malloc_debug/checks/guards.h"

#include <string.h>

#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/state/state.h"

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

/* The number of bytes after a block. */
static size_t
behind(void)
{
	return recorder_options.rear_guard + recorder_options.expand_alloc;
}

bool
guards_noted(void)
{
	return recorder_options.rear_guard != 0 ||
	    recorder_options.verify_pointers;
}

bool
guards_total(size_t size, size_t offset, size_t *total)
{
	return !__builtin_add_overflow(size, offset, total) &&
	    !__builtin_add_overflow(*total, behind(), total) &&
	    !__builtin_add_overflow(
		*total, guards_noted() ? sizeof(uint64_t) : 0, total);
}

/*
 * The upper bits distinguish a note of this block from other data, such as the
 * note of an older block.
 */
#define NOTE_SHIFT 0x3full /* 1 + log2 of the alignment; 0: none */
#define NOTE_EMPTY 6       /* first bit of enum guards_empty */
#define NOTE_INFO 0xffull

static uint64_t
note_of(const void *block, uint64_t info)
{
	uint64_t mixed = (uint64_t)(uintptr_t)block * 0x9e3779b97f4a7c15ull;

	return (mixed & ~NOTE_INFO) | info;
}

static bool
find_note(const void *block, size_t size, uint64_t *info)
{
	uint64_t note;

	if (!guards_noted())
		return false;
	memcpy(&note, (const char *)block + size + behind(), sizeof(note));
	*info = note & NOTE_INFO;
	return note == note_of(block, *info);
}

void
guards_note(void *block, size_t size, size_t alignment, enum guards_empty empty)
{
	uint64_t note, info = (uint64_t)empty << NOTE_EMPTY;

	if (!guards_noted())
		return;
	if (alignment != 0)
		info |= 1 + (uint64_t)__builtin_ctzll(alignment);
	note = note_of(block, info);
	memcpy((char *)block + size + behind(), &note, sizeof(note));
	if (empty == GUARDS_EMPTY && recorder_options.rear_guard != 0)
		memset(block, GUARDS_REAR, size);
}

enum guards_empty
guards_empty(const void *block, size_t size)
{
	uint64_t info = 0;

	return recorder_options.rear_guard != 0 && find_note(block, size, &info)
	    ? (enum guards_empty)(info >> NOTE_EMPTY)
	    : GUARDS_NOT_EMPTY;
}

bool
guards_alignment(const void *block, size_t size, size_t *alignment)
{
	uint64_t info = 0;

	if (!find_note(block, size, &info))
		return false;
	info &= NOTE_SHIFT;
	*alignment = info == 0 ? 0 : (size_t)1 << (info - 1);
	return true;
}

/*
 * The head lies right before the front guard, so its position does not depend
 * on the slack that an alignment requires.
 */
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
	uint64_t *most = &memunreachable_recorded.max_guard;
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
	/* The check value covers the other members of the head. */
	return head->tag == expected && head->check == check_of(head);
}

void
guards_set_tag(void *block, uint32_t tag)
{
	if (recorder_options.front_guard != 0)
		head_of(block)->tag = tag;
}
