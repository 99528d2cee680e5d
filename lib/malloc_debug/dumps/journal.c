#include "lib/malloc_debug/dumps/journal.h"

#include <pthread.h>

#include "include/mu/report_file.h"
#include "lib/malloc_debug/dumps/output_file.h"
#include "lib/malloc_debug/dumps/watch_bare.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"
#include "mu/text.h"

#define ROUNDS 4 /* PTHREAD_DESTRUCTOR_ITERATIONS of glibc */

/*
 * Entries form a ring. A ticket is a position that is never reused, and its
 * entry stores the ticket: an operation that ends after its entry was reused
 * does not write to it.
 */
/* An entry's state: its ticket, and in the lower two bits one of these. */
enum {
	JOURNAL_EMPTY,
	JOURNAL_TAKEN,
	JOURNAL_FILLING,
	JOURNAL_FULL,
	JOURNAL_STATES
};

struct journal_entry {
	uint64_t state;
	uint64_t first, second;
	uint64_t start_ns, end_ns;
	const void *pointer;
	int tid;
	enum journal_op op;
};

struct journal_ring {
	struct journal_entry *entries;
	uint64_t room;
	uint64_t first, next; /* tickets in use; first moves only in writes */
};

static struct journal_ring ring;
static pthread_key_t done_key;
static __thread int own_tid;

#define PATIENCE_NS (20 * 1000 * 1000ull)

static int writing; /* by one thread at a time */

static struct journal_entry *
ring_entry(uint64_t ticket)
{
	return &ring.entries[ticket % ring.room];
}

static void
print(struct output_file *out, const struct journal_entry *entry)
{
	unsigned long start = entry->start_ns, end = entry->end_ns;
	unsigned long first = entry->first, second = entry->second;
	const void *p = entry->pointer;

	output_file_print(out, "%d: ", entry->tid);
	switch (entry->op) {
	case JOURNAL_MALLOC:
		output_file_print(out, "malloc %p %lu", p, first);
		break;
	case JOURNAL_FREE:
		output_file_print(out, "free %p", p);
		break;
	case JOURNAL_CALLOC:
		output_file_print(out, "calloc %p %lu %lu", p, first, second);
		break;
	case JOURNAL_REALLOC:
		output_file_print(
		    out, "realloc %p 0x%lx %lu", p, first, second);
		break;
	case JOURNAL_MEMALIGN:
		output_file_print(out, "memalign %p %lu %lu", p, first, second);
		break;
	case JOURNAL_THREAD_DONE:
		output_file_print(out, "thread_done 0x0 %lu\n", end);
		return;
	}
	output_file_print(out, " %lu %lu\n", start, end);
}

static bool
is_full(uint64_t ticket)
{
	return __atomic_load_n(&ring_entry(ticket)->state, __ATOMIC_ACQUIRE) ==
	    ticket * JOURNAL_STATES + JOURNAL_FULL;
}

/* Give operations in progress a moment to finish; others are left out. */
static uint64_t
await_operations(uint64_t first, uint64_t next)
{
	uint64_t ticket, full = 0, deadline = mu_sys_now_ns() + PATIENCE_NS;

	for (ticket = first; ticket < next; ticket++) {
		while (!is_full(ticket) &&
		    __atomic_load_n(
			&ring_entry(ticket)->state, __ATOMIC_RELAXED) !=
			ticket * JOURNAL_STATES + JOURNAL_EMPTY &&
		    mu_sys_now_ns() < deadline)
			mu_sys_sleep_ns(MU_SYS_NAP_NS);
		full += is_full(ticket);
	}
	return full;
}

static void
clear(uint64_t first, uint64_t next)
{
	uint64_t ticket;

	for (ticket = first; ticket < next; ticket++)
		__atomic_store_n(&ring_entry(ticket)->state,
		    ticket * JOURNAL_STATES + JOURNAL_EMPTY, __ATOMIC_RELAXED);
	__atomic_store_n(&ring.first, next, __ATOMIC_RELEASE);
}

static void
write_all(const char *name, uint64_t first, uint64_t next)
{
	struct output_file out;
	uint64_t ticket;
	int error = output_file_make(&out, name);

	if (error == 0) {
		for (ticket = first; ticket < next; ticket++)
			if (is_full(ticket))
				print(&out, ring_entry(ticket));
		error = output_file_end(&out, name);
	}
	if (error != 0)
		recorder_say("Cannot create record alloc file %s: %s", name,
		    mu_report_file_reason(error));
	else
		clear(first, next);
}

/*
 * Write the journal to NAME and clear it. On failure it is kept, and the error
 * is reported.
 */
static void
write_journal(const char *name)
{
	uint64_t first, next;

	while (__atomic_exchange_n(&writing, 1, __ATOMIC_ACQUIRE) != 0)
		mu_sys_sleep_ns(MU_SYS_NAP_NS);
	first = ring.first;
	next = __atomic_load_n(&ring.next, __ATOMIC_ACQUIRE);
	if (await_operations(first, next) == 0)
		recorder_say("No alloc entries to write.");
	else
		write_all(name, first, next);
	__atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
}

void
journal_dump(void)
{
	write_journal(recorder_options.record_allocs_file);
}

void
journal_at_exit(void)
{
	char name[PATH_MAX];

	if (!journal_on || !recorder_options.record_allocs_on_exit)
		return;
	mu_text_format(name, sizeof(name), "%s.%d",
	    recorder_options.record_allocs_file, watch_bare_program());
	write_journal(name);
}

/* In the child after fork(): another thread may have been writing. */
static void
end_write_of_parent(void)
{
	__atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
}

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
	ring.entries = (struct journal_entry *)address;
	ring.room = entries;
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

/* Returns false if there is no room. */
static bool
take_ticket(uint64_t *ticket)
{
	uint64_t used;

	*ticket = __atomic_load_n(&ring.next, __ATOMIC_RELAXED);
	do {
		used = *ticket - __atomic_load_n(&ring.first, __ATOMIC_ACQUIRE);
		if (used >= ring.room)
			return false;
	} while (!__atomic_compare_exchange_n(&ring.next, ticket, *ticket + 1,
	    false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	if (used + 1 == ring.room)
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
	slot.entry = ring_entry(slot.ticket);
	__atomic_store_n(&slot.entry->state,
	    slot.ticket * JOURNAL_STATES + JOURNAL_TAKEN, __ATOMIC_RELEASE);
	slot.start_ns = now_ns();
	return slot;
}

/* A realloc() to 0 bytes that returns NULL has not failed. */
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
	end_write_of_parent();
}
