/*
 * Open addressing: an address takes the first free one of eight entries and
 * keeps it. A rule is one word, so it cannot be torn.
 */
#include "lib/malloc_debug/unwind/frame_memo.h"

#include <string.h>

#include "lib/malloc_debug/unwind/module.h"
#include "lib/malloc_debug/unwind/stack_capture_memory.h"
#include "mu/arch/unwind.h"
#include "mu/sys.h"

#define FIRST_BITS 12 /* 64 KiB */
#define LAST_BITS 20

struct frame_memo *frame_memo;
uint64_t frame_memo_generation = 1u << RULE_MEMO_SHIFT;

static size_t
bytes_of(unsigned bits)
{
	return sizeof(struct frame_memo) +
	    (((size_t)1 << bits) + FRAME_MEMO_NEIGHBOURS) *
	    sizeof(struct frame_memo_entry);
}

static struct frame_memo *
new_memo(unsigned bits)
{
	struct frame_memo *memo;
	long at = mu_sys_mmap(NULL, bytes_of(bits), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);

	if (mu_sys_failed(at))
		return NULL;
	memo = (struct frame_memo *)at;
	memo->shift = 64 - bits;
	return memo;
}

bool
frame_memo_init(void)
{
	if (frame_memo == NULL)
		frame_memo = new_memo(FIRST_BITS);
	return frame_memo != NULL;
}

void
frame_memo_forget(void)
{
	uint64_t old = frame_memo_now(), next;

	do
		next = (old + (1u << RULE_MEMO_SHIFT)) & RULE_MEMO_MASK;
	while (!__atomic_compare_exchange_n(&frame_memo_generation, &old, next,
	    true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* False: its eight entries are in use. */
static bool
put(struct frame_memo *memo, uintptr_t pc, uint64_t rule)
{
	struct frame_memo_entry *entry =
	    &memo->entries[frame_memo_hash(pc, memo->shift)];
	uintptr_t owner;
	unsigned i;

	for (i = 0; i < FRAME_MEMO_NEIGHBOURS; i++, entry++) {
		owner = __atomic_load_n(&entry->pc, __ATOMIC_RELAXED);
		if (owner == 0 &&
		    __atomic_compare_exchange_n(&entry->pc, &owner, pc, false,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			__atomic_fetch_add(&memo->used, 1, __ATOMIC_RELAXED);
			owner = pc;
		}
		if (owner != pc)
			continue;
		__atomic_store_n(&entry->rule, rule, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

static void
copy_entries(struct frame_memo *to, const struct frame_memo *from)
{
	size_t i,
	    num = ((size_t)1 << (64 - from->shift)) + FRAME_MEMO_NEIGHBOURS;
	uint64_t rule, generation = frame_memo_now();

	for (i = 0; i < num; i++) {
		rule =
		    __atomic_load_n(&from->entries[i].rule, __ATOMIC_RELAXED);
		if (rule != 0 && ((rule ^ generation) & RULE_MEMO_MASK) == 0)
			put(to, from->entries[i].pc, rule);
	}
}

static void
grow(struct frame_memo *old)
{
	unsigned bits = 64 - old->shift + 2;
	struct frame_memo *memo;

	if (bits > LAST_BITS ||
	    __atomic_load_n(&frame_memo, __ATOMIC_RELAXED) != old)
		return;
	memo = new_memo(bits);
	if (memo == NULL)
		return;
	copy_entries(memo, old);
	if (!__atomic_compare_exchange_n(&frame_memo, &old, memo, false,
		__ATOMIC_RELEASE, __ATOMIC_RELAXED))
		mu_sys_munmap(memo, bytes_of(bits));
}

/* The code that handlers return to, which all debuggers recognise. */
static bool
returns_from_signal(uintptr_t pc)
{
	static const uint8_t code[] = MU_SIGRETURN_BYTES;
	const uint8_t *at = (const uint8_t *)(pc + MU_UNWIND_CALL);

	return stack_memory_probe((uintptr_t)at) &&
	    stack_memory_probe((uintptr_t)at + sizeof(code) - 1) &&
	    memcmp(at, code, sizeof(code)) == 0;
}

uint64_t
frame_memo_compute(uintptr_t pc)
{
	struct frame_memo *memo =
	    __atomic_load_n(&frame_memo, __ATOMIC_ACQUIRE);
	struct unwind_module module;
	struct frame_rule rule = { .kind = FRAME_NO_RULE };
	bool inside = unwind_module_find(&module, pc);
	uint64_t packed, generation;
	uint32_t used, half;

	if (!inside)
		unwind_module_none();
	else if (!unwind_module_known(&module))
		frame_memo_forget();
	generation = frame_memo_now();
	if (inside)
		frame_rule_find(&rule, &module, pc);
	if (rule.kind == FRAME_NO_RULE && returns_from_signal(pc))
		rule.kind = FRAME_SIGNAL;
	packed = frame_rule_pack(&rule);
	if (packed == 0)
		packed = RULE_VALID | FRAME_NO_RULE << RULE_KIND_SHIFT;
	packed |= generation;
	used = __atomic_load_n(&memo->used, __ATOMIC_RELAXED);
	half = (uint32_t)1 << (63 - memo->shift);
	/*
	 * Addresses outside modules may be garbage, or generated without end.
	 */
	if (!inside && used > half / 2)
		return packed;
	if (!put(memo, pc, packed) || used > half)
		grow(memo);
	return packed;
}
