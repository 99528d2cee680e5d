/*
 * The journal of record_allocs as a file: see journal.h.
 *
 * Runs in: the original, the watcher, which may be a bare thread, or at exit.
 */
#include "include/mu/report_file.h"
#include "lib/malloc_debug/dumps/journal_ring.h"
#include "lib/malloc_debug/dumps/output_file.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"
#include "mu/text.h"

#define PATIENCE_NS (20 * 1000 * 1000ull)

static int writing; /* by one thread at a time */

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
	return __atomic_load_n(&journal_ring_entry(ticket)->state,
		   __ATOMIC_ACQUIRE) == ticket * JOURNAL_STATES + JOURNAL_FULL;
}

/*
 * Operations in progress get a moment to finish; those that do not are left
 * out.
 */
static uint64_t
settle(uint64_t first, uint64_t next)
{
	uint64_t ticket, full = 0, deadline = mu_sys_now_ns() + PATIENCE_NS;

	for (ticket = first; ticket < next; ticket++) {
		while (!is_full(ticket) &&
		    __atomic_load_n(
			&journal_ring_entry(ticket)->state, __ATOMIC_RELAXED) !=
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
		__atomic_store_n(&journal_ring_entry(ticket)->state,
		    ticket * JOURNAL_STATES + JOURNAL_EMPTY, __ATOMIC_RELAXED);
	__atomic_store_n(&journal_ring.first, next, __ATOMIC_RELEASE);
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
				print(&out, journal_ring_entry(ticket));
		error = output_file_end(&out, name);
	}
	if (error != 0)
		recorder_say("Cannot create record alloc file %s: %s", name,
		    mu_report_file_reason(error));
	else
		clear(first, next);
}

void
journal_write(const char *name)
{
	uint64_t first, next;

	while (__atomic_exchange_n(&writing, 1, __ATOMIC_ACQUIRE) != 0)
		mu_sys_sleep_ns(MU_SYS_NAP_NS);
	first = journal_ring.first;
	next = __atomic_load_n(&journal_ring.next, __ATOMIC_ACQUIRE);
	if (settle(first, next) == 0)
		recorder_say("No alloc entries to write.");
	else
		write_all(name, first, next);
	__atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
}

void
journal_dump(void)
{
	journal_write(recorder_options.record_allocs_file);
}

void
journal_at_exit(void)
{
	char name[PATH_MAX];

	if (!journal_on || !recorder_options.record_allocs_on_exit)
		return;
	mu_text_format(name, sizeof(name), "%s.%d",
	    recorder_options.record_allocs_file, (int)mu_sys_getpid());
	journal_write(name);
}

void
journal_write_fork_child(void)
{
	__atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
}
