/*
 * Layout, from the lowest address: the answer; two frames for a child; one that
 * reaps the child; one that leads to the thread's own registers; and the vector
 * registers.
 */
#include "ptrace/remote/remote_return.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include "heapwalk/heaps/glibc/pthread.h"
#include "mu/arch/registers.h"
#include "mu/arch/return.h"
#include "mu/arch/vector.h"
#include "mu/procfs.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"
#include "ptrace/remote/remote_thread.h"

#define NOTE_PRSTATUS 1
#define NOTE_PRFPREG 2

#define ALIGN 64
#define PIECE ((size_t)8 << 10)
#define MARK 8 /* ptrace gives a register set in words */

/* No process has this number (PID_MAX_LIMIT), so wait4() fails with ECHILD. */
#define NO_PID 0x7fffffff

enum frame { CHILD, CHILD_END, REAP, OWN };

static size_t
aligned(size_t size)
{
	return (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static size_t
frame_offset(const struct mu_remote_thread *thread, enum frame which)
{
	size_t pad = aligned(thread->code.at.skip);

	return MU_REMOTE_ANSWER + pad +
	    which * (pad + aligned(sizeof(struct mu_return_frame)));
}

static uintptr_t
frame_at(const struct mu_remote_thread *thread, enum frame which)
{
	return thread->way.at + frame_offset(thread, which);
}

static size_t
vector_offset(const struct mu_remote_thread *thread)
{
	return aligned(
	    frame_offset(thread, OWN) + sizeof(struct mu_return_frame));
}

/*
 * Read the vector registers to where the frame expects them. The end mark needs
 * MARK more bytes.
 */
static bool
read_vector(struct mu_remote_thread *thread)
{
	struct mu_remote_return *way = &thread->way;
	size_t at = vector_offset(thread);
	struct iovec set = { way->bytes + at, sizeof(way->bytes) - at - MARK };
	size_t room = set.iov_len;
	pid_t tid = thread->tracee->tid;

	if (mu_sys_ptrace(
		PTRACE_GETREGSET, tid, MU_NT_VECTOR, (uintptr_t)&set) < 0 &&
	    mu_sys_ptrace(
		PTRACE_GETREGSET, tid, NOTE_PRFPREG, (uintptr_t)&set) < 0)
		return false;
	way->vector_size = set.iov_len;
	way->size = aligned(at + set.iov_len + MARK);
	return set.iov_len < room;
}

/* Take room below LIMIT; the memory from BEGIN to LIMIT is not in use. */
static bool
take_below(struct mu_remote_thread *thread, uintptr_t begin, uintptr_t limit)
{
	if (limit < begin || limit - begin < thread->way.size + ALIGN)
		return false;
	thread->way.at = (limit - thread->way.size) & ~(uintptr_t)(ALIGN - 1);
	return true;
}

#ifdef MU_PTHREAD_STACKBLOCK

/*
 * Use glibc's record of where the thread's stack is. That of the first thread
 * is recorded as beginning at 0 (__tls_init_tp() in csu/libc-tls.c), so it
 * gives no bound.
 */
static bool
take_own(struct mu_remote_thread *thread, uintptr_t limit)
{
	uintptr_t tp = thread->general[MU_PRSTATUS_TP], self = 0, block[2];
	pid_t tid = thread->tracee->tid;

	return tp != 0 &&
	    mu_sys_read_memory(tid, tp + MU_PTHREAD_SELF, &self,
		sizeof(self)) == sizeof(self) &&
	    self == tp &&
	    mu_sys_read_memory(tid, tp + MU_PTHREAD_STACKBLOCK, block,
		sizeof(block)) == sizeof(block) &&
	    block[0] != 0 && limit >= block[0] && limit - block[0] < block[1] &&
	    take_below(thread, block[0], limit);
}

#else

static bool
take_own(struct mu_remote_thread *thread, uintptr_t limit)
{
	(void)thread;
	(void)limit;
	return false;
}

#endif

/*
 * The first thread's stack pointer, if that thread is stopped; 0 if it has
 * ended.
 */
static bool
first_pointer(const struct mu_threads *threads, uintptr_t *sp)
{
	uintptr_t general[MU_PRSTATUS_WORDS] = { 0 };
	struct iovec set = { general, sizeof(general) };
	size_t i;

	for (i = 0; i < threads->count; i++)
		if (threads->tracees[i].tid == threads->pid &&
		    mu_tracee_stopped(&threads->tracees[i]) &&
		    mu_sys_ptrace(PTRACE_GETREGSET, threads->pid, NOTE_PRSTATUS,
			(uintptr_t)&set) == 0) {
			*sp = general[MU_PRSTATUS_SP];
			return true;
		}
	*sp = 0;
	return mu_proc_ended(mu_proc_state(threads->pid, threads->pid));
}

/*
 * Take the lowest part of the first thread's stack, which the kernel has mapped
 * in advance and which has not been written to yet.
 */
static bool
take_unused(struct mu_remote_thread *thread)
{
	const struct mu_range stack = thread->code.stack;
	uintptr_t sp, end = stack.begin + ALIGN + thread->way.size;
	unsigned char bytes[PIECE] = { 0 };
	size_t at, i, n;

	if (!first_pointer(thread->threads, &sp) || end > stack.end ||
	    (mu_range_has(stack, sp) && sp - MU_RED_ZONE < end))
		return false;
	for (at = stack.begin; at < end; at += n) {
		n = end - at < sizeof(bytes) ? end - at : sizeof(bytes);
		if (mu_sys_read_memory(thread->tracee->tid, at, bytes, n) != n)
			return false;
		for (i = 0; i < n; i++)
			if (bytes[i] != 0)
				return false;
	}
	thread->way.foreign = thread->tracee->tid != thread->threads->pid;
	return take_below(thread, stack.begin, end);
}

bool
mu_remote_return_find(struct mu_remote_thread *thread)
{
	uintptr_t sp = thread->general[MU_PRSTATUS_SP];

	thread->way.at = 0;
	thread->way.foreign = false;
	if (!read_vector(thread))
		return false;
	/*
	 * Even on a thread's own stack the memory right below sp may be in use:
	 * a coroutine or a signal handler may run on a variable there.
	 */
	if (thread->tracee->tid == thread->threads->pid && take_unused(thread))
		return true;
	if (mu_range_has(thread->code.stack, sp))
		return take_below(
		    thread, thread->code.stack.begin, sp - MU_RED_ZONE);
	return take_own(thread, sp - MU_RED_ZONE) || take_unused(thread);
}

uintptr_t
mu_remote_return_answer(const struct mu_remote_thread *thread)
{
	return thread->way.at;
}

uintptr_t
mu_remote_return_child_stack(const struct mu_remote_thread *thread)
{
	return mu_arch_return_stack(&thread->code.at, frame_at(thread, CHILD));
}

uintptr_t
mu_remote_return_child_pid(const struct mu_remote_thread *thread)
{
	return frame_at(thread, REAP) + MU_RETURN_FIRST;
}

long
mu_remote_return_open(struct mu_remote_thread *thread)
{
	char path[32];

	thread->way.written = 0;
	thread->way.memory = -1;
	if (thread->way.at == 0)
		return 0;
	mu_text_format(path, sizeof(path), "/proc/%d/mem", thread->tracee->tid);
	thread->way.memory = mu_procfs_open(path, O_RDWR);
	return thread->way.memory < 0 ? thread->way.memory : 0;
}

/* Exchange BYTES and the contents of the thread's memory. */
static long
exchange(struct mu_remote_thread *thread)
{
	struct mu_remote_return *way = &thread->way;
	unsigned char before[PIECE], *bytes;
	uintptr_t at;
	size_t n;

	for (; way->written < way->size; way->written += n) {
		n = way->size - way->written;
		n = n < sizeof(before) ? n : sizeof(before);
		at = way->at + way->written;
		bytes = way->bytes + way->written;
		/*
		 * Do not read through /proc/PID/mem, which reads guard pages as
		 * well.
		 */
		if (mu_sys_read_memory(thread->tracee->tid, at, before, n) !=
			n ||
		    mu_sys_pwrite(way->memory, bytes, n, at) != (ssize_t)n)
			return -EFAULT;
		memcpy(bytes, before, n);
	}
	return 0;
}

/* Build a frame that makes call NR with ARGS and then returns to frame NEXT. */
static void
lay_call(struct mu_remote_thread *thread, enum frame which, long nr,
    const uintptr_t args[6], enum frame next)
{
	const struct mu_return_code *code = &thread->code.at;
	uintptr_t general[MU_PRSTATUS_WORDS];

	memcpy(general, thread->general, sizeof(general));
	mu_arch_remote_prepare(general, code->call, nr, args);
	mu_arch_return_after(general, code, frame_at(thread, next));
	mu_arch_return_fill((struct mu_return_frame *)(thread->way.bytes +
				frame_offset(thread, which)),
	    general, ~(mu_sigmask)0, code, NULL);
}

/*
 * The registers as the thread's own code expects them, with the interrupted
 * call.
 */
static void
own_registers(const struct mu_remote_thread *thread, uintptr_t *general)
{
	unsigned char before[MU_RETURN_BEFORE] = { 0 };
	uintptr_t at;

	memcpy(general, thread->general, sizeof(thread->general));
	at = general[MU_PRSTATUS_PC] - MU_CALL_CODE_SIZE;
	if (mu_arch_return_waits(general))
		mu_sys_read_memory(thread->tracee->tid,
		    at - (sizeof(before) - MU_CALL_CODE_SIZE), before,
		    sizeof(before));
	mu_arch_return_restart(general, mu_arch_return_number(before));
}

long
mu_remote_return_write(struct mu_remote_thread *thread, mu_sigmask mask)
{
	static const uintptr_t quit[6], reap[6] = { NO_PID, 0, MU_WALL };
	const uintptr_t name[6] = { PR_SET_NAME, thread->way.at };
	struct mu_remote_return *way = &thread->way;
	uintptr_t general[MU_PRSTATUS_WORDS];
	size_t at = vector_offset(thread);
	struct mu_return_vector vector = {
		.set = way->bytes + at,
		.size = way->vector_size,
		.at = way->at + at,
	};

	if (way->at == 0)
		return 0;
	if (!read_vector(thread))
		return -ESRCH;
	memset(way->bytes, 0, at);
	memcpy(way->bytes, MU_REMOTE_COPY, sizeof(MU_REMOTE_COPY));
	lay_call(thread, CHILD, SYS_prctl, name, CHILD_END);
	lay_call(thread, CHILD_END, SYS_exit_group, quit, OWN);
	lay_call(thread, REAP, SYS_wait4, reap, OWN);
	own_registers(thread, general);
	mu_arch_return_vector(way->bytes + at, way->vector_size);
	mu_arch_return_fill(
	    (struct mu_return_frame *)(way->bytes + frame_offset(thread, OWN)),
	    general, mask, &thread->code.at, &vector);
	return exchange(thread);
}

void
mu_remote_return_set_now(
    const struct mu_remote_thread *thread, uintptr_t *general)
{
	if (thread->way.at != 0)
		mu_arch_return_now(
		    general, &thread->code.at, frame_at(thread, OWN));
}

void
mu_remote_return_set_after(
    const struct mu_remote_thread *thread, bool child, uintptr_t *general)
{
	if (thread->way.at != 0)
		mu_arch_return_after(general, &thread->code.at,
		    frame_at(thread, child ? REAP : OWN));
}

uintptr_t
mu_remote_return_child_end(const struct mu_remote_thread *thread)
{
	return frame_at(thread, CHILD_END);
}

void
mu_remote_return_remove(
    struct mu_remote_thread *thread, void *answer, size_t size)
{
	struct mu_remote_return *way = &thread->way;

	if (way->memory >= 0 && size > 0)
		mu_sys_pread(way->memory, answer, size, way->at);
	if (way->memory >= 0 && way->written > 0)
		mu_sys_pwrite(way->memory, way->bytes, way->written, way->at);
	mu_sys_close(&way->memory);
}
