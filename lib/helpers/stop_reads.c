/*
 * Runs in: keeper.
 */
#include "lib/helpers/stop_reads.h"

#include "heapwalk/subject/workers.h"
#include "mu/sys.h"

#define BATCH ((size_t)4 << 20) /* bytes that are read at a time */
#define FOR_OTHERS                                                   \
	((size_t)2 << 20) /* to wake a worker up for less costs more \
			     than it spares */

#define PRESENT_OR_SWAPPED 62 /* the upper bits of an entry of pagemap */

/* The page at ADDRESS is there, but for the process alone: memfd_secret(). */
static bool
is_secret(const struct mu_stop_reads *reads, uintptr_t address)
{
	uint64_t entry = 0;

	return mu_sys_pread(reads->pagemap, &entry, sizeof(entry),
		   address / reads->page_size * sizeof(entry)) ==
	    sizeof(entry) &&
	    entry >> PRESENT_OR_SWAPPED != 0;
}

static void
read_one(struct mu_stop_reads *reads, const struct mu_stop_read *item)
{
	size_t size = mu_range_size(item->range), done = 0;
	uintptr_t at;
	ssize_t n;

	while (done < size) {
		at = item->range.begin + done;
		n = mu_sys_vm_read(
		    reads->tid, item->to + done, size - done, at);
		if (n <= 0)
			n = mu_sys_pread(
			    reads->memory, item->to + done, size - done, at);
		if (n == -EINTR)
			continue;
		/* Of a page that cannot be read nothing is known. */
		if (n <= 0 && is_secret(reads, at))
			__atomic_fetch_add(&reads->unread, 1, __ATOMIC_RELAXED);
		done += n > 0 ? (size_t)n : reads->page_size;
	}
}

/* One worker. */
static void
read_items(void *ctx, unsigned worker)
{
	struct mu_stop_reads *reads = ctx;
	size_t i;

	(void)worker;
	while ((i = __atomic_fetch_add(&reads->next, 1, __ATOMIC_RELAXED)) <
	    reads->count)
		read_one(reads, &reads->items[i]);
}

void
mu_stop_reads_run(struct mu_stop_reads *reads)
{
	reads->next = 0;
	mu_workers_run(reads->workers,
	    reads->bytes < FOR_OTHERS ? 1 : (unsigned)reads->count, read_items,
	    reads);
	reads->count = reads->bytes = 0;
}

void
mu_stop_reads_add(struct mu_stop_reads *reads, struct mu_range range, char *to)
{
	reads->items[reads->count++] = (struct mu_stop_read) { range, to };
	reads->bytes += mu_range_size(range);
	if (reads->count == MU_STOP_READS_MAX || reads->bytes >= BATCH)
		mu_stop_reads_run(reads);
}
