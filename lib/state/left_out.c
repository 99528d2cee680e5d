#include "lib/state/left_out.h"

#include "heapwalk/memory/self.h"
#include "heapwalk/memory/shared.h"
#include "heapwalk/memory/wiped.h"
#include "heapwalk/subject/classify.h"
#include "lib/state/library.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

/* Poll interval at which the collector checks that the sweeper is alive. */
#define LOOK_NS (20 * 1000 * 1000ull)

/* How long shared memory is copied: about as many MB. */
#define SHARED_NS (100 * 1000 * 1000ull)

/* Stops to learn of alternate stacks. */
#define STACK_TRIES 3

/* Stops in which a little memory was not read in time. */
#define LATE_TRIES 4

/* filled: the sweeper reads, or has read, or threads go on. */
enum { READING, HAS_READ, GONE_ON };

_Static_assert(sizeof(struct mu_left_out) <= 4096, "one page");

void
mu_left_out_open(struct mu_pass *pass)
{
	long at;

	if (pass->left_out != NULL)
		return;
	at = mu_sys_mmap(NULL, sizeof(struct mu_left_out),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
	pass->hold = false;
	pass->left_out = mu_sys_failed(at) ? NULL : (struct mu_left_out *)at;
}

void
mu_left_out_close(struct mu_pass *pass)
{
	struct mu_left_out *left_out = pass->left_out;

	/* Before: a child that is forked in between must not unmap it. */
	__atomic_store_n(&pass->left_out, NULL, __ATOMIC_RELEASE);
	if (left_out != NULL)
		mu_sys_munmap(left_out, sizeof(*left_out));
}

struct mu_range
mu_left_out_range(const struct mu_pass *pass)
{
	uintptr_t begin = (uintptr_t)pass->left_out;
	size_t size = sizeof(*pass->left_out);

	if (pass->left_out == NULL)
		return (struct mu_range) { 0, 0 };
	return (struct mu_range) { begin, begin + size };
}

bool
mu_left_out_again(struct mu_pass *pass)
{
	struct mu_left_out *left_out = pass->left_out;

	if (left_out == NULL ||
	    (!left_out->wanted && !left_out->stacks && !left_out->late))
		return false;
	pass->hold |= left_out->wanted;
	/* A seccomp filter may kill a thread for a call that is not its own. */
	if (left_out->stacks)
		pass->prefer_signal = pass->ask_stacks || pass->filtered;
	pass->ask_stacks |= left_out->stacks;
	pass->stack_tries += left_out->stacks;
	pass->late_tries += left_out->late;
	left_out->wanted = left_out->stacks = left_out->late = false;
	return true;
}

/* The collector shares the original's memory, so that "self" is right. */
void
mu_left_out_prepare(struct mu_pass *pass)
{
	const struct mu_snapshot *self = &pass->self;

	pass->memory = pass->pagemap = -1;
	if (pass->left_out == NULL)
		return;
	pass->left_out->filled = READING;
	pass->shared = mu_shared_any(
	    self->mappings, self->num_mappings, mu_left_out_range(pass));
	if (!pass->hold)
		return;
	pass->memory = mu_procfs_open("/proc/self/mem", O_RDONLY);
	pass->pagemap = mu_procfs_open("/proc/self/pagemap", O_RDONLY);
}

/* Only the first of the two callers gets true. */
static bool
end_reading(struct mu_pass *pass, int end)
{
	int reading = READING;

	return __atomic_compare_exchange_n(&pass->left_out->filled, &reading,
	    end, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void
mu_left_out_await(struct mu_pass *pass)
{
	int *filled = &pass->left_out->filled;
	uint64_t end_ns = pass->stop_ns + SHARED_NS, now, until;

	if (!pass->hold && !pass->shared)
		return;
	while (__atomic_load_n(filled, __ATOMIC_ACQUIRE) == READING) {
		now = mu_sys_now_ns();
		if (now >= end_ns ||
		    mu_proc_ended(mu_proc_state(pass->sweeper, pass->sweeper)))
			break;
		until = now + LOOK_NS;
		if (until > end_ns)
			until = end_ns;
		mu_sys_futex_wait(filled, READING, 0, until);
	}
	end_reading(pass, GONE_ON);
}

/* The threads may go on; false: they do already. */
static bool
announce(struct mu_pass *pass)
{
	bool in_time;

	if (!pass->hold && !pass->shared)
		return true;
	in_time = end_reading(pass, HAS_READ);
	mu_sys_futex_wake(&pass->left_out->filled, 1, 0);
	return in_time;
}

enum mu_status
mu_left_out_want(struct mu_pass *pass)
{
	pass->left_out->wanted = true;
	return mu_why(&pass->why, MU_ERR_TIMEOUT,
	    "no time for another try, to read memory under MADV_DONTFORK");
}

/* What tells the sweeper that the threads go on; NULL: nothing. */
static const int *
over_of(const struct mu_pass *pass)
{
	return pass->hold || pass->shared ? &pass->left_out->filled : NULL;
}

/* True: there is some, and another try must be made to copy it. */
static bool
take_shared(struct mu_pass *pass)
{
	struct mu_memory *memory = &pass->snap.memory;
	struct mu_shared shared = {
		.still = { mu_sys_now_ns() + SHARED_NS, over_of(pass) },
		.limit = mu_fork_gaps_limit(pass->room.left),
		.except = mu_left_out_range(pass),
	};

	if (pass->shared) {
		mu_shared_take(&shared, memory);
		pass->changing = shared.changing;
		return false;
	}
	if (!mu_shared_any(
		pass->snap.mappings, pass->snap.num_mappings, shared.except))
		return false;
	pass->changing = 1; /* how much is not known */
	return true;
}

/* Another try takes as long as this one. */
static bool
is_half_over(const struct mu_pass *pass)
{
	return mu_sys_now_ns() - pass->begin_ns >
	    (pass->deadline_ns - pass->begin_ns) / 2;
}

/*
 * The threads went on before all was read. If it was so little that any stop
 * suffices for it, the sweeper was not given a CPU: another try.
 */
static enum mu_status
note_late(struct mu_pass *pass, size_t lost)
{
	size_t bytes = lost * pass->snap.memory.page_size + pass->changing;

	if (bytes == 0 || bytes > MU_STANDSTILL_ALWAYS ||
	    pass->late_tries >= LATE_TRIES || is_half_over(pass))
		return MU_OK;
	pass->left_out->late = true;
	return mu_why(&pass->why, MU_ERR_TIMEOUT,
	    "no time for another try, to read memory that a fork does not"
	    " copy");
}

enum mu_status
mu_left_out_guard(struct mu_pass *pass, size_t *lost)
{
	struct mu_left_out *left_out = pass->left_out;
	struct mu_fork_gaps gaps = {
		.memory = pass->memory,
		.pagemap = pass->pagemap,
		.complete = pass->mapped_pages != 0,
		.still = { pass->stop_ns, over_of(pass) },
		.limit = mu_fork_gaps_limit(pass->room.left),
	};
	enum mu_status status;
	bool again = false, in_time;

	if (pass->hold) {
		gaps.wiped = left_out->wiped;
		gaps.num_wiped = left_out->num_wiped;
	}
	status = mu_memory_self_guard(&pass->snap.memory, &gaps, &pass->why);
	if (status == MU_OK)
		again = take_shared(pass);
	in_time = announce(pass);
	/* The collector has this table too, but not for long. */
	mu_sys_close(&pass->memory);
	mu_sys_close(&pass->pagemap);
	*lost = gaps.lost;
	again |= gaps.missing > 0 && !pass->hold;
	if (status != MU_OK || left_out == NULL)
		return status;
	if (again)
		return mu_left_out_want(pass);
	return in_time ? MU_OK : note_late(pass, gaps.lost);
}

/* A stop by signal has the alternate stacks of all threads in their frames. */
bool
mu_left_out_want_stacks(struct mu_pass *pass, struct mu_why *why)
{
	if (pass->stop != MEMUNREACHABLE_STOP_PTRACE)
		return false;
	if (!pass->ask_stacks)
		pass->unasked =
		    pass->snap.num_threads - (pass->request->caller != NULL);
	if (pass->unasked == 0 || pass->left_out == NULL ||
	    is_half_over(pass) || pass->stack_tries >= STACK_TRIES)
		return false;
	pass->left_out->stacks = true;
	mu_why(why, MU_ERR_TIMEOUT,
	    "no time for another try, to ask for alternate signal stacks");
	return true;
}

/* What the fork has emptied holds nothing at all; smaps takes 7 us a mapping.
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
mu_left_out_wiped(struct mu_pass *pass)
{
	struct mu_left_out *left_out = pass->left_out;
	struct mu_range one;
	size_t room, count;

	if (!may_be_wiped(&pass->snap))
		return false;
	if (left_out == NULL)
		return mu_wiped_find(&one, 1) > 0;
	/* What an earlier try found and this one has filled is not there. */
	room = MU_LEFT_OUT_WIPED - left_out->num_wiped;
	count = mu_wiped_find(left_out->wiped + left_out->num_wiped, room);
	if (count > 0 && count <= room) {
		left_out->num_wiped += count;
		left_out->wanted = true;
	}
	return count > 0;
}
