/*
 * Layouts are stored in the depot. Two tables cache results: the layout by
 * where a walk began, and the stack by the words at the layout's offsets.
 */
#include "lib/malloc_debug/unwind/stack_layouts.h"

#include <string.h>

#include "lib/malloc_debug/unwind/stack_depot.h"
#include "lib/malloc_debug/unwind/stack_depot_find.h"
#include "mu/arch/unwind.h"
#include "mu/sys.h"

struct stack_layouts *stack_layouts;

_Static_assert(sizeof(struct stack_known[KNOWN_WAYS]) == 64, "a line");

/* Steele and Vigna's SplitMix64. */
static void
fill_factors(struct stack_layouts *all)
{
	uint64_t state = 1, x;
	size_t i;

	for (i = 0; i < sizeof(all->factors) / sizeof(all->factors[0]); i++) {
		x = state += LAYOUT_MIX;
		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
		x = (x ^ x >> 27) * 0x94d049bb133111ebull;
		all->factors[i] = (x ^ x >> 31) | 1;
	}
}

bool
stack_layouts_init(void)
{
	long at;

	if (stack_layouts != NULL)
		return true;
	at = mu_sys_mmap(NULL, sizeof(*stack_layouts), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	if (mu_sys_failed(at))
		return false;
	fill_factors((struct stack_layouts *)at);
	__atomic_store_n(
	    &stack_layouts, (struct stack_layouts *)at, __ATOMIC_RELEASE);
	return true;
}

/* Fill offsets[I] and the following. Returns the index after them. */
static size_t
set_offsets(struct stack_layout *layout, size_t i, const uint16_t *offsets,
    size_t num, size_t room)
{
	size_t j;

	for (j = 0; j < room; j++) {
		layout->offsets[i + j] = offsets[j < num ? j : num - 1];
		if (layout->reach <= layout->offsets[i + j])
			layout->reach = (uint16_t)(layout->offsets[i + j] + 1);
	}
	return i + room;
}

/* Size in words of 8 bytes; the last one may be padded with zeros. */
static size_t
make_layout(struct stack_layout *layout, const struct stack_trace *trace)
{
	size_t i;

	layout->pointer = trace->pointer;
	layout->ended = trace->ended;
	layout->num_returns = (uint8_t)trace->num_returns;
	layout->num_pointers = (uint8_t)trace->num_pointers;
	i = set_offsets(layout, 0, trace->returns, trace->num_returns,
	    stack_layout_lanes(trace->num_returns));
	i = set_offsets(layout, i, trace->pointers, trace->num_pointers,
	    stack_layout_lanes(trace->num_pointers));
	memcpy(layout->offsets + i, trace->targets,
	    trace->num_pointers * sizeof(trace->targets[0]));
	i += trace->num_pointers;
	return (offsetof(struct stack_layout, offsets[i]) + 7) / 8;
}

/*
 * Frames of varying size have an unlimited number of layouts, each with the
 * same stack: so there may be at most this many, plus one for each stack.
 */
#define LAYOUTS_MOST 2048u

static uint32_t num_layouts;

/* 0: none, also in future. */
static uint32_t
layout_unit(const uint64_t *words, size_t num)
{
	uint32_t layouts = __atomic_load_n(&num_layouts, __ATOMIC_RELAXED);
	uint32_t stacks = stack_depot_count() - layouts;
	uint64_t hash;

	if (layouts < LAYOUTS_MOST + stacks)
		return stack_depot_put(words, num, MU_STACK_LAYOUT);
	hash = depot_hash(words, num, MU_STACK_LAYOUT);
	return depot_find_in_bucket(
	    __atomic_load_n(depot_bucket(hash), __ATOMIC_ACQUIRE), 0,
	    (uint32_t)hash, words, num, MU_STACK_LAYOUT);
}

const struct mu_stack *
stack_layout_put(const struct stack_trace *trace)
{
	uint64_t words[(sizeof(struct stack_layout) + 7) / 8] = { 0 };
	struct mu_stack *entry;
	uint32_t unit;
	size_t num;

	if (trace->lost)
		return NULL;
	num = make_layout((struct stack_layout *)words, trace);
	unit = layout_unit(words, num);
	if (unit == 0)
		return NULL;
	entry = depot_memory_at(unit);
	if (__atomic_exchange_n(&entry->reserved, unit, __ATOMIC_RELAXED) == 0)
		__atomic_fetch_add(&num_layouts, 1, __ATOMIC_RELAXED);
	return entry;
}

/* True if the frame pointers match the layout. */
static bool
agrees(const struct stack_layout *layout, uintptr_t sp, uintptr_t fp)
{
	const uintptr_t *stack = (const uintptr_t *)sp;
	size_t num = layout->num_pointers, i;
	const layout_offset *offsets =
	    layout->offsets + stack_layout_lanes(layout->num_returns);
	const layout_offset *targets = offsets + stack_layout_lanes(num);

	if (layout->pointer != LAYOUT_NO_POINTER &&
	    fp != sp + 8ul * layout->pointer)
		return false;
	for (i = 0; i < num; i++) {
		if (stack[offsets[i]] != sp + 8ul * targets[i])
			return false;
	}
	return true;
}

size_t
stack_layout_read(const struct mu_stack *entry, uintptr_t sp, uintptr_t fp,
    size_t limit, uintptr_t *frames, size_t max)
{
	const struct stack_layout *layout = stack_layout_in(entry);
	const uintptr_t *stack = (const uintptr_t *)sp;
	size_t i, num = layout->num_returns;

	if (layout->reach > limit || num >= max || !agrees(layout, sp, fp))
		return 0;
	for (i = 0; i < num; i++)
		frames[i + 1] =
		    mu_unwind_strip(stack[layout->offsets[i]]) - MU_UNWIND_CALL;
	return num + 1;
}

void
stack_known_note(struct stack_known *set, uint64_t hash, uint64_t value)
{
	uint64_t check, old;
	size_t i;

	for (i = KNOWN_WAYS - 1; i > 0; i--) {
		old = __atomic_load_n(&set[i - 1].value, __ATOMIC_RELAXED);
		check = __atomic_load_n(&set[i - 1].check, __ATOMIC_RELAXED);
		__atomic_store_n(&set[i].value, old, __ATOMIC_RELAXED);
		__atomic_store_n(&set[i].check, check, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&set[0].value, value, __ATOMIC_RELAXED);
	__atomic_store_n(&set[0].check, hash ^ value, __ATOMIC_RELEASE);
}
