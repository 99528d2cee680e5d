/*
 * Registers that outlive the tracer: see remote_note.h.
 *
 * A process that is killed closes its files before it gives up its tracees
 * (exit_files() and exit_notify() in do_exit()), so a process that watches a
 * pipe of its is awake when the thread is let go. The thread is in the kernel
 * then, in our call or at its end, and PTRACE_INTERRUPT stops it before it is
 * back in the program.
 *
 * Runs in: guardian. Uses no malloc, no errno, no libc lock.
 */
#include "ptrace/remote_note.h"

#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "mu/arch_remote.h"
#include "ptrace/tracee.h"
#include "ptrace/wakeup.h"

#define NOTE_PRSTATUS 1
#define SETSIGMASK 0x420b

void
mu_remote_note_set(struct mu_remote_note *note)
{
	__atomic_store_n(&note->valid, 1, __ATOMIC_RELEASE);
}

void
mu_remote_note_clear(struct mu_remote_note *note)
{
	__atomic_store_n(&note->valid, 0, __ATOMIC_RELEASE);
}

/* The old tracer has it for some microseconds more: EPERM until then. */
static bool
seize(struct mu_tracee *tracee, uint64_t deadline_ns)
{
	long error;

	do
		error = mu_tracee_seize(tracee);
	while (error == -EPERM && mu_sys_now_ns() < deadline_ns);
	return error == 0;
}

/*
 * Put back registers and mask. Not where the registers are neither ours nor the
 * thread's own: it may have become another program.
 */
static void
put_back(const struct mu_remote_note *note)
{
	uintptr_t general[MU_PRSTATUS_WORDS], own[MU_PRSTATUS_WORDS];
	struct iovec set = { general, sizeof(general) };

	memcpy(own, note->general, sizeof(own));
	if (mu_sys_ptrace(PTRACE_GETREGSET, note->tid, NOTE_PRSTATUS,
		(uintptr_t)&set) < 0 ||
	    (memcmp(general, own, sizeof(own)) != 0 &&
		!mu_arch_remote_is_ours(general, note->code, note->args)))
		return;
	set.iov_base = own;
	mu_sys_ptrace(
	    PTRACE_SETREGSET, note->tid, NOTE_PRSTATUS, (uintptr_t)&set);
	mu_sys_ptrace(
	    SETSIGMASK, note->tid, sizeof(note->mask), (uintptr_t)&note->mask);
}

void
mu_remote_note_undo(
    struct mu_remote_note *note, pid_t pid, uint64_t deadline_ns)
{
	struct mu_tracee tracee = { .tid = note->tid };
	struct mu_wakeup wakeup;

	if (__atomic_load_n(&note->valid, __ATOMIC_ACQUIRE) == 0 ||
	    !seize(&tracee, deadline_ns))
		return;
	mu_tracee_interrupt(&tracee);
	mu_wakeup_open(&wakeup);
	if (mu_tracee_await(&tracee, pid, deadline_ns) &&
	    mu_tracee_stopped(&tracee)) {
		put_back(note);
		mu_tracee_detach(&tracee);
	}
	mu_wakeup_close(&wakeup);
	mu_remote_note_clear(note);
}
