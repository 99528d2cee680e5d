#include "lib/command/last_signal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "heapwalk/heaps/glibc/libc.h"
#include "heapwalk/heaps/table/table.h"
#include "lib/command/clearing.h"
#include "mu/arch/cpu.h"
#include "mu/arch/registers.h"
#include "mu/arena.h"
#include "mu/signal_action.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"
#include "ptrace/live/proc.h"

#define ARENA_LIMIT ((size_t)64 << 20)

/*
 * How long the signal is held, and then how long its process may take to begin
 * to end.
 */
#define LATE_NS (MU_NS_PER_SEC)

/*
 * A thread in malloc runs by single steps, so that it is stopped as soon as it
 * leaves: one that is nearly always there would hardly be met outside. After so
 * many steps, as for the memory of a large realloc(), it runs for a while.
 */
#define STEPS 4096
#define RUN_NS (2 * 1000 * 1000ull)

struct mu_last_signal {
	int signo;
	siginfo_t info;
	bool outside; /* it was not caused by the thread that receives it */
	bool let_go;  /* that thread has continued without it */
	bool sent;    /* once more, since the thread was let go */
	bool done;    /* the process is to end */
	struct mu_range libc;     /* its code */
	struct mu_range clearing; /* of that, memset() for calloc() */
	uint64_t next_ns, late_ns;
};

static struct mu_traced *
owner_of(const struct mu_traced_threads *threads, pid_t pid)
{
	struct mu_traced *thread = NULL;

	while (threads->num_last > 0 &&
	    (thread = mu_traced_next(threads, pid, thread)) != NULL)
		if (thread->last != NULL)
			return thread;
	return NULL;
}

bool
mu_last_signal_any(const struct mu_traced_threads *threads, pid_t pid)
{
	return owner_of(threads, pid) != NULL;
}

static void
end_last(struct mu_traced_threads *threads, struct mu_traced *owner)
{
	free(owner->last);
	owner->last = NULL;
	threads->num_last--;
}

static bool
ends_by_default(int signo)
{
	switch (signo) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return false;
	default:
		return signo > 0 && signo <= 64;
	}
}

/*
 * A tracer is shown ignored signals as well. The first process of a PID
 * namespace survives a signal that it does not handle.
 */
static bool
ends_process(const struct mu_traced *thread)
{
	char status[MU_PROC_STATUS_SIZE];
	int64_t ignored, caught;

	if (!ends_by_default(thread->signo) ||
	    mu_proc_status_read(
		thread->pid, thread->tid, status, sizeof(status)) <= 0)
		return false;
	ignored = mu_proc_status_number(status, "\nSigIgn:", 0, 16);
	caught = mu_proc_status_number(status, "\nSigCgt:", 0, 16);
	return ignored >= 0 && caught >= 0 &&
	    (((uint64_t)ignored | (uint64_t)caught) &
		mu_signal_bit(thread->signo)) == 0 &&
	    mu_proc_inner_pid(thread->pid) != 1;
}

/*
 * A fault would happen again, and raise() returns after its signal only. A
 * terminal's signals have SI_KERNEL; SIGPIPE has the PID of its own process.
 */
static bool
is_from_outside(const siginfo_t *info, pid_t pid)
{
	switch (info->si_signo) {
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGTRAP:
	case SIGSYS:
		if (info->si_code > 0)
			return false;
		break;
	default:
		break;
	}
	return (info->si_code != SI_USER && info->si_code != SI_TKILL &&
		   info->si_code != SI_QUEUE) ||
	    info->si_pid != mu_proc_inner_pid(pid);
}

/* Empty if there is none, as in a static program. */
static void
find_libc(struct mu_last_signal *last, pid_t tid)
{
	struct mu_mapping *mappings;
	struct mu_arena arena;
	size_t count, i;

	mu_arena_open(&arena, ARENA_LIMIT);
	if (mu_mappings_read(tid, &mappings, &count, &arena, NULL) != MU_OK)
		count = 0;
	for (i = 0; i < count; i++)
		if (mappings[i].executable && mu_libc_is_named(&mappings[i])) {
			last->libc = mappings[i].range;
			last->clearing = mu_clearing_in(&mappings[i]);
		}
	mu_arena_close(&arena);
}

static struct mu_traced *
begin(struct mu_traced_threads *threads, struct mu_traced *thread)
{
	struct mu_last_signal *last = calloc(1, sizeof(*last));

	if (last == NULL)
		return NULL;
	last->signo = thread->signo;
	find_libc(last, thread->tid);
	if (last->libc.end == 0 ||
	    mu_sys_ptrace(PTRACE_GETSIGINFO, thread->tid, 0,
		(uintptr_t)&last->info) != 0) {
		free(last);
		return NULL;
	}
	last->outside = is_from_outside(&last->info, thread->pid);
	last->late_ns = mu_sys_now_ns() + LATE_NS;
	thread->last = last;
	threads->num_last++;
	return thread;
}

/* As check_end.c judges it at the end. */
static bool
is_in_malloc(const struct mu_traced *thread, const struct mu_last_signal *last,
    uintptr_t *pc)
{
	uintptr_t general[MU_PRSTATUS_WORDS] = { 0 };
	struct iovec set = { general, sizeof(general) };
	long call;

	if (mu_sys_ptrace(PTRACE_GETREGSET, thread->tid, NT_PRSTATUS,
		(uintptr_t)&set) != 0)
		return false;
	*pc = general[MU_PRSTATUS_PC];
	call = mu_arch_call(general);
	return mu_range_has(last->libc, *pc) &&
	    !mu_range_has(last->clearing, *pc) &&
	    (call < 0 || mu_heaps_call(call));
}

static bool
is_running(const struct mu_traced *thread)
{
	return !thread->stopped && !thread->leaving && !thread->held;
}

/*
 * Not one that makes a step: before it gets a CPU the interrupt would stop it
 * where it is.
 */
static void
interrupt_running(const struct mu_traced_threads *threads, pid_t pid)
{
	const struct mu_traced *thread = NULL;

	while ((thread = mu_traced_next(threads, pid, thread)) != NULL)
		if (is_running(thread) && thread->steps % STEPS == 0)
			mu_sys_ptrace(PTRACE_INTERRUPT, thread->tid, 0, 0);
}

/*
 * The thread has been let go, so it needs the signal again. Another thread may
 * receive it as well, since all others wait.
 */
static void
send_again(struct mu_traced *owner)
{
	struct mu_last_signal *last = owner->last;

	last->sent = true;
	if (last->info.si_code == SI_TKILL)
		mu_sys3(SYS_tgkill, owner->pid, owner->tid, last->signo);
	else
		mu_sys_kill(owner->pid, last->signo);
}

static void
deliver(struct mu_traced *owner)
{
	struct mu_last_signal *last = owner->last;

	last->done = true;
	last->next_ns = mu_sys_now_ns() + LATE_NS;
	if (last->let_go)
		send_again(owner);
	if (owner->stopped)
		mu_traced_continue(owner->tid, last->let_go ? 0 : last->signo);
	owner->stopped = false;
}

static bool
is_at_call(pid_t tid, uintptr_t pc)
{
	char code[MU_CALL_CODE_SIZE];

	return mu_sys_read_memory(tid, pc, code, sizeof(code)) ==
	    (ssize_t)sizeof(code) &&
	    memcmp(code, MU_CALL_CODE, sizeof(code)) == 0;
}

/* Let a thread in malloc run on, at most to the entry of its next call. */
static void
run_on(struct mu_traced *thread, uintptr_t pc)
{
	bool steps =
	    ++thread->steps % STEPS != 0 && !is_at_call(thread->tid, pc);

	thread->stepping = steps;
	mu_sys_ptrace(
	    steps ? PTRACE_SINGLESTEP : PTRACE_SYSCALL, thread->tid, 0, 0);
}

/* THREAD has stopped. */
static void
take_stop(struct mu_traced *owner, struct mu_traced *thread)
{
	struct mu_last_signal *last = owner->last;
	bool may_run = thread != owner || last->outside;
	uintptr_t pc = 0;

	thread->stepping = false;
	thread->stopped = last->done || thread->listens || !may_run ||
	    mu_sys_now_ns() >= last->late_ns ||
	    !is_in_malloc(thread, last, &pc);
	if (thread->stopped)
		return;
	last->let_go |= thread == owner;
	run_on(thread, pc);
}

/* Deliver the signal once all threads are stopped. */
static void
advance(struct mu_traced_threads *threads, struct mu_traced *owner)
{
	const struct mu_traced *thread = NULL;

	if (owner->last->done)
		return;
	while ((thread = mu_traced_next(threads, owner->pid, thread)) != NULL)
		if (is_running(thread))
			return;
	deliver(owner);
}

/* THREAD receives the signal that was sent again, as it was at first. */
static void
receive(const struct mu_last_signal *last, struct mu_traced *thread)
{
	mu_sys_ptrace(
	    PTRACE_SETSIGINFO, thread->tid, 0, (uintptr_t)&last->info);
	mu_traced_continue(thread->tid, last->signo);
}

bool
mu_last_signal_stepped(const struct mu_traced_threads *threads,
    struct mu_traced *thread, int signo)
{
	siginfo_t info = { .si_code = 0 };

	if (!thread->stepping || owner_of(threads, thread->pid) != NULL)
		return false;
	thread->stepping = false;
	return signo == SIGTRAP &&
	    mu_sys_ptrace(
		PTRACE_GETSIGINFO, thread->tid, 0, (uintptr_t)&info) == 0 &&
	    info.si_code == TRAP_TRACE;
}

/* Other signals are dropped, since the process ends. */
bool
mu_last_signal_hold(struct mu_traced_threads *threads, struct mu_traced *thread)
{
	struct mu_traced *owner = owner_of(threads, thread->pid);

	if (owner == NULL) {
		if (thread->signo == 0 || !ends_process(thread) ||
		    (owner = begin(threads, thread)) == NULL)
			return false;
		thread->stopped = true;
		interrupt_running(threads, thread->pid);
		owner->last->next_ns = mu_sys_now_ns() + RUN_NS;
	} else if (owner->last->sent && thread->signo == owner->last->signo) {
		receive(owner->last, thread);
		return true;
	} else if (owner->last->sent && thread == owner) {
		mu_traced_continue(thread->tid, 0);
		return true;
	}
	thread->signo = 0;
	take_stop(owner, thread);
	advance(threads, owner);
	return true;
}

void
mu_last_signal_thread_left(struct mu_traced_threads *threads, pid_t pid)
{
	struct mu_traced *owner = owner_of(threads, pid);

	if (owner != NULL)
		advance(threads, owner);
}

void
mu_last_signal_abandon(
    struct mu_traced_threads *threads, struct mu_traced *thread)
{
	if (thread->last == NULL)
		return;
	if (!thread->last->sent)
		mu_sys_kill(thread->pid, thread->last->signo);
	end_last(threads, thread);
	mu_traced_resume_all(threads, thread->pid);
}

/* An execve() may have ended the thread that was to receive the signal. */
void
mu_last_signal_drop(struct mu_traced_threads *threads, pid_t pid)
{
	struct mu_traced *owner = owner_of(threads, pid), *thread = NULL;

	if (owner == NULL)
		return;
	if (!owner->last->done)
		mu_sys_kill(pid, owner->last->signo);
	end_last(threads, owner);
	while ((thread = mu_traced_next(threads, pid, thread)) != NULL)
		thread->stopped = false;
}

static void
expire(struct mu_traced_threads *threads, struct mu_traced *owner)
{
	struct mu_last_signal *last = owner->last;
	uint64_t now = mu_sys_now_ns();
	pid_t pid = owner->pid;

	if (now < last->next_ns)
		return;
	if (last->done) {
		end_last(threads, owner);
		mu_traced_resume_all(threads, pid);
	} else if (now >= last->late_ns)
		deliver(owner);
	else {
		interrupt_running(threads, pid);
		last->next_ns = now + RUN_NS;
	}
}

uint64_t
mu_last_signal_expire(struct mu_traced_threads *threads)
{
	struct mu_traced *thread;
	uint64_t next = 0;
	size_t i;

	for (i = 0; threads->num_last > 0 && i < threads->count; i++) {
		thread = &threads->threads[i];
		if (thread->last != NULL)
			expire(threads, thread);
		if (thread->last != NULL &&
		    (next == 0 || thread->last->next_ns < next))
			next = thread->last->next_ns;
	}
	return next;
}
