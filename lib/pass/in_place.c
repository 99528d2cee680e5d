/*
 * The only thread waits for the answer anyway, and with its signals blocked
 * nothing changes its memory, as no other task shares it. The search runs in a
 * process that shares the memory: a fault, a kill or a deadline ends only that
 * process, and the search is repeated in an image. So does a signal that comes
 * for the program: its handler runs as soon as the image is taken.
 */
#include "lib/pass/in_place.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "heapwalk/memory/shared.h"
#include "lib/helpers/sweeper.h"
#include "lib/pass/own_image.h"
#include "lib/report/recorder_here.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/caller.h"
#include "lib/state/gap_sync.h"
#include "lib/state/library.h"
#include "mu/signal_action.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

/* Most private memory: tables for more are larger than the pass's arena. */
#define MOST ((size_t)4 << 30)

/*
 * Of so much memory tables take 2 MiB mostly. Whether a cgroup is nearly full
 * is found out while the search is begun; it uses no tables before that.
 */
#define QUICK ((size_t)16 << 20)

/*
 * For tables, besides twice the private memory, which is more than a graph of
 * the smallest blocks takes if all are lost; untouched pages cost nothing.
 */
#define TABLES ((size_t)6 << 20)

#define ALIGNMENT ((size_t)64 << 10) /* the largest page size of Linux */

/* In the same room. */
#define BESIDES (ALIGNMENT + MU_IN_PLACE_SIGNAL_STACK)

struct in_place {
	struct mu_image *image;
	struct mu_in_place_room memory;
	int *room;    /* a futex; 1: there is memory for the tables */
	int signals;  /* readable when the program should handle one */
	int searched; /* readable when an answer comes that may fill the pipe */
};

/*
 * Where memory is locked as it is mapped, all of the room for tables would be
 * taken. Callbacks of the program may change its memory. A search that fails
 * must not have logged its steps, and the program itself may be the reader of
 * the log.
 */
static bool
is_wanted(const struct mu_image *image)
{
	return image->job.log.silent && !image->stop.traced &&
	    image->sweeper.budget.private <=
	    (image->stop.locked ? QUICK : MOST) &&
	    mu_library.options.stop == MU_STOP_AUTO &&
	    mu_library.options.max_memory == 0 && image->caller != NULL &&
	    !image->query.references && image->snap.num_program_heaps == 0 &&
	    &memunreachable_recorded == NULL && !image->uncopied.hold;
}

/* Shared memory changes. */
bool
mu_in_place_is_fit(const struct mu_image *image)
{
	return is_wanted(image) && image->stop.alone &&
	    mu_library.passes_by_image == 0 && !image->sweeper.budget.tight &&
	    !mu_shared_any(image->stop.self.mappings,
		image->stop.self.num_mappings, mu_gap_sync_range(image));
}

bool
mu_in_place_is_quick(const struct mu_image *image)
{
	return is_wanted(image) && image->stop.single &&
	    !image->stop.filtered && mu_library.passes_by_image == 0 &&
	    image->sweeper.budget.private <= QUICK;
}

static const int fault_signals[MU_IN_PLACE_FAULTS] = { SIGSEGV, SIGBUS, SIGFPE,
	SIGILL };

mu_sigmask
mu_in_place_expect_faults(struct mu_in_place_faults *faults,
    const struct mu_in_place_room *room,
    void (*handler)(int, siginfo_t *, void *))
{
	const struct mu_signal_action action = {
		.handler = (void *)handler,
		.flags = SA_SIGINFO | SA_ONSTACK | MU_RESTORER_FLAG,
		.restorer = MU_RESTORER,
		.mask = ~0ull,
	};
	const stack_t stack = {
		.ss_sp = room->signal_stack,
		.ss_size = MU_IN_PLACE_SIGNAL_STACK,
	};
	mu_sigmask mask = 0;
	size_t i;

	mu_sys2(SYS_sigaltstack, (long)&stack, (long)&faults->stack);
	for (i = 0; i < MU_IN_PLACE_FAULTS; i++) {
		mu_sys_signal_action(
		    fault_signals[i], &action, &faults->actions[i]);
		mask |= mu_signal_bit(fault_signals[i]);
	}
	return mask;
}

void
mu_in_place_restore_faults(const struct mu_in_place_faults *faults)
{
	size_t i;

	for (i = 0; i < MU_IN_PLACE_FAULTS; i++)
		mu_sys_signal_action(
		    fault_signals[i], &faults->actions[i], NULL);
	mu_sys2(SYS_sigaltstack, (long)&faults->stack, 0);
}

/*
 * We share the program's signal handlers. Without a handler a fault is a core
 * dump, which before Linux 5.16 kills all processes that share the memory
 * (zap_threads() in fs/coredump.c).
 */
static void
on_fault(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)info;
	(void)context;
	mu_sys_exit(4);
}

static void
await_room(void *ctx)
{
	const struct in_place *in_place = ctx;
	const int *room = in_place->room;

	while (__atomic_load_n(room, __ATOMIC_ACQUIRE) == 0)
		mu_sys_futex_await(room, 0);
}

/* All of it is read while the search process writes. */
static bool
tell_searched(void *ctx, size_t bytes)
{
	const struct in_place *in_place = ctx;
	const uint64_t one = 1;

	(void)bytes;
	mu_sys_write(in_place->searched, &one, sizeof(one));
	return true;
}

/* Its descriptors are copies, and it ends before the pass. */
static void
searcher_body(void *arg)
{
	struct in_place in_place = *(const struct in_place *)arg;
	struct mu_image *image = in_place.image;
	struct mu_in_place_faults before;
	mu_sigmask faults;
	int pagemap;
	const struct mu_in_place_calls calls = {
		.await_room = await_room,
		.large_answer = tell_searched,
		.ctx = &in_place,
		.until_ns = image->job.deadline_ns,
		.pagemap = &pagemap,
	};

	faults = mu_in_place_expect_faults(&before, &in_place.memory, on_fault);
	mu_sys4(
	    SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&faults, 0, sizeof(faults));
	mu_sweeper_begin(image);
	mu_sys_exit(mu_sweeper_in_place(image, in_place.memory.tables,
			in_place.memory.size, &calls)
		? 0
		: 3);
}

/*
 * Wait for the search until a signal comes; WAITED_NS: how long. Returns true
 * if there is an answer, or a part of one, in the pipe. It mostly contains all
 * of it when the searcher's end of it closes: to be woken before, and to wait
 * for the searcher's end then, takes longer.
 */
static bool
await(const struct in_place *in_place, uint64_t *waited_ns)
{
	struct mu_image *image = in_place->image;
	struct pollfd waits[] = {
		{ .fd = image->sweeper.pipe_read },
		{ .fd = in_place->searched, .events = POLLIN },
		{ .fd = in_place->signals, .events = POLLIN },
	};
	uint64_t begin_ns = mu_sys_now_ns(), now = begin_ns;
	uint64_t until_ns = image->job.deadline_ns;
	struct timespec span;
	int bytes = 0, ours = image->sweeper.pipe_write;
	long ready = 0;

	mu_sys_close(&ours); /* the searcher reads the number in IMAGE */
	while ((ready == 0 || ready == -EINTR) && now < until_ns) {
		span = mu_sys_timespec(until_ns - now);
		ready = mu_syscall6(
		    SYS_ppoll, (long)waits, 3, (long)&span, 0, 0, 0);
		now = mu_sys_now_ns();
	}
	*waited_ns = now - begin_ns;
	image->sweeper.pipe_write = -1;
	if (ready <= 0)
		return false;
	if (waits[1].revents != 0)
		return true;
	if (waits[0].revents == 0)
		mu_library.passes_by_image = MU_IN_PLACE_NOT_FOR;
	return waits[0].revents != 0 &&
	    mu_sys3(SYS_ioctl, waits[0].fd, FIONREAD, (long)&bytes) == 0 &&
	    bytes > 0;
}

static size_t
size_of_tables(const struct mu_image *image)
{
	return (image->sweeper.budget.private * 2 + TABLES) & -ALIGNMENT;
}

void
mu_in_place_reserve_room(struct mu_image *image)
{
	mu_arena_reserve(&image->job.arena, BESIDES + size_of_tables(image));
}

bool
mu_in_place_find_room(struct mu_image *image, struct mu_in_place_room *room)
{
	char *memory;

	room->size = size_of_tables(image);
	memory = mu_arena_alloc(&image->job.arena, 1, BESIDES + room->size);
	if (memory == NULL)
		return false;
	room->tables = memory + -(uintptr_t)memory % ALIGNMENT;
	room->signal_stack = room->tables + room->size;
	return true;
}

static bool
start(struct in_place *in_place)
{
	struct mu_image *image = in_place->image;

	return mu_in_place_find_room(image, &in_place->memory) &&
	    mu_caller_add(image) == MU_OK &&
	    mu_arch_clone(CLONE_VM | CLONE_UNTRACED | CLONE_PARENT_SETTID,
		image->stack + image->stack_size, &image->sweeper.pid,
		searcher_body, in_place) > 0;
}

/*
 * The memory must not change before all of the searcher's threads are gone. It
 * is killed at once, also if memory is short, as it has no image to drop. Its
 * pipe may contain the part of an answer that it wrote before a kill: the image
 * needs another one.
 */
static void
give_up(struct mu_image *image)
{
	if (image->sweeper.pid > 0)
		mu_sys_kill(image->sweeper.pid, SIGKILL);
	mu_sweeper_reap(&image->sweeper, 0);
	mu_sys_close(&image->sweeper.pipe_read);
	mu_sys_close(&image->sweeper.pipe_write);
	mu_sweeper_open_pipe(&image->sweeper, &image->job.why);
}

/* Called while the searcher starts; it must be killed if this is false. */
static bool
has_room(struct in_place *in_place)
{
	if (!mu_own_image_may_begin(in_place->image))
		return false;
	mu_sys_futex_set(in_place->room, 1, 1, FUTEX_PRIVATE_FLAG);
	return true;
}

/*
 * Signals wait for what is done here but the search, which they end: that time
 * is the pause.
 */
static bool
search(struct mu_image *image)
{
	const mu_sigmask handled = ~image->stop.blocked_signals;
	int room = 0;
	struct in_place in_place = { .image = image, .room = &room };
	uint64_t begin_ns = mu_sys_now_ns(), waited_ns = 0;
	bool searched;

	in_place.signals = (int)mu_sys4(
	    SYS_signalfd4, -1, (long)&handled, sizeof(handled), O_CLOEXEC);
	in_place.searched = (int)mu_sys2(SYS_eventfd2, 0, O_CLOEXEC);
	searched = in_place.signals >= 0 && in_place.searched >= 0 &&
	    start(&in_place) && has_room(&in_place) &&
	    await(&in_place, &waited_ns);
	mu_sys_close(&in_place.signals);
	mu_sys_close(&in_place.searched);
	if (!searched)
		give_up(image);
	mu_image_paused(image, mu_sys_now_ns() - begin_ns - waited_ns);
	return searched;
}

bool
mu_in_place_try(struct mu_image *image)
{
	const struct mu_snapshot snap = image->snap;
	bool searched;

	if (!mu_in_place_is_fit(image)) {
		if (mu_library.passes_by_image > 0)
			mu_library.passes_by_image--;
		return false;
	}
	if (mu_allocator_freeze(image) != MU_OK)
		return false;
	searched = search(image);
	mu_allocator_thaw(image);
	if (searched)
		image->stop.method = MEMUNREACHABLE_STOP_PTRACE;
	else
		image->snap = snap;
	return searched;
}
