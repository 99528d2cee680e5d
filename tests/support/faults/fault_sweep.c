#include "tests/support/faults/fault_sweep.h"

static const int errors[] = { EINTR, EAGAIN, ENOMEM, EMFILE, EPERM, ENOSYS,
	EIO };

#define NUM_ERRORS ((unsigned)(sizeof(errors) / sizeof(errors[0])))

/*
 * Time limits: of a pass that may have to wait for its end, and of any other.
 */
#define SHORT_MS 2000
#define LONG_MS \
	120000 /* of a pass whose calls all go through another process */

/*
 * On a busy machine a thread may reach its handler late: more than the default.
 */
#define PAUSE_MS 2000

static struct walk walk;

/* The manual allows EINTR: it must not be noticed. */
static bool
may_be_interrupted(int nr)
{
	return nr == SYS_openat || nr == SYS_read || nr == SYS_pread64 ||
	    nr == SYS_write || nr == SYS_wait4 || nr == SYS_waitid ||
	    nr == SYS_futex || nr == SYS_ppoll || nr == SYS_nanosleep ||
	    nr == SYS_rt_sigtimedwait || nr == SYS_close;
}

/*
 * Statuses that a pass may report besides the one that follows from the error.
 */
static bool
is_right_for_call(const struct fault *fault, int status)
{
	switch (fault->nr) {
	case SYS_mmap: /* its other errors cannot happen */
		return status == MEMUNREACHABLE_NO_MEMORY;
	case SYS_ptrace:
		return status == MEMUNREACHABLE_PTRACE_SECCOMP ||
		    status == MEMUNREACHABLE_NO_PERMISSION;
	case SYS_getpid: /* without them no pass is possible */
	case SYS_gettid:
		return status != MEMUNREACHABLE_HEAP_INCONSISTENT;
	case SYS_rt_sigreturn: /* of the child that tries it first */
	case SYS_rt_sigprocmask:
		return status == MEMUNREACHABLE_NO_PERMISSION;
	case SYS_getppid:
	case SYS_write: /* of the answer, by the sweeper */
		return status == MEMUNREACHABLE_HELPER_DIED;
	case SYS_openat:     /* of /proc/PID/maps and its like */
	case SYS_readlinkat: /* of /proc/self */
	case SYS_read:
	case SYS_getdents64:
		return status == MEMUNREACHABLE_NO_PROC;
	default:
		return false;
	}
}

static bool
is_right(const struct fault *fault, int status)
{
	switch (fault->error) {
	case ENOMEM:
		if (status == MEMUNREACHABLE_NO_MEMORY)
			return true;
		break;
	case EPERM:
		if (status == MEMUNREACHABLE_NO_PERMISSION)
			return true;
		break;
	default: /* there is no better word for the others */
		if (status == MEMUNREACHABLE_NO_RESOURCES)
			return true;
		break;
	}
	return is_right_for_call(fault, status);
}

static void
assert_right(const struct fault *fault, const struct failing_pass *failing)
{
	const struct UnreachableMemoryInfo *info = &failing->info;
	bool right = failing->checked || is_right(fault, info->status);

	/* The status if neither stop method works. */
	if (walk.method == METHOD_REFUSED &&
	    info->status == MEMUNREACHABLE_PTRACE_SECCOMP)
		right = true;
	if (fault->for_ever && info->status == MEMUNREACHABLE_TIMEOUT)
		right = true;
	if (fault->act == FAULT_SHORT ||
	    (fault->error == EINTR && may_be_interrupted(fault->nr)))
		right = info->status == MEMUNREACHABLE_COMPLETE;
	ck_assert_msg(right, "%s %s %u, errno %d: status %d, %s",
	    role_names[fault->role], call_name(fault->nr), fault->nth,
	    fault->error, info->status, info->reason);
	if (fault->nr != SYS_clock_gettime)
		assert_at_once(failing);
}

/*
 * If close() or munmap() is refused, what it should have removed remains; it is
 * removed here, and the rest must be unchanged.
 */
static void
forgive(const struct fault *fault)
{
	if (fault->role == ROLE_ORIGINAL && fault->act == FAULT_DENY &&
	    (fault->nr == SYS_close || fault->nr == SYS_munmap))
		unharmed_look(&walk.own.unharmed);
}

/* False when there is no such call. */
static bool
spoil(const struct fault *fault)
{
	struct failing_pass failing;

	if (fault->for_ever)
		mu_library.options.timeout = SHORT_MS;
	walk_pass(&walk, fault, &failing);
	mu_library.options.timeout = LONG_MS;
	if (!failing.acted) {
		/* A read of no bytes cannot be cut short. */
		ck_assert_msg(failing.checked, "%s", failing.info.reason);
		return walk.record->seen >= fault->nth;
	}
	walk_count(&walk, &failing);
	assert_right(fault, &failing);
	forgive(fault);
	belongings_check(&walk.own, &failing);
	return true;
}

/*
 * Fail the calls of one kind, with ERROR or, if that is 0, with each error in
 * turn.
 */
static void
spoil_each(struct fault fault, int error, unsigned turn)
{
	for (fault.nth = 1; walk_in_time(&walk); fault.nth++) {
		if (!walk_wants(&walk, fault.nr, fault.nth))
			continue;
		fault.error = error != 0 ? error : errors[++turn % NUM_ERRORS];
		if (!spoil(&fault))
			break;
	}
}

/* Fail each call once or, if STEP is 1, once for each error; and with EINTR. */
static void
sweep_kind(struct fault fault, unsigned step)
{
	unsigned i;

	for (i = 0; i < NUM_ERRORS; i += step)
		spoil_each(fault, 0, i + (unsigned)fault.nr);
	if (step > 1 && fault.act == FAULT_DENY && may_be_interrupted(fault.nr))
		spoil_each(fault, EINTR, 0);
}

void
fault_sweep(enum walk_method method, enum fault_role role, enum fault_act act,
    bool shares)
{
	struct fault fault = { .role = role, .act = act };
	bool twice = method == METHOD_PTRACE && role != ROLE_SWEEPER &&
	    mu_library.options.verbosity == 0;
	unsigned step = walk_full() ? 1
	    : twice                 ? (NUM_ERRORS + 1) / 2
				    : NUM_ERRORS;

	if (act == FAULT_SHORT)
		step = NUM_ERRORS; /* there is no error */
	mu_library.options.max_pause = PAUSE_MS;
	if (!walk_begin(&walk, method, role, shares))
		return;
	for (fault.nr = 0; fault.nr < MAX_CALL; fault.nr++)
		if (walk.counts[role][fault.nr] > 0 &&
		    (act == FAULT_DENY || fault.nr == SYS_read ||
			fault.nr == SYS_pread64 || fault.nr == SYS_write))
			sweep_kind(fault, step);
	walk_end(&walk);
}

/*
 * A filter's refusal, from the first such call on; or one that came in the
 * middle of the pass, but not if it kept from undoing what was done.
 */
static void
deny_for_ever(struct fault fault)
{
	static const int lasting[] = { EPERM, ENOSYS };
	bool all = walk_full() && fault.nr != SYS_rt_sigprocmask &&
	    fault.nr != SYS_rt_sigaction && fault.nr != SYS_wait4;
	unsigned i = walk_full() ? 0 : (unsigned)fault.nr % 2;

	for (; i < 2; i += walk_full() ? 1 : 2) {
		fault.error = lasting[i];
		for (fault.nth = 1; walk_in_time(&walk) && spoil(&fault) && all;
		     fault.nth++)
			continue;
	}
}

void
fault_sweep_for_ever(enum walk_method method)
{
	struct fault fault = { .act = FAULT_DENY, .for_ever = true };
	enum fault_role role;
	bool called;

	if (!walk_begin(&walk, method, ROLE_ORIGINAL, false))
		return;
	for (fault.nr = 0; fault.nr < MAX_CALL; fault.nr++) {
		called = false;
		for (role = 0; role < NUM_ROLES; role++)
			called |= walk.counts[role][fault.nr] > 0;
		/* Without exit_group() no process or thread would end. */
		if (called && fault.nr != SYS_exit_group)
			deny_for_ever(fault);
	}
	walk_end(&walk);
}
