#include "lib/helpers/shared_reads.h"

#include <string.h>

#include "heapwalk/memory/pages.h"
#include "mu/bits.h"
#include "mu/range.h"
#include "mu/sys.h"

#define BATCH ((size_t)4 << 20) /* bytes read at a time */
#define SIFTED_BATCH ((size_t)16 << 20)
/* Waking a worker for less costs more than it saves. */
#define FOR_OTHERS ((size_t)2 << 20)

static void
touch(char *memory, size_t size)
{
	volatile char *at = memory;
	size_t i;

	for (i = 0; i < size; i += 4096)
		at[i] = 0;
}

bool
mu_reader_rooms_open(struct mu_reader_room *rooms, unsigned readers,
    size_t most, size_t touched, struct mu_arena *arena)
{
	size_t part = touched / readers;
	unsigned i;

	for (i = 0; i < readers; i++) {
		rooms[i].used = 0;
		rooms[i].size = most;
		rooms[i].slot = mu_arena_alloc(arena, MU_READ_STEP, 1);
		rooms[i].kept = mu_arena_alloc(arena, most, 1);
		if (rooms[i].slot == NULL || rooms[i].kept == NULL)
			return false;
		touch(rooms[i].slot, MU_READ_STEP);
		touch(rooms[i].kept, part < most ? part : most);
	}
	return true;
}

/*
 * True if the page at ADDRESS is present but only the process can read it:
 * memfd_secret().
 */
static bool
is_secret(const struct mu_stop_reads *reads, uintptr_t address)
{
	uint64_t entry = 0;

	return mu_sys_pread(reads->pagemap, &entry, sizeof(entry),
		   address / reads->page_size * sizeof(entry)) ==
	    sizeof(entry) &&
	    mu_page_entry_there(entry);
}

/* Read RANGE to TO. Nothing is known about a page that cannot be read. */
static void
read_range(struct mu_stop_reads *reads, struct mu_range range, char *to)
{
	size_t size = mu_range_size(range), done = 0;
	uintptr_t at;
	ssize_t n;

	while (done < size) {
		at = range.begin + done;
		n = mu_sys_vm_read(reads->tid, to + done, size - done, at);
		if (n <= 0)
			n = mu_sys_pread(
			    reads->memory, to + done, size - done, at);
		if (n == -EINTR)
			continue;
		if (n <= 0 && is_secret(reads, at))
			__atomic_fetch_add(&reads->unread, 1, __ATOMIC_RELAXED);
		done += n > 0 ? (size_t)n : reads->page_size;
	}
}

/* Bytes that could not be read are zeros in SLOT, which has older ones. */
static void
read_over(struct mu_stop_reads *reads, struct mu_range range, char *slot)
{
	size_t size = mu_range_size(range);

	if (mu_sys_vm_read(reads->tid, slot, size, range.begin) ==
	    (ssize_t)size)
		return;
	memset(slot, 0, size);
	read_range(reads, range, slot);
}

static bool
keep_page(struct mu_reader_room *room, const char *page, size_t size)
{
	if (room->size - room->used < size)
		return false;
	memcpy(room->kept + room->used, page, size);
	room->used += size;
	return true;
}

static void
sift(struct mu_stop_reads *reads, struct mu_stop_read *item,
    struct mu_reader_room *room)
{
	size_t size = reads->page_size, i;
	size_t count = mu_range_size(item->range) / size;
	const char *page;

	read_over(reads, item->range, room->slot);
	item->to = room->kept + room->used;
	for (i = 0; i < count && !item->failed; i++) {
		page = room->slot + i * size;
		if (!mu_sift_keeps(reads->sift, page, size))
			continue;
		mu_bit_set(item->kept, i);
		item->failed = !keep_page(room, page, size);
	}
}

/* The body of a worker. */
static void
read_items(void *ctx, unsigned worker)
{
	struct mu_stop_reads *reads = ctx;
	struct mu_stop_read *item;
	size_t i;

	if (worker >= MU_READERS_MAX)
		return;
	while ((i = __atomic_fetch_add(&reads->next, 1, __ATOMIC_RELAXED)) <
	    reads->count) {
		item = &reads->items[i];
		if (item->sifted)
			sift(reads, item, &reads->rooms[worker]);
		else
			read_range(reads, item->range, item->to);
	}
}

void
mu_stop_reads_run(struct mu_stop_reads *reads)
{
	size_t count = reads->bytes < FOR_OTHERS ? 1 : reads->count;

	reads->next = 0;
	mu_workers_run(reads->workers,
	    count < MU_READERS_MAX ? (unsigned)count : MU_READERS_MAX,
	    read_items, reads);
}

bool
mu_stop_reads_full(const struct mu_stop_reads *reads)
{
	return reads->count == MU_READS_MAX ||
	    reads->bytes >= (reads->rooms != NULL ? SIFTED_BATCH : BATCH);
}

void
mu_stop_reads_add(
    struct mu_stop_reads *reads, struct mu_range range, char *to, bool live)
{
	reads->items[reads->count++] = (struct mu_stop_read) {
		.range = range,
		.to = to,
		.live = live,
		.sifted = to == NULL,
	};
	reads->bytes += mu_range_size(range);
}
