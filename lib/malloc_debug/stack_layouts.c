/*
 * A table of two cache lines an entry. Who reads an entry looks at its turn
 * before and after; who writes it makes the turn odd meanwhile. A second
 * writer, or one that a signal's handler finds at work, leaves it.
 */
#include "lib/malloc_debug/stack_layouts.h"

#include "mu/sys.h"

struct stack_layouts *stack_layouts;

_Static_assert(sizeof(struct stack_layout) == 128, "two lines");

/* Steele and Vigna's SplitMix64. */
static void
fill_factors(struct stack_layouts *all)
{
	uint64_t state = 1, x;
	size_t i;

	for (i = 0; i < LAYOUT_WORDS; i++) {
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

void
stack_layouts_fork_child(void)
{
	struct stack_layout *layout;
	size_t i;

	if (stack_layouts == NULL)
		return;
	layout = stack_layouts->layouts;
	/* Another thread was writing: nobody will make the turn even. */
	for (i = 0; i >> LAYOUT_BITS == 0; i++)
		if (layout[i].turn % 2 != 0) {
			layout[i].key = 0;
			layout[i].turn++;
		}
}

uint32_t
stack_layout_mark(const struct stack_trace *trace)
{
	uint64_t mark = trace->num_pointers;
	unsigned i;

	if (trace->lost ||
	    trace->num_returns + 2 * trace->num_pointers > LAYOUT_WORDS)
		return 0;
	for (i = 0; i < trace->num_returns; i++)
		mark = stack_layout_key(mark, trace->returns[i]);
	for (i = 0; i < 2 * trace->num_pointers; i++)
		mark = stack_layout_key(mark, trace->pointers[i]);
	return (uint32_t)mark | 1;
}

static void
set_word(struct stack_layout *layout, size_t i, uint16_t word)
{
	__atomic_store_n(&layout->words[i], word, __ATOMIC_RELAXED);
}

void
stack_layout_note(
    const struct stack_trace *trace, uint32_t mark, uint64_t key, size_t max)
{
	struct stack_layout *layout = stack_layout_of(key);
	uint32_t turn = __atomic_load_n(&layout->turn, __ATOMIC_RELAXED);
	size_t i, num = 0;

	if (turn % 2 != 0 ||
	    !__atomic_compare_exchange_n(&layout->turn, &turn, turn + 1, false,
		__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&layout->key, key, __ATOMIC_RELAXED);
	__atomic_store_n(&layout->mark, mark, __ATOMIC_RELAXED);
	__atomic_store_n(&layout->max, (uint16_t)max, __ATOMIC_RELAXED);
	__atomic_store_n(&layout->num_returns, (uint8_t)trace->num_returns,
	    __ATOMIC_RELAXED);
	__atomic_store_n(&layout->num_pointers, (uint8_t)trace->num_pointers,
	    __ATOMIC_RELAXED);
	for (i = 0; i < trace->num_returns; i++)
		set_word(layout, num++, trace->returns[i]);
	for (i = 0; i < 2 * trace->num_pointers; i++)
		set_word(layout, num++, trace->pointers[i]);
	__atomic_store_n(&layout->turn, turn + 2, __ATOMIC_RELEASE);
}

/* The newest of a pair is first. */
void
stack_known_note(uint64_t hash, uint32_t unit)
{
	struct stack_known *known = stack_known_of(hash, 0);
	struct stack_known *second = stack_known_of(hash, 1);
	uint64_t old = __atomic_load_n(&known->unit, __ATOMIC_RELAXED);
	uint64_t check = __atomic_load_n(&known->check, __ATOMIC_RELAXED);

	/* Which of the two is first depends on the hash. */
	__atomic_store_n(&second->unit, old, __ATOMIC_RELAXED);
	__atomic_store_n(&second->check, check, __ATOMIC_RELAXED);
	__atomic_store_n(&known->unit, unit, __ATOMIC_RELAXED);
	__atomic_store_n(
	    &known->check, stack_known_check(hash, unit), __ATOMIC_RELAXED);
}
