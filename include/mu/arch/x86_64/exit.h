#ifndef MU_ARCH_X86_64_EXIT_H
#define MU_ARCH_X86_64_EXIT_H

/* ff d0 (call *%rax); 89 c7 (mov %eax, %edi); e8 and the distance */
#define MU_RESULT_CALL_BYTES 10

/* Six pushes, with moves of arguments in between. */
#define MU_SAVING_BYTES 32

static inline uintptr_t
mu_arch_called(uintptr_t address)
{
	const unsigned char *code = (const unsigned char *)address;
	int distance;

	__builtin_memcpy(&distance, code - 4, sizeof(distance));
	return code[-5] == 0xe8 ? address + (uintptr_t)(intptr_t)distance : 0;
}

static inline bool
mu_arch_calls_with_result(uintptr_t address, uintptr_t target)
{
	const unsigned char *code = (const unsigned char *)address;

	return mu_arch_called(address) == target && code[-6] == 0xc7 &&
	    code[-7] == 0x89 &&
	    ((code[-9] == 0xff && (code[-8] & 0xf8) == 0xd0) ||
		(code[-10] == 0xff && (code[-9] & 0xf8) == 0x50));
}

/* push %r15 to %r12, %rbp, %rbx, in the order of gcc's prologues */
static inline bool
mu_arch_saves_all(uintptr_t code)
{
	static const unsigned char pushes[] = { 0x41, 0x57, 0x41, 0x56, 0x41,
		0x55, 0x41, 0x54, 0x55, 0x53 };
	const unsigned char *byte = (const unsigned char *)code;
	unsigned i, next = 0;

	for (i = 0; i < MU_SAVING_BYTES && next < sizeof(pushes); i++)
		if (byte[i] == pushes[next])
			next++;
	return next == sizeof(pushes);
}

#endif
