/*
 * The only thread waits for the answer anyway, and with its signals blocked
 * nothing changes its memory, as no other task shares it. The search runs in a
 * process that shares the memory: a fault, a kill or a deadline ends only that
 * process, and the search is repeated in an image.
 */
#include "lib/pass/in_place.h"

#include <sched.h>
#include <signal.h>

#include "heapwalk/memory/shared.h"
#include "lib/helpers/descriptors.h"
#include "lib/helpers/sweeper.h"
#include "lib/report/recorder_here.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/caller.h"
#include "lib/state/left_out.h"
#include "lib/state/library.h"
#include "mu/procfs.h"
#include "mu/signal_action.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

/*
 * Most private memory. Searching this much mostly takes about 6 ms, which is
 * how long a signal has to wait.
 */
#define MOST ((size_t)16 << 20)

/*
 * For tables, besides half of the private memory; untouched pages cost nothing.
 */
#define TABLES ((size_t)6 << 20)

#define ALIGNMENT ((size_t)64 << 10) /* the largest page size of Linux */

/* Larger than AT_MINSIGSTKSZ on any CPU. */
#define SIGNAL_STACK_SIZE ((size_t)64 << 10)

/*
 * Values of image->sweeper.phase: the searcher's tid; this one, if the pipe may
 * not hold its answer; 0 when it has ended (CLONE_CHILD_CLEARTID), perhaps
 * after we have returned.
 */
#define PHASE_SEARCHED (-4)

/*
 * Signals wait no longer. Many small blocks that refer to each other take ten
 * times as long as others, and more if the tables have no room for their graph.
 */
#define SEARCH_NS (20 * MU_NS_PER_MS)

/* The kernel may refuse the wake-up. */
#define SLICE_NS (20 * 1000 * 1000ull)

struct in_place {
	struct mu_image *image;
	char *tables, *signal_stack;
	size_t size; /* of the tables */
};

/*
 * Shared memory changes; callbacks of the program may change theirs. A search
 * that fails must not have logged its steps, and the program itself may be the
 * reader of the log.
 */
static bool
is_fit(const struct mu_image *image)
{
	return image->stop.alone && image->job.log.silent &&
	    !image->stop.traced && !image->sweeper.room.tight &&
	    image->sweeper.room.private <= MOST &&
	    mu_library.options.stop == MU_STOP_AUTO &&
	    mu_library.options.max_memory == 0 && image->caller != NULL &&
	    !image->wanted.references && image->snap.num_program_heaps == 0 &&
	    &memunreachable_recorded == NULL && !image->uncopied.hold &&
	    !mu_shared_any(image->stop.self.mappings,
		image->stop.self.num_mappings, mu_left_out_range(image));
}

static void
on_fault(int signo)
{
	(void)signo;
	mu_sys_exit(4);
}

/*
 * We share the program's signal handlers. Without a handler a fault is a core
 * dump, which before Linux 5.16 kills all processes that share the memory
 * (zap_threads() in fs/coredump.c).
 */
static void
expect_faults(char *signal_stack)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	const struct mu_signal_action action = {
		.handler = (void *)on_fault,
		.flags = SA_ONSTACK | MU_RESTORER_FLAG,
		.restorer = MU_RESTORER,
		.mask = ~0ull,
	};
	const stack_t stack = {
		.ss_sp = signal_stack,
		.ss_size = SIGNAL_STACK_SIZE,
	};
	mu_sigmask all = 0;
	size_t i;

	mu_sys2(SYS_sigaltstack, (long)&stack, 0);
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		mu_sys_signal_action(signals[i], &action, NULL);
		all |= mu_signal_bit(signals[i]);
	}
	/* A blocked fault signal kills in spite of a handler. */
	mu_sys4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&all, 0, sizeof(all));
}

static void
enter_phase(void *ctx)
{
	struct mu_image *image = ctx;

	__atomic_store_n(
	    &image->sweeper.phase, PHASE_SEARCHED, __ATOMIC_RELEASE);
	mu_sys_futex_wake(&image->sweeper.phase, 1, 0);
}

static void
searcher_body(void *arg)
{
	const struct in_place *in_place = arg;
	struct mu_image *image = in_place->image;
	const int keep[] = { image->sweeper.pipe_write, image->job.log.fd,
		image->job.log.syslog_fd, mu_procfs_descriptor() };

	expect_faults(in_place->signal_stack);
	mu_descriptors_close_but(keep, sizeof(keep) / sizeof(keep[0]));
	mu_sys_exit(mu_sweeper_in_place(image, in_place->tables, in_place->size,
			enter_phase, image)
		? 0
		: 3);
}

/* Wait for the search. Returns true if it is done. */
static bool
await(struct mu_image *image, uint64_t until_ns)
{
	pid_t searcher = image->sweeper.pid;
	int phase, status = -1;
	uint64_t now;

	while ((phase = __atomic_load_n(
		    &image->sweeper.phase, __ATOMIC_ACQUIRE)) == searcher) {
		now = mu_sys_now_ns();
		if (now >= until_ns || now >= image->stop.until_ns)
			mu_sys_kill(searcher, SIGKILL);
		mu_sys_futex_wait(
		    &image->sweeper.phase, phase, 0, now + SLICE_NS);
	}
	if (phase == PHASE_SEARCHED)
		return true;
	while (mu_sys_wait(searcher, &status, MU_WALL) == -EINTR)
		continue;
	image->sweeper.pid = 0;
	image->sweeper.status = status;
	return status == 0;
}

/* Map room for tables and a signal stack; freed with the pass's memory. */
static bool
find_room(struct in_place *in_place)
{
	struct mu_image *image = in_place->image;
	char *memory;

	in_place->size =
	    (image->sweeper.room.private / 2 + TABLES) & -ALIGNMENT;
	memory = mu_arena_alloc(&image->job.arena, 1,
	    ALIGNMENT + in_place->size + SIGNAL_STACK_SIZE);
	if (memory == NULL)
		return false;
	in_place->tables = memory + -(uintptr_t)memory % ALIGNMENT;
	in_place->signal_stack = in_place->tables + in_place->size;
	return true;
}

static bool
search(struct mu_image *image)
{
	struct in_place in_place = { .image = image };
	uint64_t begin_ns = mu_sys_now_ns();
	long pid;

	if (!find_room(&in_place) || mu_caller_add(image) != MU_OK)
		return false;
	image->sweeper.phase = -1;
	pid = mu_arch_clone(CLONE_VM | CLONE_UNTRACED | CLONE_PARENT_SETTID |
		CLONE_CHILD_CLEARTID,
	    image->stack + image->stack_size, &image->sweeper.phase,
	    searcher_body, &in_place);
	if (pid < 0)
		return false;
	image->sweeper.pid = (pid_t)pid;
	if (!await(image, begin_ns + SEARCH_NS))
		return false;
	image->stop.pause_ns = mu_sys_now_ns() - begin_ns;
	return true;
}

bool
mu_in_place_try(struct mu_image *image)
{
	const struct mu_snapshot snap = image->snap;
	bool searched;

	if (!is_fit(image) || mu_allocator_freeze(image) != MU_OK)
		return false;
	searched = search(image);
	mu_allocator_thaw(image);
	if (searched)
		image->stop.method = MEMUNREACHABLE_STOP_PTRACE;
	else
		image->snap = snap;
	return searched;
}
