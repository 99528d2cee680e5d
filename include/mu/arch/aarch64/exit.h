#ifndef MU_ARCH_AARCH64_EXIT_H
#define MU_ARCH_AARCH64_EXIT_H

/* blr, bl */
#define MU_RESULT_CALL_BYTES 8
#define MU_SAVING_BYTES 4

static inline uintptr_t
mu_arch_called(uintptr_t address)
{
	unsigned code;
	long distance;

	__builtin_memcpy(&code, (const char *)address - 4, sizeof(code));
	distance = (long)((unsigned long)code << 38) >> 36;
	return (code & 0xfc000000) == 0x94000000
	    ? address - 4 + (uintptr_t)distance
	    : 0;
}

static inline bool
mu_arch_calls_with_result(uintptr_t address, uintptr_t target)
{
	unsigned code;

	__builtin_memcpy(&code, (const char *)address - 8, sizeof(code));
	return (code & 0xfffffc1f) == 0xd63f0000 &&
	    mu_arch_called(address) == target;
}

/* aarch64 saves them anywhere in the frame, next to the frame record. */
static inline bool
mu_arch_saves_all(uintptr_t code)
{
	(void)code;
	return false;
}

/* There is no red zone. */
static inline bool
mu_arch_red_zone_unused(const unsigned char *code, size_t size,
    uintptr_t address, struct mu_range text)
{
	(void)code;
	(void)size;
	(void)address;
	(void)text;
	return true;
}

#endif
