/*
 * Units below next_unit are taken. The thread whose units are the first in a
 * block maps the block.
 */
#include "lib/malloc_debug/unwind/stack_depot_memory.h"

#include "lib/malloc_debug/unwind/stack_depot.h"
#include "mu/sys.h"

#define BLOCK_UNITS (1u << MU_DEPOT_BLOCK_SHIFT)
#define BLOCK_BYTES ((size_t)BLOCK_UNITS * MU_DEPOT_UNIT)

uint64_t depot_blocks[MU_DEPOT_BLOCKS];

static uint32_t next_unit = MU_STACK_FIRST;

uint64_t *
stack_depot_directory(void)
{
	return depot_blocks;
}

static bool
map_block(uint32_t block)
{
	uint64_t none = 0;
	long at;

	if (__atomic_load_n(&depot_blocks[block], __ATOMIC_ACQUIRE) != 0)
		return true;
	at = mu_sys_mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	if (mu_sys_failed(at))
		return __atomic_load_n(
			   &depot_blocks[block], __ATOMIC_ACQUIRE) != 0;
	if (!__atomic_compare_exchange_n(&depot_blocks[block], &none,
		(uint64_t)at, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		mu_sys_munmap((void *)at, BLOCK_BYTES);
	return true;
}

bool
depot_memory_init(void)
{
	return map_block(0);
}

uint32_t
depot_memory_take(size_t size)
{
	uint32_t units = (uint32_t)((size + MU_DEPOT_UNIT - 1) / MU_DEPOT_UNIT);
	uint32_t unit, next = __atomic_load_n(&next_unit, __ATOMIC_RELAXED);

	do {
		unit = next;
		if (unit % BLOCK_UNITS + units > BLOCK_UNITS)
			unit = (unit / BLOCK_UNITS + 1) * BLOCK_UNITS;
		if (unit + units > MU_DEPOT_BLOCKS * BLOCK_UNITS)
			return 0;
		/*
		 * Map the block before taking the units: if that fails the
		 * units are still free for a later attempt.
		 */
		if (!map_block(unit / BLOCK_UNITS))
			return 0;
	} while (!__atomic_compare_exchange_n(&next_unit, &next, unit + units,
	    true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return unit;
}

struct mu_stack *
depot_memory_check(uint32_t unit, size_t size)
{
	uint32_t taken = __atomic_load_n(&next_unit, __ATOMIC_RELAXED);
	uint32_t in_block = unit % BLOCK_UNITS;

	if (unit < MU_STACK_FIRST || unit >= taken)
		return NULL;
	if (size > (size_t)(BLOCK_UNITS - in_block) * MU_DEPOT_UNIT)
		return NULL;
	if (__atomic_load_n(
		&depot_blocks[unit / BLOCK_UNITS], __ATOMIC_ACQUIRE) == 0)
		return NULL;
	return depot_memory_at(unit);
}
