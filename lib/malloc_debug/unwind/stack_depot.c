/*
 * Stacks in buckets by their hash. A thread with a new stack makes an entry and
 * puts it in front of its bucket with one exchange; two threads that add the
 * same stack at once find out by walking the bucket again.
 */
#include "lib/malloc_debug/unwind/stack_depot.h"

#include <string.h>

#include "lib/malloc_debug/unwind/stack_depot_find.h"
#include "lib/malloc_debug/unwind/stack_depot_memory.h"
#include "mu/sys.h"

uint32_t *depot_buckets;

static uint32_t count;

static uint64_t free_slots; /* count << 32 | unit */

/*
 * Slots: one for each block that LeakTracer records. Freed slots are in a list.
 * Its head includes a counter that every exchange increments, so that a slot
 * which was taken and freed again in between (ABA) is detected.
 */

static uint64_t
head_of(uint64_t old, uint32_t unit)
{
	return ((old >> 32) + 1) << 32 | unit;
}

static uint32_t
take_free(void)
{
	uint64_t old = __atomic_load_n(&free_slots, __ATOMIC_ACQUIRE);
	struct mu_stack *slot;
	uint32_t next;

	do {
		if ((uint32_t)old == 0)
			return 0;
		slot = depot_memory_at((uint32_t)old);
		/* Stale if another thread took it; then the count differs. */
		next = __atomic_load_n(&slot->next, __ATOMIC_RELAXED);
	} while (!__atomic_compare_exchange_n(&free_slots, &old,
	    head_of(old, next), true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	return (uint32_t)old;
}

uint32_t
stack_depot_slot(uint32_t stack, uint64_t time_ns)
{
	uint32_t unit = take_free();
	struct mu_stack_slot *slot;

	if (unit == 0)
		unit = depot_memory_take(sizeof(struct mu_stack_slot));
	if (unit == 0)
		return 0;
	slot = (struct mu_stack_slot *)depot_memory_at(unit);
	slot->time_ns = time_ns;
	__atomic_store_n(&slot->stack, stack, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->flags, MU_STACK_SLOT, __ATOMIC_RELEASE);
	return unit;
}

const struct mu_stack_slot *
stack_depot_slot_get(uint32_t unit)
{
	struct mu_stack_slot *slot =
	    (struct mu_stack_slot *)depot_memory_check(unit, sizeof(*slot));

	if (slot == NULL || slot->num_frames != 0 ||
	    __atomic_load_n(&slot->flags, __ATOMIC_ACQUIRE) != MU_STACK_SLOT)
		return NULL;
	return slot;
}

void
stack_depot_slot_free(uint32_t unit)
{
	struct mu_stack *slot;
	uint64_t old;

	if (stack_depot_slot_get(unit) == NULL)
		return;
	slot = depot_memory_at(unit);
	/* If two threads free the same slot, only one of them does it. */
	if (__atomic_exchange_n(&slot->flags, 0, __ATOMIC_ACQ_REL) !=
	    MU_STACK_SLOT)
		return;
	old = __atomic_load_n(&free_slots, __ATOMIC_RELAXED);
	do
		__atomic_store_n(&slot->next, (uint32_t)old, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&free_slots, &old,
	    head_of(old, unit), true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

uint32_t
stack_depot_count(void)
{
	return __atomic_load_n(&count, __ATOMIC_RELAXED);
}

/* Random odd numbers. */
const uint64_t depot_factors[DEPOT_LANES] = {
	0xf2a74de452e6b439,
	0x6513270e269e0d37,
	0x0c5c7fd0a6a3a451,
	0xd23f0824128b2f33,
	0x1818e811892f902b,
	0x9531985d5d9dc9f9,
	0xe8e25d940ed90475,
	0x36f675cc81e74ef5,
	0x1600a35a099950d9,
	0x6b0d549b6f03675b,
	0x3d9c172411e20b8f,
	0x8d116ece1738f7d9,
	0x0f21ddb66cad4a27,
	0x90c192cfd3ac94af,
	0xf28c105d1fb17c23,
	0xa170b33839263059,
};

bool
stack_depot_init(void)
{
	long at;

	if (__atomic_load_n(&depot_buckets, __ATOMIC_ACQUIRE) != NULL)
		return true;
	if (!depot_memory_init())
		return false;
	at = mu_sys_mmap(NULL, sizeof(*depot_buckets) << DEPOT_BUCKET_BITS,
	    PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	if (mu_sys_failed(at))
		return false;
	__atomic_store_n(&depot_buckets, (uint32_t *)at, __ATOMIC_RELEASE);
	return true;
}

static uint32_t
new_stack(
    uint32_t hash, const uint64_t *frames, size_t num_frames, uint16_t flags)
{
	size_t bytes = num_frames * sizeof(*frames);
	uint32_t unit = depot_memory_take(sizeof(struct mu_stack) + bytes);
	struct mu_stack *stack;

	if (unit == 0)
		return 0;
	stack = depot_memory_at(unit);
	memcpy(stack->frames, frames, bytes);
	stack->hash = hash;
	stack->flags = flags;
	stack->num_frames = (uint16_t)num_frames;
	__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
	return unit;
}

static uint32_t
find_or_add(
    uint64_t hash, const uint64_t *frames, size_t num_frames, uint16_t flags)
{
	uint32_t *bucket = depot_bucket(hash);
	uint32_t head = __atomic_load_n(bucket, __ATOMIC_ACQUIRE), end = 0;
	uint32_t unit, mine = 0;

	for (;;) {
		unit = depot_find_in_bucket(
		    head, end, (uint32_t)hash, frames, num_frames, flags);
		/* An entry that this thread made too late is lost. */
		if (unit != 0)
			return unit;
		if (mine == 0)
			mine = new_stack(
			    (uint32_t)hash, frames, num_frames, flags);
		if (mine == 0)
			return 0;
		end = head;
		depot_memory_at(mine)->next = head;
		if (__atomic_compare_exchange_n(bucket, &head, mine, false,
			__ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
			return mine;
	}
}

uint32_t
stack_depot_put_walked(
    const uintptr_t *frames, size_t num_frames, uint16_t flags, uint32_t layout)
{
	const uint64_t *words = (const uint64_t *)frames;
	uint32_t unit;

	if (num_frames == 0)
		return MU_STACK_EMPTY;
	if (num_frames > MU_STACK_MAX_FRAMES)
		num_frames = MU_STACK_MAX_FRAMES;
	if (__atomic_load_n(&depot_buckets, __ATOMIC_ACQUIRE) == NULL)
		return 0;
	unit = find_or_add(
	    depot_hash(words, num_frames, flags), words, num_frames, flags);
	if (unit != 0 && layout != 0)
		__atomic_store_n(
		    &depot_memory_at(unit)->reserved, layout, __ATOMIC_RELAXED);
	return unit;
}

uint32_t
stack_depot_put(const uintptr_t *frames, size_t num_frames, uint16_t flags)
{
	return stack_depot_put_walked(frames, num_frames, flags, 0);
}

const struct mu_stack *
stack_depot_get(uint32_t unit)
{
	const struct mu_stack_slot *slot = stack_depot_slot_get(unit);
	const struct mu_stack *stack;
	uint64_t hash;

	if (slot != NULL)
		unit = __atomic_load_n(&slot->stack, __ATOMIC_RELAXED);
	stack = depot_memory_check(unit, sizeof(*stack));
	if (stack == NULL || stack->num_frames == 0 ||
	    stack->num_frames > MU_STACK_MAX_FRAMES ||
	    (stack->flags & ~MU_STACK_CHILD) != 0)
		return NULL;
	if (depot_memory_check(unit,
		sizeof(*stack) + stack->num_frames * sizeof(uint64_t)) == NULL)
		return NULL;
	/* UNIT may be the middle of a stack, or one that is being made. */
	hash = depot_hash(stack->frames, stack->num_frames, stack->flags);
	return stack->hash == (uint32_t)hash ? stack : NULL;
}
