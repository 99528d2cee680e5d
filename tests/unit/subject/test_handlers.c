/*
 * The frame of a signal handler, from the handler itself and from the code that
 * it returns to, which has two instructions.
 */
#include "heapwalk/subject/handlers.h"

#include "mu/arch/unwind.h"
#include "tests/support/heaps/self_snapshot.h"
#include "tests/support/suite.h"

#ifdef __x86_64__

static struct self_snapshot self;
static struct mu_handler inner, first, second, elsewhere;
static uintptr_t interrupted_sp, interrupted_pc;
static bool found[4];

static bool
find(struct mu_handler *handler, uintptr_t pc, uintptr_t sp)
{
	mu_handler_open(handler, &self.snap, pc, sp);
	return mu_handler_next(handler, &self.snap);
}

static void
on_signal(int signo, siginfo_t *info, void *context)
{
	const ucontext_t *frame = context;
	uintptr_t back, sp;

	(void)signo;
	(void)info;
	interrupted_pc = (uintptr_t)frame->uc_mcontext.gregs[REG_RIP];
	interrupted_sp = (uintptr_t)frame->uc_mcontext.gregs[REG_RSP];
	if (self_snapshot_take(&self, NULL, 0) != MU_OK)
		return;
	found[0] = find(&inner, (uintptr_t)on_signal,
	    (uintptr_t)__builtin_frame_address(0));
	/* As after the handler's return. */
	back = *(const uintptr_t *)inner.frame;
	sp = inner.frame + sizeof(uintptr_t);
	found[1] = find(&first, back, sp);
	found[2] = find(&second, back + 7, sp);
	found[3] = find(&elsewhere, interrupted_pc, sp);
}

static void
expect_frame(const struct mu_handler *handler)
{
	ck_assert_uint_eq(handler->frame, inner.frame);
	ck_assert_uint_eq(handler->pc, interrupted_pc);
	ck_assert_uint_eq(handler->sp, interrupted_sp);
}

TEST(frames)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };

	action.sa_sigaction = on_signal;
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	raise(SIGUSR1);
	ck_assert(found[0]);
	expect_frame(&inner);
	ck_assert(found[1]);
	expect_frame(&first);
	ck_assert(found[2]);
	expect_frame(&second);
	/* Its return is long over there: the word is dead. */
	ck_assert(!found[3] || elsewhere.frame != inner.frame);
	self_snapshot_release(&self);
}

#endif

SUITE();
