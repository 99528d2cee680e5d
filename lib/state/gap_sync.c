#include "lib/state/gap_sync.h"

#include "heapwalk/memory/self.h"
#include "heapwalk/memory/shared.h"
#include "heapwalk/memory/wiped.h"
#include "heapwalk/subject/classify.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

/* Poll interval at which the collector checks that the sweeper is alive. */
#define LOOK_NS (20 * 1000 * 1000ull)

/* Time limit for copying shared memory: about as many MB. */
#define SHARED_NS (100 * 1000 * 1000ull)

/* A late image is useless without a little of what is read besides it. */
#define BESIDE_NS (20 * 1000 * 1000ull)

/* Stops to find alternate stacks. */
#define STACK_TRIES 3

/* Stops in which a little memory was not read in time. */
#define LATE_TRIES 4

/* Values of filled: the sweeper reads; it has read; threads have continued. */
enum { READING, HAS_READ, GONE_ON };

_Static_assert(sizeof(struct mu_gap_sync) <= 4096, "one page");

void
mu_gap_sync_open(struct mu_image *image)
{
	long at;

	if (image->uncopied.page != NULL)
		return;
	at = mu_sys_mmap(NULL, sizeof(struct mu_gap_sync),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
	image->uncopied.hold = false;
	image->uncopied.page =
	    mu_sys_failed(at) ? NULL : (struct mu_gap_sync *)at;
}

void
mu_gap_sync_close(struct mu_image *image)
{
	struct mu_gap_sync *sync = image->uncopied.page;

	/*
	 * Cleared before the unmapping: a child forked in between must not
	 * unmap it.
	 */
	__atomic_store_n(&image->uncopied.page, NULL, __ATOMIC_RELEASE);
	if (sync != NULL)
		mu_sys_munmap(sync, sizeof(*sync));
}

struct mu_range
mu_gap_sync_range(const struct mu_image *image)
{
	uintptr_t begin = (uintptr_t)image->uncopied.page;
	size_t size = sizeof(*image->uncopied.page);

	if (image->uncopied.page == NULL)
		return (struct mu_range) { 0, 0 };
	return (struct mu_range) { begin, begin + size };
}

bool
mu_gap_sync_needs_retry(struct mu_image *image)
{
	struct mu_gap_sync *sync = image->uncopied.page;

	if (sync == NULL || (!sync->wanted && !sync->stacks && !sync->late))
		return false;
	image->uncopied.hold |= sync->wanted;
	/*
	 * A seccomp filter may kill a thread for a call that it never makes
	 * itself.
	 */
	if (sync->stacks)
		image->stop.prefer_signal =
		    image->stop.ask_stacks || image->stop.filtered;
	image->stop.ask_stacks |= sync->stacks;
	image->stop.stack_tries += sync->stacks;
	image->uncopied.late_tries += sync->late;
	sync->wanted = sync->stacks = sync->late = false;
	return true;
}

/* The collector shares the original's memory, so "self" is right. */
void
mu_gap_sync_prepare(struct mu_image *image)
{
	const struct mu_snapshot *self = &image->stop.self;

	image->uncopied.memory = image->uncopied.pagemap = -1;
	if (image->uncopied.page == NULL)
		return;
	image->uncopied.page->filled = READING;
	image->uncopied.shared = mu_shared_any(
	    self->mappings, self->num_mappings, mu_gap_sync_range(image));
	if (!image->uncopied.hold && !image->uncopied.shared)
		return;
	image->uncopied.memory = mu_procfs_open("/proc/self/mem", O_RDONLY);
	image->uncopied.pagemap =
	    mu_procfs_open("/proc/self/pagemap", O_RDONLY);
}

/* Returns true only to the first of two callers. */
static bool
end_reading(struct mu_image *image, int end)
{
	int reading = READING;

	return __atomic_compare_exchange_n(&image->uncopied.page->filled,
	    &reading, end, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void
mu_gap_sync_await(struct mu_image *image)
{
	int *filled = &image->uncopied.page->filled;
	uint64_t end_ns = image->stop.until_ns, now = mu_sys_now_ns(), until;

	if (!image->uncopied.hold && !image->uncopied.shared)
		return;
	if (end_ns < now + BESIDE_NS)
		end_ns = now + BESIDE_NS;
	while (__atomic_load_n(filled, __ATOMIC_ACQUIRE) == READING) {
		now = mu_sys_now_ns();
		if (now >= end_ns ||
		    mu_proc_ended(
			mu_proc_state(image->sweeper.pid, image->sweeper.pid)))
			break;
		until = now + LOOK_NS;
		if (until > end_ns)
			until = end_ns;
		mu_sys_futex_wait(filled, READING, 0, until);
	}
	end_reading(image, GONE_ON);
}

/*
 * Announce that the threads may continue. Returns false if they have already.
 */
static bool
announce(struct mu_image *image)
{
	bool in_time;

	if (!image->uncopied.hold && !image->uncopied.shared)
		return true;
	in_time = end_reading(image, HAS_READ);
	mu_sys_futex_wake(&image->uncopied.page->filled, 1, 0);
	return in_time;
}

enum mu_status
mu_gap_sync_request(struct mu_image *image)
{
	image->uncopied.page->wanted = true;
	return mu_why(&image->job.why, MU_ERR_TIMEOUT,
	    "no time for another try, to read memory under MADV_DONTFORK");
}

/*
 * The word that tells the sweeper that threads continue; NULL if there is none.
 */
static const int *
over_of(const struct mu_image *image)
{
	return image->uncopied.hold || image->uncopied.shared
	    ? &image->uncopied.page->filled
	    : NULL;
}

/* Returns true if there is shared memory that another try must copy. */
static bool
take_shared(struct mu_image *image)
{
	struct mu_memory *memory = &image->snap.memory;
	struct mu_shared shared = {
		.still = { mu_sys_now_ns() + SHARED_NS, over_of(image) },
		.limit = mu_fork_gaps_limit(image->sweeper.budget.left),
		.except = mu_gap_sync_range(image),
	};

	if (image->uncopied.shared) {
		image->uncopied.kept = shared.kept =
		    mu_arena_alloc(&image->job.arena, image->snap.num_mappings,
			sizeof(*shared.kept));
		mu_shared_take(&shared, memory);
		image->uncopied.changing = shared.changing;
		return false;
	}
	if (!mu_shared_any(
		image->snap.mappings, image->snap.num_mappings, shared.except))
		return false;
	image->uncopied.changing = 1; /* the amount is not known */
	return true;
}

/* Another attempt would take as long as this one. */
static bool
is_half_over(const struct mu_image *image)
{
	return mu_sys_now_ns() - image->job.begin_ns >
	    (image->job.deadline_ns - image->job.begin_ns) / 2;
}

/*
 * The threads continued before everything was read. If the rest was so little
 * that any stop suffices, the sweeper did not get a CPU: try again.
 */
static enum mu_status
note_late(struct mu_image *image, size_t lost)
{
	size_t bytes =
	    lost * image->snap.memory.page_size + image->uncopied.changing;

	if (bytes == 0 || bytes > MU_STANDSTILL_ALWAYS ||
	    image->uncopied.late_tries >= LATE_TRIES || is_half_over(image))
		return MU_OK;
	image->uncopied.page->late = true;
	return mu_why(&image->job.why, MU_ERR_TIMEOUT,
	    "no time for another try, to read memory that a fork does not"
	    " copy");
}

enum mu_status
mu_gap_sync_fill(struct mu_image *image, size_t *lost)
{
	struct mu_gap_sync *sync = image->uncopied.page;
	struct mu_fork_gaps gaps = {
		.memory = image->uncopied.memory,
		.pagemap = image->uncopied.pagemap,
		.complete = image->mapped_pages != 0,
		.still = { image->stop.until_ns, over_of(image) },
		.limit = mu_fork_gaps_limit(image->sweeper.budget.left),
	};
	enum mu_status status;
	bool again = false, in_time;

	if (image->uncopied.hold) {
		gaps.wiped = sync->wiped;
		gaps.num_wiped = sync->num_wiped;
	}
	status =
	    mu_memory_self_guard(&image->snap.memory, &gaps, &image->job.why);
	if (status == MU_OK)
		again = take_shared(image);
	in_time = announce(image);
	*lost = gaps.lost;
	again |= gaps.missing > 0 && !image->uncopied.hold;
	if (status != MU_OK || sync == NULL)
		return status;
	if (again)
		return mu_gap_sync_request(image);
	return in_time ? MU_OK : note_late(image, gaps.lost);
}

/*
 * In a stop by signal, the frames contain the alternate stacks of all threads.
 */
bool
mu_gap_sync_request_stacks(struct mu_image *image, struct mu_why *why)
{
	if (image->stop.method != MEMUNREACHABLE_STOP_PTRACE)
		return false;
	if (!image->stop.ask_stacks)
		image->stop.unasked =
		    image->snap.num_threads - (image->caller != NULL);
	if (image->stop.unasked == 0 || image->uncopied.page == NULL ||
	    is_half_over(image) || image->stop.stack_tries >= STACK_TRIES)
		return false;
	image->uncopied.page->stacks = true;
	mu_why(why, MU_ERR_TIMEOUT,
	    "no time for another try, to ask for alternate signal stacks");
	return true;
}

/*
 * Memory that fork has cleared is all zeros. Reading smaps takes 7 us per
 * mapping.
 */
static bool
may_be_wiped(struct mu_snapshot *snap)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;

	for (; mapping < end; mapping++)
		if (mu_mapping_is_anonymous(mapping) &&
		    !mu_memory_self_holds(&snap->memory, mapping) &&
		    !mu_snapshot_is_own(snap, mapping->range))
			return true;
	return false;
}

bool
mu_gap_sync_wiped(struct mu_image *image)
{
	struct mu_gap_sync *sync = image->uncopied.page;
	struct mu_range one;
	size_t room, count;

	if (!may_be_wiped(&image->snap))
		return false;
	if (sync == NULL)
		return mu_wiped_find(&one, 1) > 0;
	/*
	 * Ranges that an earlier try found and this one has filled are not new.
	 */
	room = MU_GAP_SYNC_WIPED - sync->num_wiped;
	count = mu_wiped_find(sync->wiped + sync->num_wiped, room);
	if (count > 0 && count <= room) {
		sync->num_wiped += count;
		sync->wanted = true;
	}
	return count > 0;
}
