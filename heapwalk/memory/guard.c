/*
 * Handle faults in the sweeper's image: pages that are mapped readable but
 * cannot be read.
 *
 * Causes are guard regions inside a readable mapping (glibc 2.42's thread
 * stacks), a mapped file that was truncated, a protection key, memory that fork
 * left out (MADV_DONTFORK), and a page with a memory error. They are rare, and
 * checking each page first would take longer than all of the marking.
 *
 * Runs in: sweeper.
 */
#include "heapwalk/memory/self.h"

#include <string.h>

#include "heapwalk/memory/fork_gaps.h"
#include "heapwalk/subject/classify.h"
#include "mu/sys.h"

/*
 * AT_MINSIGSTKSZ is 11 KiB with AMX tiles in the frame; this is more than twice
 * that.
 */
#define SIGNAL_STACK_SIZE ((size_t)64 << 10)

/* The largest page of hugetlbfs: 1 GiB on x86-64, 16 GiB on aarch64. */
#define MAX_PAGE_SIZE ((size_t)16 << 30)

#define NUM_SIGNALS 2
static const int signals[NUM_SIGNALS] = { SIGSEGV, SIGBUS };

/* A handler gets no argument. Set in guard, cleared in unguard. */
static struct mu_memory *guarded;

/* Restore the default action, which takes effect once this handler returns. */
static void
give_up(int signo, const siginfo_t *info)
{
	struct mu_signal_action standard;

	memset(&standard, 0, sizeof(standard)); /* SIG_DFL */
	mu_sys_signal_action(signo, &standard, NULL);
	/* A fault recurs by itself; a signal that was sent does not. */
	if (info->si_code <= 0)
		mu_sys_kill(mu_sys_getpid(), signo);
}

/*
 * Map zeros over RANGE. They are read-only, so that an accidental write of ours
 * faults and ends us. Fails if it would split a huge page.
 */
static bool
overlay(struct mu_range range)
{
	long at;

	at = mu_sys_mmap((void *)range.begin, mu_range_size(range), PROT_READ,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE);
	return !mu_sys_failed(at);
}

/*
 * A page with a protection key has data, but the thread that we are a copy of
 * may not read it: change it to key 0, which every thread may read.
 */
static bool
unlock_key(const struct mu_mapping *mapping, const siginfo_t *info)
{
	return info->si_signo == SIGSEGV && info->si_code == SEGV_PKUERR &&
	    mu_sys4(SYS_pkey_mprotect, (long)mapping->range.begin,
		(long)mu_range_size(mapping->range), PROT_READ, 0) == 0;
}

/* True if this thread faults in PAGE again; remembers PAGE. */
static bool
is_repeated(struct mu_memory_self *self, uintptr_t page)
{
	struct mu_last_fault *last = self->last_faults;
	long thread = mu_sys_gettid();
	bool again;
	size_t i;

	for (i = 0; i + 1 < MU_WORKERS_MAX; i++)
		if (last[i].thread == thread || last[i].thread == 0)
			break;
	again = last[i].thread == thread && last[i].page == page;
	last[i] = (struct mu_last_fault) { thread, page };
	return again;
}

/*
 * True if another thread has repaired the page in the meantime. The kernel
 * reads the mask before it looks at the action (kernel/signal.c).
 */
static bool
is_mended(uintptr_t address)
{
	return mu_sys4(SYS_rt_sigprocmask, -1,
		   (long)(address - address % sizeof(mu_sigmask)), 0,
		   sizeof(mu_sigmask)) == -EINVAL;
}

/*
 * True if the program would fault there, too: after the end of a file
 * (BUS_ADRERR; a memory error has another code), or in a guard region.
 */
static bool
is_closed(const siginfo_t *info)
{
	return info->si_signo == SIGBUS ? info->si_code == BUS_ADRERR
					: info->si_code != SEGV_PKUERR;
}

static bool
mend(struct mu_memory *memory, const siginfo_t *info)
{
	struct mu_memory_self *self = memory->ctx;
	uintptr_t address = (uintptr_t)info->si_addr;
	const struct mu_mapping *mapping;
	struct mu_range page;
	size_t size = memory->page_size;

	mapping = mu_memory_self_mapping(self, address);
	if (info->si_code <= 0 || mapping == NULL ||
	    mapping->range.begin > address || !mu_mapping_is_memory(mapping))
		return false;
	/* The same page twice: the repair did not help. */
	if (is_repeated(self, address - address % size))
		return false;
	if (is_mended(address) || unlock_key(mapping, info))
		return true;
	for (; size <= MAX_PAGE_SIZE; size *= 2) {
		page.begin = address - address % size;
		page.end = page.begin + size;
		if (page.begin < mapping->range.begin ||
		    page.end > mapping->range.end)
			return false;
		if (overlay(page)) {
			memory->skipped_pages += size / memory->page_size;
			if (is_closed(info))
				memory->closed_pages +=
				    size / memory->page_size;
			return true;
		}
	}
	return false;
}

static void
lock(struct mu_memory_self *self)
{
	while (__atomic_exchange_n(&self->mending, 1, __ATOMIC_ACQUIRE) != 0)
		mu_sys0(SYS_sched_yield);
}

static void
unlock(struct mu_memory_self *self)
{
	__atomic_store_n(&self->mending, 0, __ATOMIC_RELEASE);
}

static void
on_fault(int signo, siginfo_t *info, void *context)
{
	struct mu_memory *memory = guarded;
	bool mended = false;

	(void)context;
	if (memory != NULL) {
		lock(memory->ctx);
		mended = mend(memory, info);
		unlock(memory->ctx);
	}
	if (!mended)
		give_up(signo, info);
}

/* A blocked fault signal kills in spite of a handler. */
static void
unblock(uint64_t *old)
{
	mu_sigmask both = mu_signal_bit(SIGSEGV) | mu_signal_bit(SIGBUS);

	mu_sys4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&both, (long)old,
	    sizeof(mu_sigmask));
}

enum mu_status
mu_memory_self_guard(
    struct mu_memory *memory, struct mu_fork_gaps *gaps, struct mu_why *why)
{
	struct mu_memory_self *self = memory->ctx;
	struct mu_signal_action action = {
		.handler = (void *)on_fault,
		.flags = SA_SIGINFO | SA_ONSTACK | MU_RESTORER_FLAG,
		.restorer = MU_RESTORER,
		.mask = ~0ull,
	};
	stack_t stack = { .ss_size = SIGNAL_STACK_SIZE };
	size_t i;
	long at;

	/*
	 * Before anything else is mapped: our own stack could take a place that
	 * has to be filled.
	 */
	mu_fork_gaps_fill(gaps, self, memory->page_size);
	memory->skipped_pages += gaps->lost;
	at = mu_sys_mmap(NULL, SIGNAL_STACK_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS);
	if (mu_sys_failed(at))
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "cannot map a signal stack (%d)", (int)-at);
	self->signal_stack = stack.ss_sp = (char *)at;
	mu_sys2(SYS_sigaltstack, (long)&stack, (long)&self->old_stack);
	for (i = 0; i < NUM_SIGNALS; i++)
		mu_sys_signal_action(
		    signals[i], &action, &self->old_actions[i]);
	guarded = memory;
	self->guarded = true;
	unblock(&self->old_mask);
	return MU_OK;
}

void
mu_memory_self_unguard(struct mu_memory *memory)
{
	struct mu_memory_self *self = memory->ctx;
	size_t i;

	if (!self->guarded)
		return;
	for (i = 0; i < NUM_SIGNALS; i++)
		mu_sys_signal_action(signals[i], &self->old_actions[i], NULL);
	guarded = NULL;
	self->guarded = false;
	mu_sys_restore_signals(&self->old_mask);
	mu_sys2(SYS_sigaltstack, (long)&self->old_stack, 0);
	mu_sys_munmap(self->signal_stack, SIGNAL_STACK_SIZE);
}
