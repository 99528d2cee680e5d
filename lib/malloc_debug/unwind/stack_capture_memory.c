/*
 * A page is tried by rt_sigprocmask() with an invalid first argument: the
 * kernel copies the new mask from the address before it checks that argument
 * (kernel/signal.c). So it returns EFAULT or EINVAL and changes nothing. That
 * takes 100 ns and no descriptor, and no sandbox refuses it.
 */
#include "lib/malloc_debug/unwind/stack_capture_memory.h"

#include "mu/sys.h"

#define PAGE ((uintptr_t)4096)

/* The largest frame without a call in it. */
#define NEAR (64 * PAGE)

/* From the first frame seen to the end of the stack. */
#define MOST_HOME (256 * PAGE)

#define LOWEST ((uintptr_t)65536) /* vm.mmap_min_addr */

static uintptr_t
page_of(uintptr_t address)
{
	return address & ~(PAGE - 1);
}

bool
stack_memory_probe(uintptr_t address)
{
	if (address < LOWEST || address > UINTPTR_MAX - 2 * PAGE)
		return false;
	return mu_sys4(SYS_rt_sigprocmask, -1, (long)(address & ~(uintptr_t)7),
		   0, sizeof(mu_sigmask)) == -EINVAL;
}

/*
 * Extend page by page; false if a page is missing: another stack lies behind
 * it.
 */
static bool
grow(struct stack_range *range, uintptr_t address)
{
	if (range->low == range->high)
		return false;
	if (address >= range->high && address - range->high < NEAR)
		while (
		    range->high <= address && stack_memory_probe(range->high))
			range->high += PAGE;
	if (address < range->low && range->low - address < NEAR)
		while (range->low > address &&
		    stack_memory_probe(range->low - PAGE))
			range->low -= PAGE;
	return stack_range_has(range, address);
}

/*
 * All pages up to TOP are mapped: there is no guard and no end of another
 * stack.
 */
static void
find_home(struct stack_memory *memory, uintptr_t sp, uintptr_t top)
{
	uintptr_t page = page_of(sp);

	if (sp >= top || top - sp > MOST_HOME ||
	    stack_range_has(&memory->foreign, sp))
		return;
	while (page < top && stack_memory_probe(page))
		page += PAGE;
	if (page < top)
		memory->foreign = (struct stack_range) { page_of(sp), page };
	else
		memory->home = (struct stack_range) { page_of(sp), page };
}

bool
stack_memory_begin(struct stack_memory *memory, uintptr_t sp, uintptr_t top)
{
	static const struct stack_range none = { 0, 0 };

	memory->now = none;
	memory->other = none;
	/* Deeper in the same stack: its pages are mapped down to sp. */
	if (!stack_range_has(&memory->home, sp) &&
	    (sp >= memory->home.low || !grow(&memory->home, sp)))
		find_home(memory, sp, top);
	if (!stack_range_has(&memory->home, sp))
		return stack_memory_reach(memory, sp);
	memory->now = memory->home;
	return true;
}

bool
stack_memory_reach(struct stack_memory *memory, uintptr_t address)
{
	struct stack_range range = memory->now;

	if (stack_range_has(&range, address) || grow(&memory->now, address))
		return true;
	range = memory->now;
	if (stack_range_has(&memory->other, address)) {
		memory->now = memory->other;
		memory->other = range;
		return true;
	}
	if (!stack_memory_probe(address))
		return false;
	memory->other = range;
	memory->now.low = page_of(address);
	memory->now.high = memory->now.low + PAGE;
	return true;
}
