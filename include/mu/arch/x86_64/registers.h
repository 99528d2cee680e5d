#ifndef MU_ARCH_X86_64_REGISTERS_H
#define MU_ARCH_X86_64_REGISTERS_H

/* struct user_regs_struct, in words. */
enum {
	MU_REG_R15,
	MU_REG_R14,
	MU_REG_R13,
	MU_REG_R12,
	MU_REG_RBP,
	MU_REG_RBX,
	MU_REG_R11,
	MU_REG_R10,
	MU_REG_R9,
	MU_REG_R8,
	MU_REG_RAX,
	MU_REG_RCX,
	MU_REG_RDX,
	MU_REG_RSI,
	MU_REG_RDI,
	MU_REG_ORIG_RAX,
	MU_REG_RIP,
	MU_REG_CS,
	MU_REG_FLAGS,
	MU_REG_RSP,
	MU_REG_SS,
	MU_REG_FS_BASE,
	MU_REG_GS_BASE,
	MU_REG_DS,
	MU_REG_ES,
	MU_REG_FS,
	MU_REG_GS,
	MU_PRSTATUS_WORDS
};

#define MU_PRSTATUS_ARGUMENT MU_REG_RDI
#define MU_PRSTATUS_PC MU_REG_RIP
#define MU_PRSTATUS_SP MU_REG_RSP
#define MU_PRSTATUS_FP MU_REG_RBP
#define MU_PRSTATUS_LINK MU_PRSTATUS_WORDS /* none */
#define MU_KEPT_ARE_GENERAL 1
#define MU_PRSTATUS_TP MU_REG_FS_BASE

static inline bool
mu_arch_in_user_code(const uintptr_t *general)
{
	return general[MU_REG_ORIG_RAX] == ~(uintptr_t)0;
}

static inline long
mu_arch_call(const uintptr_t *general)
{
	return (long)general[MU_REG_ORIG_RAX];
}

static inline void
mu_arch_set_call(uintptr_t *general, long call, uintptr_t argument)
{
	general[MU_REG_ORIG_RAX] = (uintptr_t)call;
	if (call >= 0)
		general[MU_PRSTATUS_ARGUMENT] = argument;
}

static inline bool
mu_arch_kept_by_calls(unsigned word)
{
	return word <= MU_REG_RBX;
}

#endif
