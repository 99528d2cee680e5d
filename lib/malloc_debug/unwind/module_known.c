/*
 * Detect code that replaces other code at an address. Code that may not wait
 * for a lock is not notified of that, but it soon looks up rules in the new
 * code.
 *
 * A module is identified by its addresses and the first bytes of its tables.
 * Slots are written without a lock: a torn slot matches no module, which then
 * counts as new.
 */
#include "lib/malloc_debug/unwind/module.h"

#define MODULES 512

struct known {
	uintptr_t start, end;
	uint64_t mark;
};

static struct known known[MODULES];
static unsigned num_known, none_relied_upon;

static uint64_t
mark_of(const struct unwind_module *module)
{
	struct unwind_bytes bytes = { module->hdr, module->readable_end,
		false };
	uint64_t mark = (uintptr_t)module->hdr ^ module->end;
	unsigned i;

	/* The count and the first entries mostly differ after a rebuild. */
	for (i = 0; i < 16; i++) {
		mark = (mark ^ unwind_take(&bytes, 8)) * 0x9e3779b97f4a7c15ull;
		mark ^= mark >> 29;
	}
	return mark;
}

static void
note(struct known *at, const struct unwind_module *module, uint64_t mark)
{
	__atomic_store_n(&at->start, module->start, __ATOMIC_RELAXED);
	__atomic_store_n(&at->end, module->end, __ATOMIC_RELAXED);
	__atomic_store_n(&at->mark, mark, __ATOMIC_RELAXED);
}

void
unwind_module_none(void)
{
	if (__atomic_load_n(&none_relied_upon, __ATOMIC_RELAXED) == 0)
		__atomic_store_n(&none_relied_upon, 1, __ATOMIC_RELAXED);
}

bool
unwind_module_known(const struct unwind_module *module)
{
	unsigned i, num = __atomic_load_n(&num_known, __ATOMIC_ACQUIRE);
	uint64_t mark = mark_of(module);
	bool replaced = false;
	uintptr_t start, end;

	for (i = 0; i < num && i < MODULES; i++) {
		start = __atomic_load_n(&known[i].start, __ATOMIC_RELAXED);
		end = __atomic_load_n(&known[i].end, __ATOMIC_RELAXED);
		if (end <= module->start || start >= module->end)
			continue;
		if (start == module->start && end == module->end &&
		    __atomic_load_n(&known[i].mark, __ATOMIC_RELAXED) == mark)
			return true;
		note(&known[i], module, mark);
		replaced = true;
	}
	if (!replaced) {
		num = __atomic_fetch_add(&num_known, 1, __ATOMIC_ACQ_REL);
		/*
		 * The array is full: the module in this slot will count as new.
		 */
		note(&known[num % MODULES], module, mark);
	}
	return !replaced &&
	    __atomic_exchange_n(&none_relied_upon, 0, __ATOMIC_RELAXED) == 0;
}
