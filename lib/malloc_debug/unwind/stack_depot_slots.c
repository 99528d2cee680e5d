/*
 * Slots: one for each block that LeakTracer records. Freed slots are in a list.
 * Its head includes a counter that every exchange increments, so that a slot
 * which was taken and freed again in between (ABA) is detected.
 */

#include "lib/malloc_debug/unwind/stack_depot.h"
#include "lib/malloc_debug/unwind/stack_depot_memory.h"

static uint64_t free_slots; /* count << 32 | unit */

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
