/*
 * As in lib/pass/in_place.c, the memory cannot change. What ends only the
 * searching process there must not end the program: a fault of the search comes
 * to a handler of ours, from which it is left, and the other ways remain. For a
 * signal that comes for the program it is left at the next step.
 */
#include "lib/pass/in_thread.h"

#include <setjmp.h>
#include <signal.h>

#include "lib/helpers/sweeper.h"
#include "lib/pass/in_place.h"
#include "lib/pass/own_image.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/caller.h"
#include "lib/state/library.h"
#include "mu/signal_action.h"
#include "mu/sys.h"

/* A heap of so much memory is searched by one worker, in 0.1 to 1 ms. */
#define MOST MU_SWEEPER_SMALL

struct in_thread {
	struct mu_image *image;
	struct mu_in_place_room room;
	uint64_t until_ns;
	int pagemap;
	jmp_buf fault;
	bool sent;                      /* the answer */
	siginfo_t signals[SIGSEGV + 1]; /* that were sent; si_signo 0: none */
	bool signalled;                 /* there are any */
	uint64_t looked_ns;             /* when signals were looked for last */
	struct mu_in_place_faults before;
};

/* A handler gets no argument. Set while the pass lock is held. */
static struct in_thread *searching;

/*
 * A signal that was sent waits for the next step, as others do: where it comes
 * the search may have opened a file.
 */
static void
on_fault(int signo, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code > 0)
		longjmp(searching->fault, 1);
	searching->signals[signo] = *info;
	searching->signalled = true;
}

/* A signal that was sent is the program's, which handles it afterwards. */
static void
end_faults(struct in_thread *search)
{
	int signo;

	mu_in_place_restore_faults(&search->before);
	searching = NULL;
	for (signo = 0; signo <= SIGSEGV; signo++)
		if (search->signals[signo].si_signo != 0)
			mu_sys3(SYS_rt_sigqueueinfo, search->image->job.pid,
			    signo, (long)&search->signals[signo]);
}

static void
await_room(void *ctx)
{
	(void)ctx;
}

/* The answer lies in the pipe until the search is over. */
static bool
fits(void *ctx, size_t bytes)
{
	const struct in_thread *search = ctx;

	return mu_sys2(
		   SYS_fcntl, search->image->sweeper.pipe_write, F_GETPIPE_SZ) /
	    2 >=
	    (long)bytes;
}

/* Signals wait no longer than to the next step. */
static void
look_for_signals(void *ctx)
{
	struct in_thread *search = ctx;
	struct mu_image *image = search->image;
	uint64_t now = mu_sys_now_ns();
	mu_sigmask pending = 0;

	mu_image_paused(image, now - search->looked_ns);
	search->looked_ns = now;
	mu_sys2(SYS_rt_sigpending, (long)&pending, sizeof(pending));
	if ((pending & ~image->stop.blocked_signals) != 0)
		mu_library.passes_by_image = MU_IN_PLACE_NOT_FOR;
	else if (!search->signalled)
		return;
	longjmp(search->fault, 1);
}

static void
run(struct in_thread *search)
{
	const struct mu_in_place_calls calls = {
		.await_room = await_room,
		.large_answer = fits,
		.step = look_for_signals,
		.pagemap = &search->pagemap,
		.ctx = search,
		.until_ns = search->until_ns,
	};
	mu_sigmask all = ~0ull, open;

	searching = search;
	open = ~mu_in_place_expect_faults(
	    &search->before, &search->room, on_fault);
	if (setjmp(search->fault) == 0) {
		mu_sys_restore_signals(&open);
		search->sent = mu_sweeper_in_place(search->image,
		    search->room.tables, search->room.size, &calls);
	}
	mu_sys_restore_signals(&all);
}

static bool
search(struct mu_image *image)
{
	uint64_t begin_ns = mu_sys_now_ns();
	struct in_thread search = {
		.image = image,
		.until_ns =
		    begin_ns + mu_library.options.max_pause * MU_NS_PER_MS,
		.looked_ns = begin_ns,
		.pagemap = -1,
	};

	if (search.until_ns > image->job.deadline_ns)
		search.until_ns = image->job.deadline_ns;
	if (begin_ns >= image->job.deadline_ns ||
	    !mu_in_place_find_room(image, &search.room) ||
	    mu_caller_add(image) != MU_OK)
		return false;
	run(&search);
	end_faults(&search);
	mu_sys_close(&search.pagemap);
	mu_image_paused(image, mu_sys_now_ns() - search.looked_ns);
	return search.sent;
}

/* On a caller's stack of unknown size there may be no room for a search. */
bool
mu_in_thread_try(struct mu_image *image)
{
	const struct mu_snapshot snap = image->snap;
	bool searched;

	if (image->sweeper.budget.private >= MOST ||
	    mu_range_size(image->own_stack) == 0 ||
	    !mu_in_place_is_fit(image) || !mu_own_image_may_begin(image) ||
	    mu_allocator_freeze(image) != MU_OK)
		return false;
	searched = search(image);
	mu_allocator_thaw(image);
	image->sweeper.answered = searched;
	if (searched)
		image->stop.method = MEMUNREACHABLE_STOP_PTRACE;
	else
		image->snap = snap;
	return searched;
}
