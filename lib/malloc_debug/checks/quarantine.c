/*
 * A ring of slots, each with a flag that says that a thread is using it. A
 * thread tries the flag but never waits for it: its owner may be interrupted by
 * this very thread, or have left by longjmp(). In the last case only that slot
 * is lost.
 */
#include "lib/malloc_debug/checks/quarantine.h"

#include "lib/malloc_debug/checks/block.h"
#include "lib/malloc_debug/checks/errors.h"
#include "lib/malloc_debug/checks/fill.h"
#include "lib/malloc_debug/checks/guards.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/state/real.h"
#include "mu/sys.h"

struct slot {
	void *block;
	uint32_t stack;
	uint32_t taken;
};

static struct slot *ring;
static size_t ring_size;
static uint64_t next_ticket;

bool
quarantine_init(size_t entries)
{
	long memory = mu_sys_mmap(NULL, entries * sizeof(*ring),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);

	if (mu_sys_failed(memory))
		return false;
	ring_size = entries;
	__atomic_store_n(&ring, (struct slot *)memory, __ATOMIC_RELEASE);
	return true;
}

/* True if guards and contents are unchanged. */
static bool
check(void *block, uint32_t stack)
{
	uint32_t word = live_word(block), tag;
	struct error_block found;

	if (word == 0)
		return false;
	found = block_error(block, word);
	found.freed = stack;
	if (guards_around(word) && !guards_tag(block, GUARDS_FREED, &tag)) {
		error_tag_after_free(&found, tag);
		return false;
	}
	error_check_freed(&found, fill_freed(block_usable(block, word)));
	return true;
}

/* If the head is damaged the allocator's block is not known: do not free it. */
static void
let_go(void *block, uint32_t stack)
{
	if (block != NULL && check(block, stack))
		block_release(block);
}

void
quarantine_put(void *block, uint32_t stack)
{
	uint64_t ticket = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_RELAXED);
	struct slot *slot = &ring[ticket % ring_size], old;

	if (__atomic_exchange_n(&slot->taken, 1, __ATOMIC_ACQUIRE) != 0) {
		let_go(block, stack);
		return;
	}
	old = *slot;
	slot->block = block;
	slot->stack = stack;
	__atomic_store_n(&slot->taken, 0, __ATOMIC_RELEASE);
	let_go(old.block, old.stack);
}

void
quarantine_check(void)
{
	uint64_t first = __atomic_load_n(&next_ticket, __ATOMIC_ACQUIRE);
	struct slot *slot, found;
	size_t i;

	for (i = 0; i < ring_size; i++) {
		slot = &ring[(first + i) % ring_size];
		if (__atomic_exchange_n(&slot->taken, 1, __ATOMIC_ACQUIRE))
			continue;
		found = *slot;
		/* taken prevents its release during the check. */
		if (found.block != NULL)
			check(found.block, found.stack);
		__atomic_store_n(&slot->taken, 0, __ATOMIC_RELEASE);
	}
}

uint32_t
quarantine_stack(const void *block)
{
	size_t i;

	for (i = 0; i < ring_size; i++) {
		if (__atomic_load_n(&ring[i].block, __ATOMIC_ACQUIRE) == block)
			return ring[i].stack;
	}
	return 0;
}
