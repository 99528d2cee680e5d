#ifndef MU_ARCH_AARCH64_REGISTERS_H
#define MU_ARCH_AARCH64_REGISTERS_H

/* struct user_pt_regs, in words. */
enum {
	MU_REG_X0,
	MU_REG_X8 = 8,
	MU_REG_X19 = 19,
	MU_REG_X30 = 30,
	MU_REG_SP,
	MU_REG_PC,
	MU_REG_PSTATE,
	MU_PRSTATUS_WORDS
};

#define MU_PRSTATUS_ARGUMENT MU_REG_X0 /* as the call will be restarted */
#define MU_PRSTATUS_PC MU_REG_PC
#define MU_PRSTATUS_SP MU_REG_SP
#define MU_PRSTATUS_FP (MU_REG_X30 - 1)
#define MU_PRSTATUS_LINK MU_REG_X30
#define MU_KEPT_ARE_GENERAL 0
#define MU_PRSTATUS_TP -1 /* NT_ARM_TLS has it */

/* NT_PRSTATUS does not say. */
static inline bool
mu_arch_in_user_code(const uintptr_t *general)
{
	(void)general;
	return false;
}

static inline long
mu_arch_call(const uintptr_t *general)
{
	(void)general;
	return -1;
}

static inline void
mu_arch_set_call(uintptr_t *general, long call, uintptr_t argument)
{
	if (call >= 0)
		general[MU_PRSTATUS_ARGUMENT] = argument;
}

/* So are halves of v8 to v15. */
static inline bool
mu_arch_kept_by_calls(unsigned word)
{
	(void)word;
	return true;
}

#endif
