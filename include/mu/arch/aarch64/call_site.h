/*
 * See mu/arch/call_site.h. Encodings: Arm Architecture Reference Manual,
 * C6.2: ADRP, B, BL, LDR (immediate), MOVZ.
 */
#ifndef MU_ARCH_AARCH64_CALL_SITE_H
#define MU_ARCH_AARCH64_CALL_SITE_H

#define MU_CALL_BACK ((size_t)64) /* bytes before a call that are looked at */
#define MU_ARM_WORD ((size_t)4)

/* An instruction. */
static inline uint32_t
mu_arm_code(const unsigned char *at)
{
	uint32_t code;

	memcpy(&code, at, sizeof(code));
	return code;
}

static inline bool
mu_call_next(const unsigned char *code, size_t size, uint64_t address,
    size_t *at, struct mu_call *call)
{
	uint32_t word;
	size_t i;

	for (i = *at; i + MU_ARM_WORD <= size; i += MU_ARM_WORD) {
		word = mu_arm_code(code + i);
		if ((word & 0x7c000000) != 0x14000000) /* b, bl */
			continue;
		*call = (struct mu_call) { .at = i, .word = false };
		call->target = address + i +
		    (uint64_t)((int64_t)((int32_t)(word << 6) >> 6) * 4);
		*at = i + MU_ARM_WORD;
		return true;
	}
	return false;
}

/* The last "mov wN, #VALUE" with no branch and no other use of N as target. */
static inline bool
mu_call_constant(
    const unsigned char *code, size_t at, unsigned number, uint64_t *value)
{
	uint32_t word;
	size_t i;

	for (i = MU_ARM_WORD; i <= at && i <= MU_CALL_BACK; i += MU_ARM_WORD) {
		word = mu_arm_code(code + at - i);
		if ((word & 0x7fe00000) == 0x52800000 &&
		    (word & 31) == number) {
			*value = word >> 5 & 0xffff;
			return true;
		}
		/* A branch, or something with N where a target may be. */
		if ((word & 0x1c000000) == 0x14000000 || (word & 31) == number)
			return false;
	}
	return false;
}

/* "adrp x16, PAGE; ldr x17, [x16, #OFFSET]" */
static inline bool
mu_call_stub(const unsigned char *code, size_t size, uint64_t address,
    size_t at, size_t *begin, uint64_t *word)
{
	uint32_t adrp, ldr;
	uint64_t page;

	if (at % MU_ARM_WORD != 0 || size - at < 2 * MU_ARM_WORD)
		return false;
	adrp = mu_arm_code(code + at);
	ldr = mu_arm_code(code + at + MU_ARM_WORD);
	if ((adrp & 0x9f00001f) != 0x90000010 ||
	    (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	page = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	page = (page ^ 0x100000) - 0x100000; /* signed, of 21 bits */
	*word = ((address + at) & ~(uint64_t)4095) + page * 4096 +
	    (uint64_t)(ldr >> 10 & 0xfff) * 8;
	*begin = at;
	return true;
}

#endif
