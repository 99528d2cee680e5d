/*
 * Alternate signal stacks are after a pass what they were: set, disarmed by
 * themselves, in use or not there. By ptrace not a byte of them is written.
 * By signal the kernel puts the handler's frame on one that is set and free,
 * as it does for any handler that asks for it.
 */
#include <stdint.h>
#include <sys/mman.h>

#include "tests/support/suite.h"
#include "tests/support/transparency.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

#define PASSES 10
#define STACK_SIZE ((size_t)128 << 10)
#define GUARD 256 /* bytes on either side that must not be written */
#define PATTERN 0x5a
#define MARK 0x1234567890abcdefu

enum kind { NONE, PLAIN, AUTODISARM, IN_USE, IN_USE_AUTODISARM, KINDS };

struct owner {
	pthread_t thread;
	char *stack; /* GUARD bytes around it */
	enum kind kind;
	int ready, go;
	bool same, mark_kept;
	bool untouched; /* the stack has the pattern still */
};

static __thread struct owner *self;

static stack_t
look(void)
{
	stack_t stack;

	sigaltstack(NULL, &stack);
	return stack;
}

/* At rest: not in a system call, as those leave no more than that to see. */
static void
stay(struct owner *owner)
{
	volatile uint64_t mark = MARK;
	stack_t before = look(), after;

	transparency_set(&owner->ready, 1);
	while (!transparency_get(&owner->go))
		sched_yield();
	after = look();
	owner->same = before.ss_sp == after.ss_sp &&
	    before.ss_size == after.ss_size &&
	    before.ss_flags == after.ss_flags;
	owner->mark_kept = mark == MARK;
}

static void
on_usr1(int signo)
{
	(void)signo;
	stay(self);
}

static bool
has_pattern(const char *bytes, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (bytes[i] != PATTERN)
			return false;
	return true;
}

static void *
own(void *arg)
{
	struct owner *owner = arg;
	stack_t stack = { .ss_sp = owner->stack + GUARD,
		.ss_size = STACK_SIZE };
	bool used = owner->kind == IN_USE || owner->kind == IN_USE_AUTODISARM;

	self = owner;
	if (owner->kind == AUTODISARM || owner->kind == IN_USE_AUTODISARM)
		stack.ss_flags = (int)SS_AUTODISARM;
	if (owner->kind != NONE && sigaltstack(&stack, NULL) != 0)
		return NULL;
	if (used)
		raise(SIGUSR1);
	else
		stay(owner);
	owner->untouched = has_pattern(owner->stack + GUARD, STACK_SIZE);
	/* Back in the kernel's hands, also if it was disarmed since. */
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	return NULL;
}

static void
start(struct owner *owner, enum kind kind)
{
	owner->kind = kind;
	owner->stack = mmap(NULL, STACK_SIZE + 2 * GUARD,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(owner->stack, MAP_FAILED);
	memset(owner->stack, PATTERN, STACK_SIZE + 2 * GUARD);
	transparency_spawn(&owner->thread, own, owner);
	transparency_await(&owner->ready, 1);
}

TEST_LOOP(alternate_stacks, 0, TRANSPARENCY_METHODS)
{
	struct sigaction action = { .sa_handler = on_usr1,
		.sa_flags = SA_ONSTACK };
	struct owner owners[KINDS] = { { .kind = NONE } };
	bool by_signal = transparency_methods[_i].option == MU_STOP_SIGNAL;
	int k;

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	for (k = 0; k < KINDS; k++)
		start(&owners[k], (enum kind)k);
	transparency_passes(_i, PASSES);
	for (k = 0; k < KINDS; k++) {
		transparency_set(&owners[k].go, 1);
		pthread_join(owners[k].thread, NULL);
		ck_assert_msg(owners[k].same, "kind %d", k);
		ck_assert_msg(owners[k].mark_kept, "kind %d", k);
		ck_assert(has_pattern(owners[k].stack, GUARD));
		ck_assert(
		    has_pattern(owners[k].stack + GUARD + STACK_SIZE, GUARD));
	}
	ck_assert(owners[NONE].untouched);
	ck_assert_int_eq(owners[PLAIN].untouched, !by_signal);
	ck_assert_int_eq(owners[AUTODISARM].untouched, !by_signal);
}
