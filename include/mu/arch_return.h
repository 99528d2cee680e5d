/*
 * How a thread restores its own registers: rt_sigreturn restores all of them,
 * and the signal mask, from a frame in memory as the kernel builds one for a
 * signal handler. MU_RETURN_... describe where the code for that call and its
 * address are found; mu_arch_return_...() build frames.
 *
 * Runs in: keeper, collector.
 */
#ifndef MU_ARCH_RETURN_H
#define MU_ARCH_RETURN_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mu/arch.h"
#include "mu/arch_remote.h"
#include "mu/sys.h"

/*
 * Neither SS_DISABLE, SS_ONSTACK nor 0: do_sigaltstack() refuses the value, and
 * rt_sigreturn ignores that error (restore_altstack() in kernel/signal.c). So
 * the thread keeps its alternate stack, which we do not know.
 */
#define MU_RETURN_NO_STACK 0x40

/* A system call instruction at CALL, and the way from it to rt_sigreturn. */
struct mu_return_code {
	uintptr_t call; /* the system call instruction */
	uintptr_t back; /* the code that calls rt_sigreturn */
	unsigned skip;  /* bytes of stack that are popped before the return */
};

/*
 * The vector registers for a frame; AT is their address in the thread's memory.
 */
struct mu_return_vector {
	const void *set;
	size_t size;
	uintptr_t at;
};

#if defined(__x86_64__)

#include "mu/cpuid.h"
#include "mu/signal_frame.h"

/*
 * "mov $15, %eax; syscall", or with %rax: __restore_rt of glibc and musl,
 * runtime.sigreturn of Go. First the common end, then the possible beginnings.
 */
#define MU_RETURN_END "\x0f\x00\x00\x00\x0f\x05"
#define MU_RETURN_END_SIZE 6
#define MU_RETURN_LONG "\x48\xc7\xc0"
#define MU_RETURN_SHORT "\xb8"

/* A line of /proc/PID/status: the thread has a shadow stack. */
#define MU_RETURN_SHADOW "\nx86_Thread_features:\tshstk"

/* Limits of the bytes popped, and of the length of the code up to a return. */
#define MU_RETURN_SKIP_MAX 240
#define MU_RETURN_TAIL 64

/* struct rt_sigframe, as far as rt_sigreturn reads it. */
struct mu_return_frame {
	uintptr_t back; /* on entry to rt_sigreturn, sp points behind this */
	uint64_t flags, link;
	uint64_t stack[3];
	uint64_t general[32]; /* struct sigcontext: enum REG_... */
	uint64_t mask;
};

_Static_assert(offsetof(struct mu_return_frame, mask) == 8 + 296, "the ABI's");

#define MU_RETURN_GENERAL_SET 18 /* cs, gs, fs, ss: 16 bits each */
#define MU_RETURN_VECTOR_AT 23   /* address of the XSAVE area */

/* UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS (asm/ucontext.h) */
#define MU_RETURN_FLAGS 7

/*
 * Offset in a frame of the first argument of the call that the frame restores.
 */
#define MU_RETURN_FIRST \
	(offsetof(struct mu_return_frame, general) + REG_RDI * sizeof(uint64_t))

/* XCR0 bit and, in XSAVE areas, the place of AMX's tiles. */
#define MU_RETURN_TILES 18

static inline uintptr_t
mu_return_code_at(const char *found, const char *bytes, uintptr_t address)
{
	size_t at = (size_t)(found - bytes);

	if (at >= 3 && memcmp(found - 3, MU_RETURN_LONG, 3) == 0)
		return address + at - 3;
	if (at >= 1 && memcmp(found - 1, MU_RETURN_SHORT, 1) == 0)
		return address + at - 1;
	return 0;
}

/*
 * True if the code at TAIL, which follows a system call instruction, returns to
 * the address on the stack whatever the registers hold. *SKIP: bytes that it
 * pops first. The vDSO of a kernel with CONFIG_ZERO_CALL_USED_REGS clears
 * registers there. A function that restores sp from its frame pointer does not
 * qualify.
 */
static inline bool
mu_arch_return_tail(const unsigned char *tail, size_t size, unsigned *skip)
{
	size_t i = 0, rex;

	for (*skip = 0; i + 4 <= size && *skip <= MU_RETURN_SKIP_MAX;) {
		rex = (tail[i] & 0xf8) == 0x40;
		if (tail[i] == 0xc3) { /* ret */
			return true;
		} else if (tail[i] == 0x90) { /* nop */
			i++;
		} else if (tail[i + rex] >= 0x58 && tail[i + rex] <= 0x5f &&
		    (rex ? tail[i] == 0x41 : tail[i] != 0x5c)) {
			*skip += 8; /* pop, not %rsp */
			i += 1 + rex;
		} else if (memcmp(tail + i, "\x48\x83\xc4", 3) == 0 &&
		    tail[i + 3] < 0x80) {
			*skip += tail[i + 3]; /* add $n, %rsp */
			i += 4;
		} else if (tail[i + rex] == 0x31 &&
		    (rex ? tail[i] == 0x45 : tail[i + 1] != 0xe4) &&
		    tail[i + rex + 1] >= 0xc0 &&
		    (tail[i + rex + 1] & 7) == (tail[i + rex + 1] >> 3 & 7)) {
			i += 2 + rex; /* xor of a register with itself */
		} else {
			return false;
		}
	}
	return false;
}

/* mov $n, %eax; syscall */
#define MU_RETURN_BEFORE 7

/*
 * The number of an interrupted call that was restarted once by restart_syscall.
 * It is no longer in the registers, but mostly an operand right before the
 * instruction. -1: not known.
 */
static inline long
mu_arch_return_number(const unsigned char before[MU_RETURN_BEFORE])
{
	uint32_t number;

	memcpy(&number, before + 1, sizeof(number));
	if (before[0] == 0xb8 &&
	    (number == SYS_poll || number == SYS_nanosleep ||
		number == SYS_clock_nanosleep || number == SYS_futex))
		return number;
	return -1;
}

/*
 * True if the thread was interrupted in a call that restart_syscall continues.
 */
static inline bool
mu_arch_return_waits(const uintptr_t *general)
{
	return mu_arch_remote_in_call(general) &&
	    (long)general[MU_REMOTE_RAX] == -516; /* ERESTART_RESTARTBLOCK */
}

/*
 * Apply what the kernel does with an interrupted call when no signal follows:
 * arch_do_signal_or_restart() in arch/x86/kernel/signal.c. rt_sigreturn
 * discards the state for restart_syscall: the call NUMBER begins anew instead,
 * or ends with EINTR if the number is not known.
 */
static inline void
mu_arch_return_restart(uintptr_t *general, long number)
{
	long result = (long)general[MU_REMOTE_RAX];

	if (!mu_arch_remote_in_call(general) || result > -512 ||
	    result < -516 || result == -515)
		return;
	if (general[MU_REMOTE_ORIG_RAX] != SYS_restart_syscall)
		number = (long)general[MU_REMOTE_ORIG_RAX];
	general[MU_REMOTE_RAX] = (uintptr_t)(number < 0 ? -EINTR : number);
	if (number >= 0)
		general[MU_REMOTE_RIP] -= MU_REMOTE_CODE_SIZE;
}

/*
 * Convert SIZE bytes of NT_X86_XSTATE to the layout of a signal frame: the size
 * is declared in the software-reserved bytes, and the end is marked. The kernel
 * refuses a size larger than the thread's own area and then restores only the
 * SSE registers (check_xstate_in_sigframe). That area has no room for AMX's
 * tiles until they are first used, while ptrace's copy always has, and does not
 * say whether they were. So the end of either size is marked, as the kernel may
 * look at the end of the thread's own area.
 */
static inline void
mu_arch_return_vector(void *set, size_t size)
{
	struct {
		uint32_t magic, whole;
		uint64_t features;
		uint32_t size, pad[7];
	} software = { 0 };
	const uint32_t end = 0x46505845; /* FP_XSTATE_MAGIC2 */
	unsigned a, at, c, d;
	uint64_t used;
	char *area = set;

	/* NT_PRFPREG is 512 bytes without an extended part. */
	if (size > MU_FRAME_XSTATE_BV_AT) {
		memcpy(&software.features, area + MU_FRAME_XSAVE_AT, 8);
		memcpy(&used, area + MU_FRAME_XSTATE_BV_AT, sizeof(used));
		memcpy(area + size, &end, sizeof(end));
		if ((software.features & ~used) >> MU_RETURN_TILES & 1 &&
		    __get_cpuid_count(0xd, MU_RETURN_TILES, &a, &at, &c, &d) &&
		    at > MU_FRAME_XSTATE_BV_AT && at < size)
			size = at;
		software.magic = MU_FRAME_XSAVE_MAGIC;
		software.size = (uint32_t)size;
		software.whole = (uint32_t)(size + sizeof(end));
		memcpy(area + size, &end, sizeof(end));
	}
	memcpy(area + MU_FRAME_XSAVE_AT, &software, sizeof(software));
}

/*
 * Build a frame that restores GENERAL and MASK, and VECTOR; without VECTOR the
 * vector registers are cleared.
 */
static inline void
mu_arch_return_fill(struct mu_return_frame *frame, const uintptr_t *general,
    mu_sigmask mask, const struct mu_return_code *code,
    const struct mu_return_vector *vector)
{
	unsigned i;

	memset(frame, 0, sizeof(*frame));
	frame->back = code->back;
	frame->flags = MU_RETURN_FLAGS;
	frame->stack[1] = MU_RETURN_NO_STACK;
	for (i = 0; i < MU_PRSTATUS_WORDS; i++)
		if (mu_frame_from[i] >= 0)
			frame->general[(int)mu_frame_from[i]] = general[i];
	frame->general[MU_RETURN_GENERAL_SET] =
	    (general[MU_REMOTE_CS] & 0xffff) | general[MU_REMOTE_SS] << 48;
	if (vector != NULL)
		frame->general[MU_RETURN_VECTOR_AT] = vector->at;
	frame->mask = mask;
}

/*
 * GENERAL is about to make a call; make that return through the frame at FRAME.
 */
static inline void
mu_arch_return_after(
    uintptr_t *general, const struct mu_return_code *code, uintptr_t frame)
{
	(void)code;
	general[MU_PRSTATUS_SP] = frame - code->skip;
}

/* The stack pointer for a child of such a call. */
static inline uintptr_t
mu_arch_return_stack(const struct mu_return_code *code, uintptr_t frame)
{
	return frame - code->skip;
}

/* Make GENERAL restore the frame at once. */
static inline void
mu_arch_return_now(
    uintptr_t *general, const struct mu_return_code *code, uintptr_t frame)
{
	static const uintptr_t none[6];

	mu_arch_remote_prepare(general, code->call, SYS_rt_sigreturn, none);
	general[MU_PRSTATUS_SP] = frame + sizeof(uintptr_t);
}

#elif defined(__aarch64__)

/* __kernel_rt_sigreturn in the vDSO: mov x8, #139; svc #0 */
#define MU_RETURN_END "\x68\x11\x80\xd2\x01\x00\x00\xd4"
#define MU_RETURN_END_SIZE 8

#define MU_RETURN_SHADOW "\nno such line"

#define MU_RETURN_SKIP_MAX 0
#define MU_RETURN_TAIL 4

#define MU_RETURN_FPSIMD 0x46508001u /* FPSIMD_MAGIC */

/*
 * struct rt_sigframe, as far as rt_sigreturn reads it; a frame without vector
 * registers is refused.
 */
struct mu_return_frame {
	uint64_t info[16];
	uint64_t flags, link;
	uint64_t stack[3];
	uint64_t mask, pad[16];
	uint64_t fault;
	uint64_t general[MU_PRSTATUS_WORDS];
	uint64_t align;
	uint32_t magic, size, state[2];
	uint64_t vector[64];
	uint64_t end[2];
} __attribute__((aligned(16)));

_Static_assert(offsetof(struct mu_return_frame, fault) == 128 + 176, "ABI");
_Static_assert(
    offsetof(struct mu_return_frame, magic) == 128 + 176 + 288, "ABI");

#define MU_RETURN_FIRST offsetof(struct mu_return_frame, general)

static inline uintptr_t
mu_return_code_at(const char *found, const char *bytes, uintptr_t address)
{
	uintptr_t at = address + (uintptr_t)(found - bytes);

	return at % MU_REMOTE_CODE_STEP == 0 ? at : 0;
}

/* "ret" jumps to x30, which we set. */
static inline bool
mu_arch_return_tail(const unsigned char *tail, size_t size, unsigned *skip)
{
	*skip = 0;
	return size >= 4 && memcmp(tail, "\xc0\x03\x5f\xd6", 4) == 0;
}

/* A thread whose call would be restarted is not used: MU_REMOTE_REWINDS. */
#define MU_RETURN_BEFORE 4

static inline long
mu_arch_return_number(const unsigned char before[MU_RETURN_BEFORE])
{
	(void)before;
	return -1;
}

static inline bool
mu_arch_return_waits(const uintptr_t *general)
{
	(void)general;
	return false;
}

static inline void
mu_arch_return_restart(uintptr_t *general, long number)
{
	(void)general;
	(void)number;
}

/*
 * NT_PRFPREG: 32 registers, then fpsr and fpcr. System calls do not preserve
 * the SVE registers beyond these.
 */
static inline void
mu_arch_return_vector(void *set, size_t size)
{
	(void)set;
	(void)size;
}

static inline void
mu_arch_return_fill(struct mu_return_frame *frame, const uintptr_t *general,
    mu_sigmask mask, const struct mu_return_code *code,
    const struct mu_return_vector *vector)
{
	(void)code;
	memset(frame, 0, sizeof(*frame));
	frame->stack[1] = MU_RETURN_NO_STACK;
	memcpy(frame->general, general, sizeof(frame->general));
	frame->mask = mask;
	frame->magic = MU_RETURN_FPSIMD;
	frame->size = 16 + sizeof(frame->vector);
	if (vector != NULL && vector->size >= sizeof(frame->vector) + 8) {
		memcpy(frame->vector, vector->set, sizeof(frame->vector));
		memcpy(frame->state,
		    (const char *)vector->set + sizeof(frame->vector),
		    sizeof(frame->state));
	}
}

static inline void
mu_arch_return_after(
    uintptr_t *general, const struct mu_return_code *code, uintptr_t frame)
{
	general[30] = code->back;
	general[MU_PRSTATUS_SP] = frame;
}

static inline uintptr_t
mu_arch_return_stack(const struct mu_return_code *code, uintptr_t frame)
{
	(void)code;
	return frame;
}

static inline void
mu_arch_return_now(
    uintptr_t *general, const struct mu_return_code *code, uintptr_t frame)
{
	static const uintptr_t none[6];

	mu_arch_remote_prepare(general, code->call, SYS_rt_sigreturn, none);
	general[MU_PRSTATUS_SP] = frame;
}

#endif

#endif
