#include "lib/malloc_debug/dumps/journal_ring.h"
#include "lib/malloc_debug/shadow/recording.h"

#include <pthread.h>

#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"

#define ROUNDS 4 /* PTHREAD_DESTRUCTOR_ITERATIONS of glibc */

struct journal_ring journal_ring;
static pthread_key_t done_key;
static __thread int own_tid;

/* Recorded in the last round, after the destructors of other keys. */
static void
thread_done(void *round)
{
	size_t next = (size_t)round + 1;
	struct journal_slot slot;

	if (next <= ROUNDS) {
		recorder_enter();
		pthread_setspecific(done_key, (void *)next);
		recorder_leave();
		return;
	}
	slot = journal_begin();
	journal_end(slot, JOURNAL_THREAD_DONE, NULL, 0, 0);
}

bool
journal_start(size_t entries)
{
	long address;

	if (pthread_key_create(&done_key, thread_done) != 0)
		return false;
	address = mu_sys_mmap(NULL, entries * sizeof(struct journal_entry),
	    PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	if (mu_sys_failed(address)) {
		recorder_say(
		    "no memory for %zu records of allocations", entries);
		return false;
	}
	/*
	 * fork() copies a page table entry for each written page: 512 times as
	 * many for pages of 4 KiB as for 2 MiB.
	 */
	mu_sys3(SYS_madvise, address,
	    (long)(entries * sizeof(struct journal_entry)), MADV_HUGEPAGE);
	journal_ring.entries = (struct journal_entry *)address;
	journal_ring.room = entries;
	__atomic_store_n(&journal_on, true, __ATOMIC_RELEASE);
	recorder_refresh();
	return true;
}

/* clock_gettime() of libc: no system call, and errno stays on success. */
static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * MU_NS_PER_SEC + (uint64_t)now.tv_nsec;
}

/* pthread_setspecific() may allocate, for keys after the first 32. */
static void
know_thread(void)
{
	own_tid = mu_sys_gettid();
	if (pthread_getspecific(done_key) != NULL)
		return;
	recorder_enter();
	pthread_setspecific(done_key, (void *)1);
	recorder_leave();
}

/* False: there is no room. */
static bool
take_ticket(uint64_t *ticket)
{
	uint64_t used;

	*ticket = __atomic_load_n(&journal_ring.next, __ATOMIC_RELAXED);
	do {
		used = *ticket -
		    __atomic_load_n(&journal_ring.first, __ATOMIC_ACQUIRE);
		if (used >= journal_ring.room)
			return false;
	} while (!__atomic_compare_exchange_n(&journal_ring.next, ticket,
	    *ticket + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	if (used + 1 == journal_ring.room)
		recorder_say("Maximum number of records added, all new "
			     "operations will be dropped.");
	return true;
}

static bool
pass_on(struct journal_entry *entry, uint64_t ticket, int from, int to)
{
	uint64_t state = ticket * JOURNAL_STATES + (uint64_t)from;

	return __atomic_compare_exchange_n(&entry->state, &state,
	    ticket * JOURNAL_STATES + (uint64_t)to, false, __ATOMIC_ACQ_REL,
	    __ATOMIC_RELAXED);
}

struct journal_slot
journal_begin(void)
{
	struct journal_slot slot = { 0 };

	if (!__atomic_load_n(&journal_on, __ATOMIC_ACQUIRE))
		return slot;
	if (own_tid == 0)
		know_thread();
	if (!take_ticket(&slot.ticket))
		return slot;
	slot.entry = journal_ring_entry(slot.ticket);
	__atomic_store_n(&slot.entry->state,
	    slot.ticket * JOURNAL_STATES + JOURNAL_TAKEN, __ATOMIC_RELEASE);
	slot.start_ns = now_ns();
	return slot;
}

/* A realloc() to 0 bytes returns NULL without having failed. */
static bool
has_failed(enum journal_op op, const void *pointer, uint64_t second)
{
	return pointer == NULL && op != JOURNAL_FREE &&
	    op != JOURNAL_THREAD_DONE &&
	    !(op == JOURNAL_REALLOC && second == 0);
}

void
journal_end(struct journal_slot slot, enum journal_op op, const void *pointer,
    uint64_t first, uint64_t second)
{
	struct journal_entry *entry = slot.entry;

	if (entry == NULL)
		return;
	if (has_failed(op, pointer, second)) {
		pass_on(entry, slot.ticket, JOURNAL_TAKEN, JOURNAL_EMPTY);
		return;
	}
	if (!pass_on(entry, slot.ticket, JOURNAL_TAKEN, JOURNAL_FILLING))
		return;
	entry->first = first;
	entry->second = second;
	entry->start_ns = slot.start_ns;
	entry->end_ns = now_ns();
	entry->pointer = pointer;
	entry->tid = own_tid;
	entry->op = op;
	pass_on(entry, slot.ticket, JOURNAL_FILLING, JOURNAL_FULL);
}

/* The child keeps the records, as it keeps the blocks. */
void
journal_fork_child(void)
{
	own_tid = 0;
	journal_write_fork_child();
}
