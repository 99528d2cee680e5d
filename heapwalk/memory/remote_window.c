/*
 * Keep a part of another process's memory in ours: see
 * heapwalk/memory/remote_window.h.
 *
 * Runs in: any.
 */
#include "heapwalk/memory/remote_window.h"

#include "heapwalk/memory/remote_group.h"
#include "heapwalk/subject/ranges.h"
#include "mu/range.h"
#include "mu/signal_action.h"
#include "mu/sort.h"
#include "mu/sys.h"

/*
 * Bytes of a piece. A fault and its mapping cost 5 to 10 us, as much as reading
 * 32 to 64 KiB.
 */
#define LEAST ((size_t)16 << 10)
#define MOST ((size_t)512 << 10)
#define LEAST_WINDOW ((size_t)1 << 20)

/* A piece is at most this part of the window, as each worker needs several. */
#define MANY 32

#define DROPPED_PART 8 /* part of a window that is dropped at a time */

/* A signal handler gets no argument. */
static struct mu_remote_window *windows;
static struct mu_signal_action old_action;

static void
lock(struct mu_remote_window *window)
{
	while (__atomic_exchange_n(&window->lock, 1, __ATOMIC_ACQUIRE) != 0)
		mu_sys0(SYS_sched_yield);
}

static void
unlock(struct mu_remote_window *window)
{
	__atomic_store_n(&window->lock, 0, __ATOMIC_RELEASE);
}

/*
 * Wait until a piece that another thread reads is in place. The caller holds
 * the lock.
 */
static void
await_change(struct mu_remote_window *window)
{
	int changes = window->changes;

	unlock(window);
	mu_sys_futex_await(&window->changes, changes);
	lock(window);
}

static char *
place_of(
    const struct mu_remote_window *window, const struct mu_remote_piece *piece)
{
	return piece->group->base + piece->page * window->remote->page_size;
}

static void
set_bits(uint64_t *bits, const struct mu_remote_piece *piece, bool value)
{
	size_t i;

	for (i = piece->page; i < piece->page + piece->count; i++)
		if (value)
			mu_bit_set(bits, i);
		else
			mu_bit_clear(bits, i);
}

/* A failure is fatal: readers would see later contents of the ring. */
static void
close_place(char *place, size_t size)
{
	if (mu_sys_failed(mu_sys_mmap(place, size, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE)))
		__builtin_trap();
}

/* Map the ring's memory at AT to PLACE, too, in one step. */
static void
show(const struct mu_remote_window *window, size_t at, char *place, size_t size)
{
	if (mu_sys_failed(mu_syscall6(SYS_mremap, (long)(window->ring + at), 0,
		(long)size, MREMAP_MAYMOVE | MREMAP_FIXED, (long)place, 0)))
		__builtin_trap();
}

static struct mu_remote_piece *
piece_at(const struct mu_remote_window *window, size_t number)
{
	return &window->pieces[number % window->max_pieces];
}

static void
forget(struct mu_remote_window *window, const struct mu_remote_piece *piece)
{
	set_bits(piece->group->there, piece, false);
	set_bits(piece->group->taken, piece, false);
	window->tail += piece->size;
	window->first++;
}

/*
 * Drop the oldest piece, and those after it that are adjacent, which costs no
 * more. Returns false if it is being read.
 */
static bool
drop_oldest(struct mu_remote_window *window)
{
	const struct mu_remote_piece *piece = piece_at(window, window->first);
	char *begin = place_of(window, piece), *end = begin, *place;

	if (piece->busy)
		return false;
	do {
		place = place_of(window, piece);
		if (place + piece->size == begin)
			begin = place;
		else if (place == end)
			end = place + piece->size;
		else
			break;
		forget(window, piece);
		piece = piece_at(window, window->first);
	} while (window->first < window->last && !piece->busy &&
	    (size_t)(end - begin) < window->size / DROPPED_PART);
	close_place(begin, (size_t)(end - begin));
	return true;
}

/*
 * Make room for SIZE bytes. Returns false if a piece in the way is being read.
 */
static bool
make_room(struct mu_remote_window *window, size_t size)
{
	while (window->head + size - window->tail > window->size ||
	    window->last - window->first == window->max_pieces)
		if (!drop_oldest(window))
			return false;
	return true;
}

/* True for a page of a private file that the process has not written. */
static bool
is_of_file(const struct mu_remote_window *window,
    const struct mu_remote_group *group, size_t page)
{
	const struct mu_mapping *mapping;

	if (mu_bit(group->written, page))
		return false;
	mapping = mu_remote_mapping(window->remote,
	    group->range.begin + page * window->remote->page_size);
	return mapping != NULL && mapping->inode != 0 && !mapping->shared;
}

/* True if PAGE may be read along with pages that are OF_FILE. */
static bool
can_join(const struct mu_remote_window *window,
    const struct mu_remote_group *group, size_t page, bool of_file)
{
	return page < mu_range_size(group->range) / window->remote->page_size &&
	    !mu_bit(group->taken, page) &&
	    is_of_file(window, group, page) == of_file;
}

/* How many pages are present in a row, from PAGE on or down; at most MOST. */
static size_t
count_present(const struct mu_remote_window *window,
    const struct mu_remote_group *group, size_t page, bool down, size_t most)
{
	size_t pages = mu_range_size(group->range) / window->remote->page_size;
	size_t count = 0;

	/* Below the first page is none: that is a very large number. */
	while (count < most && page < pages && mu_bit(group->taken, page)) {
		page += down ? SIZE_MAX : 1;
		count++;
	}
	return count;
}

/*
 * Choose what to read around PAGE: twice as much as is present before or behind
 * it (a list whose head is the newest object is read downwards), up to the next
 * page that is present. To read a page of a file may take as long as its file
 * system likes, so it is not read along with pages of the process.
 */
static void
choose(const struct mu_remote_window *window, struct mu_remote_group *group,
    size_t page, struct mu_remote_piece *piece)
{
	size_t size = window->remote->page_size;
	size_t least = LEAST > size ? LEAST / size : 1;
	size_t most = window->largest / size, begin = page, end = page + 1;
	size_t room = (window->size - window->head % window->size) / size;
	size_t before, after;
	bool of_file = is_of_file(window, group, page);

	while (
	    begin % least != 0 && can_join(window, group, begin - 1, of_file))
		begin--;
	while (end % least != 0 && can_join(window, group, end, of_file))
		end++;
	before = count_present(window, group, begin - 1, true, most);
	after = count_present(window, group, end, false, most);
	while (before >= after && end - begin < 2 * before &&
	    end - begin < most && can_join(window, group, end, of_file))
		end++;
	while (after > before && end - begin < 2 * after &&
	    end - begin < most && can_join(window, group, begin - 1, of_file))
		begin--;
	/* A piece does not wrap around the end of the ring. */
	if (end - begin > room)
		begin = page;
	if (end - begin > room)
		end = begin + room;
	*piece = (struct mu_remote_piece) {
		.group = group,
		.page = begin,
		.count = end - begin,
		.size = (end - begin) * size,
		.busy = true,
	};
}

/*
 * Prepare to read the memory around PAGE to AT in the ring. Returns NULL if it
 * is in place already. The caller holds the lock.
 */
static struct mu_remote_piece *
begin_piece(struct mu_remote_window *window, struct mu_remote_group *group,
    size_t page, size_t *at)
{
	struct mu_remote_piece piece, *new;

	for (;;) {
		if (mu_bit(group->there, page))
			return NULL;
		if (!mu_bit(group->taken, page)) {
			choose(window, group, page, &piece);
			if (make_room(window, piece.size))
				break;
		}
		await_change(window);
	}
	new = piece_at(window, window->last++);
	*new = piece;
	set_bits(group->taken, new, true);
	*at = window->head % window->size;
	window->head += piece.size;
	return new;
}

static void
fill(
    struct mu_remote_window *window, struct mu_remote_group *group, size_t page)
{
	struct mu_remote_piece *piece;
	struct mu_range range;
	size_t at;

	lock(window);
	piece = begin_piece(window, group, page, &at);
	unlock(window);
	if (piece == NULL)
		return;
	range.begin =
	    group->range.begin + piece->page * window->remote->page_size;
	range.end = range.begin + piece->size;
	mu_remote_read(window->remote, group, range, window->ring + at);
	show(window, at, place_of(window, piece), piece->size);
	lock(window);
	set_bits(group->there, piece, true);
	piece->busy = false;
	window->changes++;
	unlock(window);
	mu_sys_futex_wake(&window->changes, INT32_MAX, FUTEX_PRIVATE_FLAG);
}

/* The group whose reserved memory holds ADDRESS, or NULL. */
static struct mu_remote_group *
group_at(const struct mu_remote_window *window, uintptr_t address)
{
	size_t i = mu_ranges_upper(window->places, window->remote->num_groups,
	    sizeof(*window->places), address);

	return i > 0 && mu_range_has(window->places[i - 1].range, address)
	    ? window->places[i - 1].group
	    : NULL;
}

/* Handle a fault. Nothing can be read once the memory is detached. */
static bool
mend(uintptr_t address)
{
	struct mu_remote_window *window;
	struct mu_remote_group *group;

	for (window = windows; window != NULL; window = window->outer) {
		group = group_at(window, address);
		if (group == NULL || window->remote->detached)
			continue;
		fill(window, group,
		    (address - (uintptr_t)group->base) /
			window->remote->page_size);
		return true;
	}
	return false;
}

/*
 * Fall back to the earlier action. A fault recurs by itself; a signal that was
 * sent does not. A signal that was ignored before stays ignored: without the
 * handler the next fault would kill.
 */
static void
give_up(int signo, const siginfo_t *info)
{
	if (info->si_code <= 0 && old_action.handler == (void *)SIG_IGN)
		return;
	mu_sys_signal_action(signo, &old_action, NULL);
	if (info->si_code <= 0)
		mu_sys_kill(mu_sys_getpid(), signo);
}

static void
on_fault(int signo, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code != SEGV_ACCERR || !mend((uintptr_t)info->si_addr))
		give_up(signo, info);
}

/* A blocked fault signal kills in spite of a handler. */
static void
take_faults(void)
{
	struct mu_signal_action action = {
		.handler = (void *)on_fault,
		.flags = SA_SIGINFO | SA_ONSTACK | MU_RESTORER_FLAG,
		.restorer = MU_RESTORER,
		.mask = ~mu_signal_bit(SIGSEGV),
	};
	mu_sigmask fault = mu_signal_bit(SIGSEGV);

	mu_sys_signal_action(SIGSEGV, &action, &old_action);
	mu_sys4(
	    SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&fault, 0, sizeof(fault));
}

static bool
open_tables(struct mu_remote_window *window, struct mu_arena *arena)
{
	struct mu_remote_memory *remote = window->remote;
	size_t i, count = remote->num_groups;
	uintptr_t base;

	window->max_pieces = 2 * (window->size / LEAST);
	window->pieces =
	    mu_arena_alloc(arena, window->max_pieces, sizeof(*window->pieces));
	window->places =
	    mu_arena_alloc(arena, count + 1, sizeof(*window->places));
	if (window->pieces == NULL || window->places == NULL)
		return false;
	for (i = 0; i < count; i++) {
		base = (uintptr_t)remote->groups[i].base;
		window->places[i] = (struct mu_remote_base) {
			{ base, base + mu_range_size(remote->groups[i].range) },
			&remote->groups[i],
		};
	}
	mu_sort(
	    window->places, count, sizeof(*window->places), mu_range_compare);
	return true;
}

bool
mu_remote_window_open(struct mu_remote_window *window,
    struct mu_remote_memory *remote, size_t size, struct mu_arena *arena)
{
	long at;

	*window = (struct mu_remote_window) {
		.remote = remote,
		.size = size < LEAST_WINDOW
		    ? LEAST_WINDOW
		    : size / LEAST_WINDOW * LEAST_WINDOW,
		.outer = windows,
	};
	window->largest = window->size / MANY;
	if (window->largest > MOST)
		window->largest = MOST;
	if (!open_tables(window, arena))
		return false;
	at = mu_sys_mmap(NULL, window->size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE);
	if (mu_sys_failed(at))
		return false;
	window->ring = (char *)at;
	if (windows == NULL)
		take_faults();
	windows = window;
	return true;
}

bool
mu_remote_window_has(const struct mu_remote_window *window,
    const struct mu_remote_group *group, struct mu_range range)
{
	size_t size = window->remote->page_size, page, last;
	uint64_t word;

	last = (range.end - 1 - group->range.begin) / size;
	for (page = (range.begin - group->range.begin) / size; page <= last;
	     page++) {
		word =
		    __atomic_load_n(&group->there[page / 64], __ATOMIC_RELAXED);
		if ((word >> page % 64 & 1) == 0)
			return false;
	}
	return true;
}

void
mu_remote_window_close(struct mu_remote_window *window)
{
	struct mu_remote_window **link = &windows;

	if (window->ring == NULL)
		return;
	while (*link != window)
		link = &(*link)->outer;
	*link = window->outer;
	if (windows == NULL)
		mu_sys_signal_action(SIGSEGV, &old_action, NULL);
	mu_sys_munmap(window->ring, window->size);
	window->ring = NULL;
}
