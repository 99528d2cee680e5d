#ifndef MU_ARCH_X86_64_RETURN_H
#define MU_ARCH_X86_64_RETURN_H

#include "mu/arch/registers.h"
#include "mu/arch/signal_frame.h"
#include "mu/cpuid.h"

/*
 * "mov $15, %eax; syscall", or with %rax: __restore_rt of glibc and musl,
 * runtime.sigreturn of Go. First the common end, then the possible beginnings.
 */
#define MU_RETURN_END "\x0f\x00\x00\x00\x0f\x05"
#define MU_RETURN_END_SIZE 6
#define MU_RETURN_LONG "\x48\xc7\xc0"
#define MU_RETURN_SHORT "\xb8"

#define MU_RETURN_SHADOW "\nx86_Thread_features:\tshstk"

#define MU_RETURN_SKIP_MAX 240
#define MU_RETURN_TAIL 64

/* The part of struct rt_sigframe that rt_sigreturn reads. */
struct mu_return_frame {
	uintptr_t back; /* rt_sigreturn expects sp right after this word */
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

#define MU_RETURN_FIRST \
	(offsetof(struct mu_return_frame, general) + REG_RDI * sizeof(uint64_t))

/* AMX's tiles: bit of XCR0, and their position in XSAVE areas. */
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
 * The code must return to the address on the stack. With
 * CONFIG_ZERO_CALL_USED_REGS the vDSO clears registers before it returns; that
 * is accepted. A function that restores sp from its frame pointer is not.
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
 * The number is usually the operand of the instruction right before the call.
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

static inline bool
mu_arch_return_waits(const uintptr_t *general)
{
	return mu_arch_remote_in_call(general) &&
	    (long)general[MU_REG_RAX] == -516; /* ERESTART_RESTARTBLOCK */
}

/* arch_do_signal_or_restart() in arch/x86/kernel/signal.c */
static inline void
mu_arch_return_restart(uintptr_t *general, long number)
{
	long result = (long)general[MU_REG_RAX];

	if (!mu_arch_remote_in_call(general) || result > -512 ||
	    result < -516 || result == -515)
		return;
	if (general[MU_REG_ORIG_RAX] != SYS_restart_syscall)
		number = (long)general[MU_REG_ORIG_RAX];
	general[MU_REG_RAX] = (uintptr_t)(number < 0 ? -EINTR : number);
	if (number >= 0)
		general[MU_REG_RIP] -= MU_CALL_CODE_SIZE;
}

/*
 * NT_X86_XSTATE: the size is declared in the software-reserved bytes, and the
 * end is marked. The kernel refuses a size larger than the thread's own area
 * and then restores only the SSE registers (check_xstate_in_sigframe). That
 * area has no room for AMX's tiles until they are first used, while ptrace's
 * copy always has, and does not say whether they were. So the end of either
 * size is marked, as the kernel may look at the end of the thread's own area.
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

	/* NT_PRFPREG is 512 bytes and has no extended part. */
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
	    (general[MU_REG_CS] & 0xffff) | general[MU_REG_SS] << 48;
	if (vector != NULL)
		frame->general[MU_RETURN_VECTOR_AT] = vector->at;
	frame->mask = mask;
}

static inline void
mu_arch_return_after(
    uintptr_t *general, const struct mu_return_code *code, uintptr_t frame)
{
	(void)code;
	general[MU_PRSTATUS_SP] = frame - code->skip;
}

static inline uintptr_t
mu_arch_return_stack(const struct mu_return_code *code, uintptr_t frame)
{
	return frame - code->skip;
}

static inline void
mu_arch_return_now(
    uintptr_t *general, const struct mu_return_code *code, uintptr_t frame)
{
	static const uintptr_t none[6];

	mu_arch_remote_prepare(general, code->call, SYS_rt_sigreturn, none);
	general[MU_PRSTATUS_SP] = frame + sizeof(uintptr_t);
}

#endif
