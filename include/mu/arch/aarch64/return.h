#ifndef MU_ARCH_AARCH64_RETURN_H
#define MU_ARCH_AARCH64_RETURN_H

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

	return at % MU_CALL_CODE_STEP == 0 ? at : 0;
}

/* "ret" jumps to x30, which we set. */
static inline bool
mu_arch_return_tail(const unsigned char *tail, size_t size, unsigned *skip)
{
	*skip = 0;
	return size >= 4 && memcmp(tail, "\xc0\x03\x5f\xd6", 4) == 0;
}

/* A thread whose call would be restarted is not used: see MU_REMOTE_REWINDS. */
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
	general[MU_REG_X30] = code->back;
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
